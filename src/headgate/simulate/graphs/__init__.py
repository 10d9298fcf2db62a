"""Resource graphs on the simulated cluster: definitions and instances are accepted, planned, and watched.

Beside the steps that the scenario format fixes, the timeline takes `explain: {instance: shop, namespace: default}` and
`explain: {definition: webapp}`, recorded under `explanations`. `lag` and `crashAtWrites` of the cluster hold for the
planner of graphs as for that of workloads.
"""
