"""A budget of places: who holds them and for what, and who stands in line.

It never takes a place away: a limit that shrinks only stops new takers.
"""

from __future__ import annotations

import bisect
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from headgate.kernel.instants import Instant

Waiter = TypeVar("Waiter")


class Slots(ABC, Generic[Waiter]):
    """A holder counts once, however many purposes it holds its place for; the place is free with the last of them.

    Who waits has a key that says where it stands; waiters with equal keys must be comparable.
    """

    def __init__(self) -> None:
        self.holders: dict[str, dict[str, Instant]] = {}
        self._line: list[tuple[Any, Waiter]] = []

    @property
    @abstractmethod
    def limit(self) -> int: ...

    @property
    def free(self) -> int:
        return self.limit - len(self.holders)

    def has_room_for(self, holder: str) -> bool:
        return holder in self.holders or self.free > 0

    def take(self, holder: str, purpose: str, now: Instant) -> bool:
        """Whether the holder had no place before. It is for the caller to ask for room first, or to go beyond."""
        held = self.holders.get(holder)
        if held is None:
            self.holders[holder] = {purpose: now}
            return True
        held.setdefault(purpose, now)
        return False

    def release(self, holder: str, purpose: str) -> bool:
        """Whether the holder's place became free."""
        held = self.holders.get(holder)
        if held is None or held.pop(purpose, None) is None or held:
            return False
        del self.holders[holder]
        return True

    def held_since(self, holder: str) -> Instant | None:
        held = self.holders.get(holder)
        return min(held.values()) if held else None

    @property
    def has_waiters(self) -> bool:
        return bool(self._line)

    def queue(self, key: Any, waiter: Waiter) -> None:
        bisect.insort(self._line, (key, waiter))

    def leave(self, key: Any, waiter: Waiter) -> None:
        index = bisect.bisect_left(self._line, (key, waiter))
        if index < len(self._line) and self._line[index][1] is waiter:
            del self._line[index]

    def in_line(self) -> Iterator[tuple[Any, Waiter]]:
        """In order, each waiter once, whatever leaves the line while it is walked."""
        passed: tuple[Any, Waiter] | None = None
        while True:
            index = 0 if passed is None else bisect.bisect_right(self._line, passed)
            if index >= len(self._line):
                return
            passed = self._line[index]
            yield passed
