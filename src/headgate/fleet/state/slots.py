"""Slots of `resourceConcurrency` rules: a slot belongs to a resource, held as long as any of its work needs it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headgate.fleet.rules import resource_concurrency
from headgate.fleet.rules.resource_concurrency import ResourceConcurrency
from headgate.fleet.state import units
from headgate.fleet.state.units import BoundRule, ResourceNode, Unit
from headgate.kernel.slots import Slots


class SlotTable(Slots[Unit]):
    """The slots of one group. The holder is a resource, its purposes are names of targets and ids of groups."""

    def __init__(self, rule: BoundRule[ResourceConcurrency], value: str) -> None:
        super().__init__()
        self.rule = rule
        self.value = value
        """What `groupBy` gives for the resources of the group."""
        self.group: set[str] = set()

    @property
    def limit(self) -> int:
        return resource_concurrency.limit(self.rule.spec, len(self.group))

    @property
    def scope(self) -> str:
        """Which resources it is about: the value, or without `groupBy` the selector."""
        spec = self.rule.spec
        return spec.group_selector if spec.group_by is None else units.render_value(self.value)


class RuleSlots:
    """One rule's groups: a single one, or one for each value of `groupBy`."""

    def __init__(self, rule: BoundRule[ResourceConcurrency]) -> None:
        self.rule = rule
        self._tables: dict[str, SlotTable] = {}
        self._values: dict[str, str] = {}
        if rule.spec.group_by is None:
            self._table(units.NO_VALUE)

    def tables(self) -> Iterator[SlotTable]:
        for _, table in sorted(self._tables.items()):
            yield table

    def table_of(self, resource: str) -> SlotTable | None:
        """The group that the resource is in."""
        value = self._values.get(resource)
        return self._tables[value] if value is not None else None

    def place(self, resource: ResourceNode) -> SlotTable | None:
        """Puts the resource where its fields say now; the group that it has left with that, if any."""
        is_admitted = self.rule.selector(self.rule.spec.group_selector).matches({"resource": resource.view})
        value = resource.value_of(self.rule.spec.group_by) if is_admitted else None
        if value == self._values.get(resource.name):
            return None
        left = self.remove(resource.name)
        if value is not None:
            self._enter(resource.name, value)
        return left

    def place_all(self, resources: Iterable[ResourceNode]) -> None:
        """Of resources that the group selector is known to match."""
        for resource in resources:
            self._enter(resource.name, resource.value_of(self.rule.spec.group_by))

    def remove(self, resource: str) -> SlotTable | None:
        value = self._values.pop(resource, None)
        if value is None:
            return None
        table = self._tables[value]
        table.group.discard(resource)
        if not table.group and self.rule.spec.group_by is not None:
            del self._tables[value]
        return table

    def _enter(self, resource: str, value: str) -> None:
        self._values[resource] = value
        self._table(value).group.add(resource)

    def _table(self, value: str) -> SlotTable:
        table = self._tables.get(value)
        if table is None:
            table = self._tables[value] = SlotTable(self.rule, value)
        return table
