"""The order of resources: dependencies first, and as the author wrote them where nothing else decides."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence


class DependencyCycle(Exception):  # noqa: N818
    """Resources that wait for each other; `ring` starts and ends with the same one."""

    def __init__(self, ring: Sequence[str]) -> None:
        super().__init__(" -> ".join(ring))
        self.ring = tuple(ring)


def order(author_order: Sequence[str], edges: Mapping[str, frozenset[str]]) -> list[str]:
    """`edges[a]` are what `a` depends on. Raises Cycle."""
    place = {name: index for index, name in enumerate(author_order)}
    waiting = {name: len(edges.get(name, ())) for name in author_order}
    dependents: dict[str, list[str]] = {}
    for name in author_order:
        for dependency in edges.get(name, ()):
            dependents.setdefault(dependency, []).append(name)
    free = [place[name] for name, count in waiting.items() if count == 0]
    heapq.heapify(free)
    ordered: list[str] = []
    while free:
        name = author_order[heapq.heappop(free)]
        ordered.append(name)
        for dependent in dependents.get(name, ()):
            waiting[dependent] -= 1
            if waiting[dependent] == 0:
                heapq.heappush(free, place[dependent])
    if len(ordered) < len(author_order):
        raise DependencyCycle(_ring([name for name in author_order if waiting[name]], edges))
    return ordered


def _ring(stuck: Sequence[str], edges: Mapping[str, frozenset[str]]) -> list[str]:
    """Whoever is stuck waits for someone stuck, so following them comes round."""
    remaining = set(stuck)
    walked = [stuck[0]]
    while True:
        following = min(name for name in edges[walked[-1]] if name in remaining)
        if following in walked:
            return [*walked[walked.index(following) :], following]
        walked.append(following)


def layers(author_order: Sequence[str], edges: Mapping[str, frozenset[str]]) -> dict[str, int]:
    """One more than the highest of what each depends on, from 1: the highest layer is deleted first."""
    depth: dict[str, int] = {}
    for name in order(author_order, edges):
        depth[name] = 1 + max((depth[dependency] for dependency in edges.get(name, ())), default=0)
    return depth
