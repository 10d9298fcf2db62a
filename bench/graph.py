"""Figures for resource graphs."""

from collections.abc import Iterator

from bench import graph_compile


def run() -> Iterator[str]:
    yield from graph_compile.run()
