"""Slots of `resourceConcurrency` rules: a slot belongs to a resource, held as long as any of its holders needs it."""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from headgate.fleet.rules import resource_concurrency
from headgate.fleet.units import BoundRule, StartKey, Unit
from headgate.kernel.instants import Instant


class SlotTable:
    """One rule's slots. A holder is a target's name or a group's id; a resource counts once."""

    def __init__(self, rule: BoundRule) -> None:
        self.rule = rule
        self.group: set[str] = set()
        self.holders: dict[str, dict[str, Instant]] = {}
        self._line: list[tuple[StartKey, Unit]] = []

    @property
    def limit(self) -> int:
        return resource_concurrency.limit(self.rule.spec, len(self.group))

    @property
    def free(self) -> int:
        return self.limit - len(self.holders)

    def covers(self, resource: str) -> bool:
        return resource in self.group

    def has_room_for(self, resource: str) -> bool:
        return resource in self.holders or self.free > 0

    def take(self, resource: str, holder: str, now: Instant) -> bool:
        """Whether the resource had no slot before."""
        held = self.holders.get(resource)
        if held is None:
            self.holders[resource] = {holder: now}
            return True
        held.setdefault(holder, now)
        return False

    def release(self, resource: str, holder: str) -> bool:
        """Whether the resource's slot became free."""
        held = self.holders.get(resource)
        if held is None or held.pop(holder, None) is None or held:
            return False
        del self.holders[resource]
        return True

    def held_since(self, resource: str) -> Instant | None:
        held = self.holders.get(resource)
        return min(held.values()) if held else None

    def queue(self, key: StartKey, unit: Unit) -> None:
        bisect.insort(self._line, (key, unit))

    def leave(self, key: StartKey, unit: Unit) -> None:
        index = bisect.bisect_left(self._line, (key, unit))
        if index < len(self._line) and self._line[index][1] is unit:
            del self._line[index]

    def in_line(self) -> Iterator[tuple[StartKey, Unit]]:
        """In order, each unit once, whatever leaves the line while it is walked."""
        passed: tuple[StartKey, Unit] | None = None
        while True:
            index = 0 if passed is None else bisect.bisect_right(self._line, passed)
            if index >= len(self._line):
                return
            passed = self._line[index]
            yield passed
