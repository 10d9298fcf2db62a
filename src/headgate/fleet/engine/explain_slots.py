"""Who holds the slots that somebody waits for, and whether anything but a person gives one back."""

from __future__ import annotations

from headgate.fleet.rules import resource_concurrency
from headgate.fleet.state import holds, rollbacks
from headgate.fleet.state.slots import SlotTable
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Target
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason


def of_table(state: State, table: SlotTable, target: Target) -> GateResult:
    resource = target.resource.name
    sentence = resource_concurrency.sentence(
        [(name, _what_holds(state, table, name)) for name in sorted(table.holders)],
        len(table.group),
        table.limit,
        table.scope if table.rule.spec.group_by is not None else None,
    )
    has_room = holds.has_room(state, table, resource, (target,))
    if has_room and resource in table.holders:
        since = instants.show_to_the_second(table.held_since(resource) or 0)
        verdict = decisions.allowed(
            f"{resource} holds a slot since {since}", satisfied_at=table.held_since(resource)
        )
    elif has_room:
        verdict = decisions.allowed(sentence)
    else:
        groups, rolled_back = _failed_holders(state, table)
        failed = {*groups, *rolled_back}
        verdict = decisions.pending(
            Reason.SLOTS_TAKEN,
            sentence,
            failed_groups=groups,
            failed_rollbacks=rolled_back,
            by_person=all(not failed.isdisjoint(held) for held in table.holders.values()),
        )
    return GateResult(table.rule, table.rule.kind, verdict)


def _failed_holders(state: State, table: SlotTable) -> tuple[list[str], list[str]]:
    """Groups, and targets whose rollback failed, that hold slots and give none back before a person has decided."""
    held = dict.fromkeys(holder for name in sorted(table.holders) for holder in sorted(table.holders[name]))
    groups = [one for one in held if one in state.groups and state.groups[one].status == "failed"]
    rolled_back = [
        one
        for one in held
        if one in state.targets and rollbacks.failed(state, state.targets[one]) is not None
    ]
    return groups, rolled_back


def _what_holds(state: State, table: SlotTable, resource: str) -> str:
    """What the holder is doing: `executing kubelet-upgrade`, or `failed, held since 09:16`."""
    parts: list[str] = []
    for holder, since in sorted(table.holders[resource].items()):
        group = state.groups.get(holder)
        if group is None:
            target = state.targets.get(holder)
            parts.append(_what_target_does(state, target) if target is not None else f"running {holder}")
        elif group.status == "failed":
            parts.append(f"failed, held since {instants.show_clock(group.failed_at or since)}")
        else:
            running = [m.deployment for m in group.members if m.state in ("running", "rollingBack")]
            parts.append(f"executing {', '.join(running) or 'nothing at the moment'}")
    return "; ".join(parts)


def _what_target_does(state: State, target: Target) -> str:
    record = target.record
    job = state.jobs.get(record.job or "")
    failed = rollbacks.failed(state, target)
    if failed is not None:
        since = instants.show_clock(failed.completed_at or failed.created_at)
        return f"rollback of {target.deployment.name} to {failed.tag} failed, held since {since}"
    if rollbacks.ahead(state, target) is not None or (job is not None and job.kind == "rollback"):
        what = "rolling back"
    elif record.retry_at is not None:
        what = "retrying"
    else:
        what = "running" if job is not None else "verifying"
    return f"{what} {target.deployment.name}"
