"""Nodes and the room on them. Cordoning keeps new pods away and leaves those that run."""

import heapq

from headgate.kernel.problems import Problem, Rejected

UNLIMITED = 2**31
_SOMEWHERE = "node"


class Nodes:
    """`count` None is a cluster without limits, in which there is nothing to cordon."""

    def __init__(self, count: int | None, pods_per_node: int) -> None:
        self._size = pods_per_node
        self._is_limited = count is not None
        self._used = [0] * (count or 0)
        self._is_cordoned = [False] * (count or 0)
        self._open = list(range(count or 0))
        """Numbers of nodes that may have room, least first; looked at again when taken."""
        self._room = (count or 0) * pods_per_node

    @property
    def room(self) -> int:
        return self._room if self._is_limited else UNLIMITED

    def take(self) -> str:
        if not self._is_limited:
            return _SOMEWHERE
        while True:
            number = self._open[0]
            if not self._is_cordoned[number] and self._used[number] < self._size:
                break
            heapq.heappop(self._open)
        self._used[number] += 1
        self._room -= 1
        return f"node-{number + 1}"

    def release(self, name: str) -> None:
        if not self._is_limited:
            return
        number = int(name.rpartition("-")[2]) - 1
        self._used[number] -= 1
        if not self._is_cordoned[number]:
            self._room += 1
            heapq.heappush(self._open, number)

    def cordon(self, count: int) -> None:
        """The emptiest nodes first, so that so much room is gone; of equal ones the last."""
        self._require_nodes(count, cordoned=False)
        candidates = [number for number, closed in enumerate(self._is_cordoned) if not closed]
        for number in sorted(candidates, key=lambda number: (self._used[number], -number))[:count]:
            self._is_cordoned[number] = True
            self._room -= self._size - self._used[number]

    def uncordon(self, count: int) -> None:
        """The emptiest nodes first, because those give room; of equal ones the first."""
        self._require_nodes(count, cordoned=True)
        candidates = [number for number, closed in enumerate(self._is_cordoned) if closed]
        for number in sorted(candidates, key=lambda number: (self._used[number], number))[:count]:
            self._is_cordoned[number] = False
            self._room += self._size - self._used[number]
            heapq.heappush(self._open, number)

    def _require_nodes(self, count: int, *, cordoned: bool) -> None:
        if not self._is_limited:
            raise Rejected(
                [
                    Problem(
                        "nodes", "cannot be served: the cluster has no number of nodes, so no limit to move"
                    )
                ]
            )
        there = sum(closed == cordoned for closed in self._is_cordoned)
        if count > there:
            state = "cordoned" if cordoned else "open"
            raise Rejected([Problem("nodes", f"is {count}; the cluster has {there} nodes that are {state}")])
