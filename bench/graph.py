"""Figures for resource graphs."""

from collections.abc import Iterator

from bench import graph_compile, graph_planning


def run() -> Iterator[str]:
    yield from graph_compile.run()
    yield from graph_planning.run()
