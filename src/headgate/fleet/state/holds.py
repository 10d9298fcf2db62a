"""Taking and giving back slots: all rules that cover a resource or none, and who holds for how long.

Nobody keeps a part of what it needs while it waits for the rest, so two that wait cannot wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from headgate.fleet.model.records import Group
from headgate.fleet.rules.resource_concurrency import ResourceConcurrency
from headgate.fleet.state import rollbacks, wakes
from headgate.fleet.state.slots import SlotTable
from headgate.fleet.state.state import State
from headgate.fleet.state.units import BoundRule, Target, VersionNode
from headgate.kernel.instants import Instant


def tables_for(state: State, targets: Iterable[Target]) -> list[SlotTable]:
    """The slots that are held while these targets of one resource are worked on."""
    tables: dict[str, SlotTable] = {}
    for target in targets:
        for rule in target.rules.of(ResourceConcurrency):
            table = _table(state, rule.id, target.resource.name)
            if table is not None:
                tables[rule.id] = table
    return list(tables.values())


def _table(state: State, rule_id: str, resource: str) -> SlotTable | None:
    slots = state.slots.get(rule_id)
    return slots.table_of(resource) if slots is not None else None


def lacking(
    state: State,
    tables: Iterable[SlotTable],
    resource: str,
    runners: Sequence[tuple[Target, VersionNode]],
    now: Instant,
) -> list[SlotTable]:
    """Those of the slots that are not to be had now. If everything that is to run skips a rule, it takes a slot beyond
    the limit."""
    targets = [target for target, _ in runners]
    return [
        table
        for table in tables
        if not has_room(state, table, resource, targets)
        and not (runners and all(_skips(state, table, runner, now) for runner in runners))
    ]


def has_room(state: State, table: SlotTable, resource: str, targets: Iterable[Target]) -> bool:
    """Whether the targets of the resource may start. What a resource holds only for what such a start would end, a
    verification or a failed rollback, is no room by itself: where a limit has shrunk, it would never be kept again."""
    held_for = table.holders.get(resource)
    if held_for is None:
        return table.free > 0
    ending = {target.name for target in targets if _ends_with_a_start(state, target)}
    return table.free >= 0 or not ending.issuperset(held_for)


def _ends_with_a_start(state: State, target: Target) -> bool:
    record = target.record
    return record.job is None and record.retry_at is None and not _is_going_back(state, target)


def _is_going_back(state: State, target: Target) -> bool:
    return target.record.rollback_to is not None or rollbacks.ahead(state, target) is not None


def _skips(state: State, table: SlotTable, runner: tuple[Target, VersionNode], now: Instant) -> bool:
    target, version = runner
    return state.skip_for(table.rule, version.id, target, now) is not None


def take_for_target(state: State, tables: Iterable[SlotTable], target: Target, now: Instant) -> None:
    """What is held is written into the record, so that a load takes exactly that again."""
    for table in tables:
        if table.rule.id not in target.record.slots:
            target.record.slots[table.rule.id] = now
            state.journal.changed("target", target.name)
        _take(state, table, target.resource.name, target.name, target.record.slots[table.rule.id])


def take_for_group(state: State, tables: Iterable[SlotTable], group: Group, now: Instant) -> None:
    tables = list(tables)
    for table in tables:
        since = group.slots_since.setdefault(table.rule.id, now)
        _take(state, table, group.resource, group.id, since)
    slots = sorted({*group.slots, *(table.rule.id for table in tables)})
    if slots != group.slots:
        group.slots = slots
        state.journal.changed("group", group.id)


def _take(state: State, table: SlotTable, resource: str, holder: str, since: Instant) -> None:
    if table.take(resource, holder, since):
        state.observer.on_slot_taken(table.rule.id, resource, holder)
        state.waiting.happened(wakes.slot(resource))


def restore_group(state: State, group: Group) -> None:
    """After a load: exactly the slots it had taken and has not left since."""
    started_at = group.started_at or group.created_at
    for table in _tables(state, group.slots, group.resource):
        _take(state, table, group.resource, group.id, group.slots_since.get(table.rule.id, started_at))


def restore_target(state: State, target: Target) -> None:
    """After a load: exactly the slots it held."""
    for table in _tables(state, target.record.slots, target.resource.name):
        _take(state, table, target.resource.name, target.name, target.record.slots[table.rule.id])


def _tables(state: State, rules: Iterable[str], resource: str) -> Iterator[SlotTable]:
    for rule_id in rules:
        table = _table(state, rule_id, resource)
        if table is not None:
            yield table


def give_back(state: State, group: Group) -> None:
    for table in _tables(state, group.slots, group.resource):
        _release(state, table, group.resource, group.id)


def give_back_for_target(state: State, target: Target, rules: Iterable[str]) -> None:
    for rule_id in rules:
        del target.record.slots[rule_id]
        state.journal.changed("target", target.name)
        table = _table(state, rule_id, target.resource.name)
        if table is not None:
            _release(state, table, target.resource.name, target.name)


def _release(state: State, table: SlotTable, resource: str, holder: str) -> None:
    if table.release(resource, holder):
        _freed(state, table, resource)


def leave(state: State, table: SlotTable, resource: str) -> None:
    """The resource is no longer in the group: whatever it held there is free."""
    if table.holders.pop(resource, None) is not None:
        _freed(state, table, resource)


def _freed(state: State, table: SlotTable, resource: str) -> None:
    state.observer.on_slot_freed(table.rule.id, resource)
    state.waiting.happened(wakes.slots(table.rule.id))


def is_at_work(state: State, target: Target, rule: BoundRule[ResourceConcurrency]) -> bool:
    """Outside brackets: a job lives, or the next attempt is ahead, or what has run is being verified, or its rollback has
    failed and waits for a person."""
    record = target.record
    newest = record.job or (record.attempts[-1] if record.attempts else "")
    job = state.jobs.get(newest)
    if job is None or job.group is not None:
        return False
    if record.job is not None or record.retry_at is not None:
        return True
    is_unsettled = job.verification == "running" or rollbacks.failed(state, target) is not None
    return is_unsettled and bool(rule.spec.hold_through_verification)


def settle_target(state: State, target: Target) -> None:
    """Gives back what nothing needs any more. Who is to be rolled back keeps for that what it has."""
    record = target.record
    if not record.slots or _is_going_back(state, target):
        return
    rules = {rule.id: rule for rule in target.rules.of(ResourceConcurrency)}
    over = [
        rule_id
        for rule_id in record.slots
        if rule_id not in rules or not is_at_work(state, target, rules[rule_id])
    ]
    give_back_for_target(state, target, over)


def hold_what_runs(state: State, target: Target, now: Instant) -> None:
    """When rules or groups have changed: what runs is counted wherever it is covered now, and nowhere else. Who holds
    anything for a rollback that is to come holds it there too."""
    tables = tables_for(state, (target,))
    held = target.record.slots
    is_going_back = bool(held) and _is_going_back(state, target)
    covered = {table.rule.id for table in tables}
    give_back_for_target(state, target, [rule_id for rule_id in held if rule_id not in covered])
    wanted = [
        table
        for table in tables
        if is_going_back or table.rule.id in held or is_at_work(state, target, table.rule)
    ]
    take_for_target(state, wanted, target, now)
