"""Why a target has not changed yet: its state, every candidate, every gate's verdict, its group, its slots."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from headgate.fleet import candidates, explain_verdicts, gates, holds, references, targets, variables
from headgate.fleet.brackets import collecting, shape
from headgate.fleet.model import TargetState
from headgate.fleet.records import GROUP_ENDED, Group
from headgate.fleet.state import Judged, State
from headgate.fleet.units import Place, Target, VersionNode
from headgate.kernel import instants, verdicts
from headgate.kernel.instants import Instant


class RuleLine(msgspec.Struct, frozen=True, rename="camel"):
    """`policy` and `rule` are empty for the gates that are always on."""

    policy: str | None
    rule: str | None
    type: str
    version: str | None
    verdict: verdicts.Outcome
    message: str
    satisfied_at: Instant | None = None
    next_evaluation_time: Instant | None = None


class GroupLine(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    status: str
    message: str
    role: str
    hooks: str


class SlotLine(msgspec.Struct, frozen=True, rename="camel"):
    policy: str
    rule: str
    held: bool
    message: str


class Explanation(msgspec.Struct, frozen=True, rename="camel"):
    target: str
    state: TargetState
    current: str | None
    desired: str | None
    message: str
    group: GroupLine | None = None
    slots: tuple[SlotLine, ...] = ()
    rules: tuple[RuleLine, ...] = ()
    warnings: tuple[str, ...] = ()
    next_evaluation_time: Instant | None = None


def of_target(state: State, name: str, now: Instant) -> Explanation:
    target = references.target(state, name)
    judged = [
        (version, explain_verdicts.with_cycle(target, one))
        for version, one in explain_verdicts.of_target(state, target, now)
        if one is not gates.NOT_FROZEN
    ]
    stance = state_of(state, target, now)
    if stance == "frozen":
        judged = _freeze_first(judged, gates.frozen(state, target, now))
    lines = tuple(dict.fromkeys(_line(version, one) for version, one in judged))
    times = [line.next_evaluation_time for line in lines if line.next_evaluation_time is not None]
    group = _group_of(target)
    return Explanation(
        target=name,
        state=stance,
        current=_tag_or_none(state, target.record.deployed),
        desired=_desired(state, target, judged, group),
        message=_message(state, target, judged, group, now),
        group=_group_line(state, target, group, now),
        slots=tuple(_slot_lines(state, target, now)),
        rules=lines,
        warnings=tuple(_scope_warnings(state, target, now)),
        next_evaluation_time=min(times, default=None),
    )


def _freeze_first(judged: list[explain_verdicts.Verdict], freeze: Judged) -> list[explain_verdicts.Verdict]:
    """Whatever else it would wait for, this is what somebody has to end."""
    newest = next((version for version, _ in judged if version is not None), None)
    return [(newest, freeze), *((version, one) for version, one in judged if one.kind != freeze.kind)]


def _line(version: VersionNode | None, one: Judged) -> RuleLine:
    verdict = one.verdict
    return RuleLine(
        policy=one.rule.policy.name if one.rule is not None else None,
        rule=one.rule.label if one.rule is not None else None,
        type=one.kind,
        version=version.tag if version is not None else None,
        verdict=verdict.outcome,
        message=verdict.message,
        satisfied_at=verdict.satisfied_at,
        next_evaluation_time=verdict.next_evaluation_time,
    )


def _group_of(target: Target) -> Group | None:
    """The unfinished group that is furthest on its way and concerns the target."""
    if target.place is None:
        return None
    fallback = None
    for group in target.place.groups():
        member = group.member(target.deployment.name)
        if member is not None and member.state not in ("unchanged", "dropped"):
            return group
        fallback = fallback or group
    return fallback


def _has_ahead(state: State, target: Target, now: Instant) -> bool:
    if target.place is not None:
        return target.deployment.name in collecting.fresh_versions(state, target.place, now)
    return any(True for _ in explain_verdicts.ahead_of(state, target, now))


def state_of(state: State, target: Target, now: Instant) -> TargetState:
    record = target.record
    if record.job is not None or (record.verification == "running" and record.failed_at is None):
        return "running"
    group = _group_of(target)
    member = group.member(target.deployment.name) if group is not None else None
    if record.failed_at is not None or (member is not None and member.state == "failed"):
        return "failed"
    newest = next(explain_verdicts.ahead_of(state, target, now), None) if target.place is None else None
    if newest is not None and targets.has_failed(target, newest, variables.resolve(state, target)):
        return "failed"
    still_to_run = member is not None and member.state in ("waiting", "retrying", "running")
    if (
        still_to_run
        or record.retry_at is not None
        or record.rollback_to
        or record.ordered
        or _has_ahead(state, target, now)
    ):
        return "frozen" if gates.frozen(state, target, now) is not gates.NOT_FROZEN else "waiting"
    if record.deployed is not None and record.deployed_variables == variables.resolve(state, target):
        return "upToDate"
    if record.deployed is not None:
        return "frozen" if gates.frozen(state, target, now) is not gates.NOT_FROZEN else "waiting"
    if any(True for _ in candidates.newest_first(state, target, now)):
        return "waiting"
    return "noVersion"


def _desired(
    state: State, target: Target, judged: list[explain_verdicts.Verdict], group: Group | None
) -> str | None:
    record = target.record
    if record.job is not None:
        return state.jobs[record.job].tag
    if record.rollback_to is not None:
        return state.tag(record.rollback_to)
    member = group.member(target.deployment.name) if group is not None else None
    if member is not None and member.version is not None and member.state != "dropped":
        return state.tag(member.version)
    for version, one in judged:
        if version is not None and one.verdict.outcome != "denied":
            return version.tag
    return _tag_or_none(state, record.deployed)


def _tag_or_none(state: State, version_id: str | None) -> str | None:
    version = state.version(version_id)
    return version.tag if version is not None else None


def _message(
    state: State, target: Target, judged: list[explain_verdicts.Verdict], group: Group | None, now: Instant
) -> str:
    """The one sentence to read first."""
    record = target.record
    if record.job is not None:
        job = state.jobs[record.job]
        return (
            f"job {job.status} with {job.tag} since {instants.show_clock(job.started_at or job.created_at)}"
        )
    if record.failed_at is not None:
        return explain_verdicts.failed_sentence(target, state.tag(record.failed_version))
    if record.retry_at is not None:
        return f"the next attempt is made at {instants.show_clock(record.retry_at)}"
    for version, one in judged:
        if not one.is_allowed:
            return f"{version.tag}: {one.verdict.message}" if version is not None else one.verdict.message
    if judged:
        return "every gate allows it"
    if record.deployed is not None:
        back = _rolled_back_from(state, target)
        if back is not None:
            return (
                f"runs {state.tag(record.deployed)}; {back.tag} was rolled back here and is not tried again by itself, "
                "an operator's retry does it"
            )
        return f"runs {state.tag(record.deployed)}, nothing newer is in scope"
    return "there is no version in scope"


def _rolled_back_from(state: State, target: Target) -> VersionNode | None:
    """The newest version that was put back here and is newer than what runs."""
    deployed = state.version(target.record.deployed)
    found = [version for version in map(state.version, target.record.spent) if version is not None]
    newest = max(found, key=lambda version: version.order, default=None)
    if newest is None or not newest.is_ready or (deployed is not None and newest.order <= deployed.order):
        return None
    return newest


def _group_line(state: State, target: Target, group: Group | None, now: Instant) -> GroupLine | None:
    if group is None or target.place is None or group.status in GROUP_ENDED:
        return None
    member = group.member(target.deployment.name)
    form = shape.of_place(target.place)
    role = member.role if member is not None else form.roles.get(target.deployment.name, "member")
    return GroupLine(group.id, group.status, _phase(state, target.place, group, now), role, form.why)


def _phase(state: State, place: Place, group: Group, now: Instant) -> str:
    if group.status == "collecting":
        return explain_verdicts.of_window(state, place, now).verdict.message
    if group.status == "failed":
        held = "its slot was released" if group.slot_released else "its slot stays held"
        stuck = "stuck, " if group.stuck else ""
        return f"{stuck}failed since {instants.show_clock(group.failed_at or now)}: {group.reason}; {held}"
    states = ", ".join(f"{member.deployment} {member.state}" for member in group.members)
    return f"{group.status}: {states}"


def _slot_lines(state: State, target: Target, now: Instant) -> Iterator[SlotLine]:
    for table in holds.tables_for(state, (target,)):
        one = explain_verdicts.concurrency_verdict(state, table, target)
        held = target.resource.name in table.holders
        if held or any(True for _ in explain_verdicts.ahead_of(state, target, now)):
            yield SlotLine(table.rule.policy.name, table.rule.label, held, one.verdict.message)


def _scope_warnings(state: State, target: Target, now: Instant) -> Iterator[str]:
    for version in target.deployment.versions:
        message = candidates.scope_flaw(version, target)
        if version.is_ready and message is not None:
            yield message
