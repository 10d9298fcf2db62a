"""Taking and giving back slots: all rules that cover a resource or none, and who holds for how long."""

from __future__ import annotations

from collections.abc import Iterable

from headgate.fleet.records import Group
from headgate.fleet.slots import SlotTable
from headgate.fleet.state import State
from headgate.fleet.units import Target
from headgate.kernel.instants import Instant


def tables_for(state: State, targets: Iterable[Target]) -> list[SlotTable]:
    """The slots that are held while these targets of one resource are worked on."""
    tables: dict[str, SlotTable] = {}
    for target in targets:
        for rule in target.rules.of("resourceConcurrency"):
            table = state.slots.get(rule.id)
            if table is not None and table.covers(target.resource.name):
                tables[rule.id] = table
    return list(tables.values())


def lacking(
    state: State, tables: Iterable[SlotTable], targets: Iterable[Target], now: Instant
) -> list[SlotTable]:
    """Those of the slots that are not to be had now. Who skips a rule takes a slot beyond its limit."""
    found = []
    for table in tables:
        for target in targets:
            if table.has_room_for(target.resource.name):
                break
            if state.skip_for(table.rule, None, target, now) is not None:
                break
        else:
            found.append(table)
    return found


def take(state: State, tables: Iterable[SlotTable], resource: str, holder: str, now: Instant) -> None:
    for table in tables:
        if table.take(resource, holder, now):
            state.observer.on_slot_taken(table.rule.id, resource, holder)
            state.waiting.happened(("slot", resource))


def take_for_group(state: State, tables: Iterable[SlotTable], group: Group, now: Instant) -> None:
    tables = list(tables)
    take(state, tables, group.resource, group.id, now)
    slots = sorted({*group.slots, *(table.rule.id for table in tables)})
    if slots != group.slots:
        group.slots = slots
        state.journal.changed("group", group.id)


def restore_group(state: State, group: Group, since: Instant) -> None:
    """After a load: exactly the slots it had taken and has not left since."""
    tables = [
        state.slots[rule]
        for rule in group.slots
        if rule in state.slots and state.slots[rule].covers(group.resource)
    ]
    take(state, tables, group.resource, group.id, since)


def give_back(state: State, resource: str, holder: str) -> None:
    for table in state.slots.values():
        if table.release(resource, holder):
            state.observer.on_slot_freed(table.rule.id, resource)
            state.waiting.happened(("slots", table.rule.id))


def leave_groups(state: State, resource: str) -> None:
    """Frees the slots of rules whose group the resource is no longer in."""
    for table in state.slots.values():
        if not table.covers(resource) and table.holders.pop(resource, None) is not None:
            state.observer.on_slot_freed(table.rule.id, resource)
            state.waiting.happened(("slots", table.rule.id))


def needs_slot(target: Target) -> bool:
    """Outside brackets a resource keeps its slot while a job lives or the next attempt or rollback is ahead."""
    record = target.record
    return target.place is None and (
        record.job is not None or record.retry_at is not None or record.rollback_to is not None
    )


def settle_target(state: State, target: Target, now: Instant) -> None:
    if not needs_slot(target):
        give_back(state, target.resource.name, target.name)


def restore_target(state: State, target: Target, since: Instant) -> None:
    """After a load, or when rules changed while a job lives: what runs keeps its place in every rule that covers it."""
    if needs_slot(target):
        take(state, tables_for(state, (target,)), target.resource.name, target.name, since)
