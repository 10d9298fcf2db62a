"""Controllers on a cluster: the port to its objects, what they know of it, and how their plans become writes.

Nothing here decides. The controllers of graphs and workloads live with their levels; the simulated cluster is one
adapter of the port.
"""
