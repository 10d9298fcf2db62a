"""How many requests and streams one caller may have open at once: the rest is asked to come back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from headgate.api.problems import busy

REQUESTS_EACH = 100
REQUESTS_OF_AGENTS_EACH = 500
"""One token may be that of many agents, each with many jobs to keep."""
WAITS_EACH = 200
"""Requests that may stay open until there is something to answer, as those of agents that ask for jobs."""
STREAMS_EACH = 500
WITHOUT_TOKEN_EACH = 200
"""Of one operation, from all who need no token for it: a flood of one keeps nobody from another."""


class Crowd:
    def __init__(self, what: str, most_each: int) -> None:
        self._what = what
        self._most_each = most_each
        self._here: Counter[str] = Counter()

    def check(self, identity: str, name: str) -> None:
        """Counted is by `identity`; `name` is for people to read, and others may have the same."""
        if self._here[identity] >= self._most_each:
            raise busy(f"{name} has {self._most_each} {self._what} open already")

    @contextmanager
    def one_of(self, identity: str, name: str) -> Iterator[None]:
        self.check(identity, name)
        self._here[identity] += 1
        try:
            yield
        finally:
            self._here[identity] -= 1
            if not self._here[identity]:
                del self._here[identity]
