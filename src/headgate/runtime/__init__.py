"""The engine worker: lease, load, consume, decide, commit, dispatch."""
