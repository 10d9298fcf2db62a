"""Graphs and workloads on a cluster: what is installed there, and what is admitted."""
