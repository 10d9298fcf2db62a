"""Benchmarks: one figure a line, compared within one run. `python -m bench [name ...]`."""
