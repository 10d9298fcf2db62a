"""Slots of `resourceConcurrency` rules: a slot belongs to a resource, held as long as any of its work needs it."""

from __future__ import annotations

from headgate.fleet.rules import resource_concurrency
from headgate.fleet.units import BoundRule, Unit
from headgate.kernel.slots import Slots


class SlotTable(Slots[Unit]):
    """One rule's slots. The holder is a resource, its purposes are names of targets and ids of groups."""

    def __init__(self, rule: BoundRule) -> None:
        super().__init__()
        self.rule = rule
        self.group: set[str] = set()

    @property
    def limit(self) -> int:
        return resource_concurrency.limit(self.rule.spec, len(self.group))

    def covers(self, resource: str) -> bool:
        return resource in self.group
