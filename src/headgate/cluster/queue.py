"""Requests that wait for a pass, each of them once, and when others come back by themselves."""

from collections.abc import Callable, Iterator

from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key

RANKS = 2
_MOST_DOUBLINGS = 30


class WorkQueue:
    """Taken by rank, then by name, so that the order of news does not change what is decided first."""

    def __init__(self, rank: Callable[[Key], int]) -> None:
        self._rank = rank
        self._ready: list[dict[Key, None]] = [{} for _ in range(RANKS)]
        self.requeues: dict[Key, Instant] = {}
        """When each request wants to be looked at again by itself."""
        self._failures: dict[Key, int] = {}
        """How often in a row each request has failed."""

    def __bool__(self) -> bool:
        return any(self._ready)

    def add(self, request: Key) -> None:
        self._ready[self._rank(request)][request] = None

    def requeue(self, request: Key, at: Instant) -> None:
        """The earliest moment counts."""
        self.requeues[request] = min(at, self.requeues.get(request, at))

    def retry(self, request: Key, now: Instant, first: int, most: int) -> None:
        """Comes back after a while, which is twice as long after each failure in a row, up to the most."""
        failures = self._failures.get(request, 0)
        self._failures[request] = failures + 1
        self.requeue(request, now + min(first << min(failures, _MOST_DOUBLINGS), most))

    def failures(self, request: Key) -> int:
        """In a row."""
        return self._failures.get(request, 0)

    def succeeded(self, request: Key) -> None:
        self._failures.pop(request, None)

    def wake(self, now: Instant) -> None:
        for request in [request for request, at in self.requeues.items() if at <= now]:
            del self.requeues[request]
            self.add(request)

    def take(self) -> Iterator[Key]:
        """What a pass adds for a later rank is taken in the same round, everything else in the next."""
        for rank in range(RANKS):
            ready, self._ready[rank] = sorted(self._ready[rank]), {}
            for request in ready:
                self.requeues.pop(request, None)
                yield request
