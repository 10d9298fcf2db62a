"""The running operator: it drives the controllers of graphs and workloads on a real cluster.

The controllers are those of the simulator, unchanged. What a real API server has and they do not know is bridged here:
documents in `translation`, news and own writes in `feed`, preconditions in `writing`, time and refusals in `loop`.
"""
