"""A simulated cluster in virtual time: objects, scheduler, kubelet, garbage collection, and the sets that run on it.

Beside the keys that the scenario format fixes, the `cluster` part of a scenario takes

- `lag: 5s`: each notification reaches the planner at any moment between at once (the default) and so much later,
  drawn from the seed; notifications of different objects overtake each other, those of one object never go back.
- `crashAtWrites: [3, 17]`: the planner is thrown away right after its third and seventeenth write, with whatever it
  still meant to write, and starts again from the objects.

and the timeline takes

- `workload: {action: pause|resume|abort, name: llm, namespace: default}`, the operator's commands;
- `explain: {workload: llm}`, recorded under `explanations`.
"""
