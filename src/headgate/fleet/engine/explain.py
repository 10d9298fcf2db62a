"""Why a target has not changed yet: its state, every candidate, every gate's verdict, its group, its slots.

It asks the functions that decide, all of them where a decision stops at the first that does not allow, so it cannot
tell another story than the one that happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, cast

import msgspec

from headgate.fleet import rules
from headgate.fleet.cycles import hooks, shape
from headgate.fleet.engine import (
    explain_attempts,
    explain_rollbacks,
    explain_slots,
    explain_stages,
    explain_verdicts,
    explain_windows,
    remedies,
    target_states,
    waits,
)
from headgate.fleet.gates import gates, rejecting
from headgate.fleet.model.objects import JobStatus, StringMap, TargetState
from headgate.fleet.model.records import GROUP_ENDED, Fault, Group, Job, MetricProgress
from headgate.fleet.state import candidates, holds, references, variables
from headgate.fleet.state.state import GateResult, JudgedVersion, State
from headgate.fleet.state.units import Site, Target, VersionNode
from headgate.kernel import decisions, instants
from headgate.kernel.documents import Moment
from headgate.kernel.instants import Instant


class RuleLine(msgspec.Struct, frozen=True, rename="camel"):
    """`policy` and `rule` are null for the gates that are always on."""

    policy: str | None
    rule: str | None
    type: str
    version: str | None
    verdict: decisions.Outcome
    reason: decisions.Reason
    message: str
    satisfied_at: Moment | None = None
    next_evaluation_time: Moment | None = None


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


class MeasurementLine(msgspec.Struct, frozen=True, rename="camel"):
    """`answer` is what the provider said, cut; those who may not act on targets see its beginning only."""

    at: Moment
    verdict: Literal["passed", "failed", "inconclusive"]
    value: str | None
    condition: str
    message: str
    answer: str


class MetricLine(msgspec.Struct, frozen=True, rename="camel"):
    """The first and the last measurements; `dropped` is how many in between are no longer kept."""

    rule: str
    metric: str
    status: Literal["running", "passed", "failed"]
    measurements: tuple[MeasurementLine, ...]
    dropped: int = 0


class JobLine(msgspec.Struct, frozen=True, rename="camel"):
    """The job that the state is about: the one that lives, the one that failed, else the newest."""

    id: str
    version: str
    status: JobStatus
    attempt: int
    agent: str | None
    message: str | None
    reason: str
    links: StringMap
    metrics: tuple[MetricLine, ...] = ()


class Explanation(msgspec.Struct, frozen=True, rename="camel"):
    """`changes` says what can change the state next; `blocked` that nothing but a person can."""

    target: str
    state: TargetState
    current: str | None
    desired: str | None
    message: str
    changes: str
    blocked: bool
    group: GroupLine | None = None
    slots: tuple[SlotLine, ...] = ()
    rules: tuple[RuleLine, ...] = ()
    warnings: tuple[str, ...] = ()
    next_evaluation_time: Moment | None = None
    job: JobLine | None = None
    actions: tuple[remedies.Action, ...] = ()


def of_target(state: State, name: str, now: Instant) -> Explanation:
    target = references.target(state, name)
    judged = [
        (
            version,
            explain_stages.with_spoilt(state, target, version, explain_verdicts.with_cycle(target, one)),
        )
        for version, one in explain_verdicts.of_target(state, target, now)
        if one is not gates.NOT_FROZEN
    ]
    stance = target_states.of_target(state, target, now)
    if stance == "frozen":
        judged = _freeze_first(judged, gates.frozen(state, target, now))
    lines = tuple(dict.fromkeys(_line(version, one) for version, one in judged))
    times = [line.next_evaluation_time for line in lines if line.next_evaluation_time is not None]
    group, _ = target_states.group_and_member(target)
    held_back = _held_back(state, target, judged, now)
    changes, _ = remedies.what_changes(state, target, stance, held_back, group)
    return Explanation(
        target=name,
        state=stance,
        current=_tag_or_none(state, target.record.deployed),
        desired=_desired(state, target, judged, group),
        message=_message(state, target, judged),
        changes=changes,
        blocked=waits.is_blocked(stance, held_back, group),
        group=_group_line(state, target, group, now),
        slots=tuple(_slot_lines(state, target)),
        rules=lines,
        warnings=tuple(_warnings(state, target)),
        next_evaluation_time=min(times, default=None),
        job=_job_line(state, target),
        actions=remedies.of_target(state, target, stance, held_back, group, now),
    )


def _held_back(
    state: State, target: Target, judged: list[JudgedVersion], now: Instant
) -> list[JudgedVersion]:
    """The gates that do not allow the newest version that is asked for here, what stops whatever version there is, and
    what is measured of the one that runs. What is not ready any more is asked for only if there is nothing else."""
    versions = dict.fromkeys(version for version, _ in judged if version is not None)
    asked_for = [one for one in versions if not gates.is_kept_away(state, target, one, now)]
    ready = [one for one in asked_for if one.is_ready]
    newest = max(ready or asked_for, key=lambda version: version.sort_key, default=None)
    return [
        (version, one)
        for version, one in judged
        if not one.is_allowed and (version in (None, newest) or rules.TRAITS[one.kind].is_of_any_version)
    ]


def _job_line(state: State, target: Target) -> JobLine | None:
    record = target.record
    fault = record.fault
    newest = state.jobs.get(record.job or "") or state.jobs.get(
        record.attempts[-1] if record.attempts else ""
    )
    if fault is not None and record.job is None:
        known = state.jobs.get(fault.job)
        return _run_line(fault.job, fault, "", known.metrics if known is not None else fault.metrics)
    return None if newest is None else _run_line(newest.id, newest, newest.reason, newest.metrics)


def _run_line(id_: str, run: Job | Fault, reason: str, metrics: list[MetricProgress]) -> JobLine:
    return JobLine(
        id=id_,
        version=run.tag,
        status=cast(JobStatus, run.status),
        attempt=run.attempt,
        agent=run.agent,
        message=run.message,
        reason=reason,
        links=run.links,
        metrics=metric_lines(metrics),
    )


def metric_lines(metrics: list[MetricProgress]) -> tuple[MetricLine, ...]:
    return tuple(
        MetricLine(
            progress.rule,
            progress.metric,
            progress.status,
            tuple(
                MeasurementLine(one.at, one.verdict, one.value, one.condition, one.message, one.answer)
                for one in progress.measurements
            ),
            progress.dropped,
        )
        for progress in metrics
    )


def _freeze_first(judged: list[JudgedVersion], freeze: GateResult) -> list[JudgedVersion]:
    """Whatever else it would wait for, this is what somebody has to end."""
    newest = next((version for version, _ in judged if version is not None), None)
    return [(newest, freeze), *((version, one) for version, one in judged if one.kind != freeze.kind)]


def _line(version: VersionNode | None, result: GateResult) -> RuleLine:
    verdict = result.verdict
    return RuleLine(
        policy=result.rule.policy.name if result.rule is not None else None,
        rule=result.rule.label if result.rule is not None else None,
        type=result.kind,
        version=version.tag if version is not None else None,
        verdict=verdict.outcome,
        reason=verdict.reason,
        message=verdict.message,
        satisfied_at=verdict.satisfied_at,
        next_evaluation_time=verdict.requeue_at,
    )


def _desired(state: State, target: Target, judged: list[JudgedVersion], group: Group | None) -> str | None:
    record = target.record
    if record.job is not None:
        return state.jobs[record.job].tag
    if record.rollback_to is not None:
        return state.tag(record.rollback_to)
    member = group.member(target.deployment.name) if group is not None else None
    if member is not None and member.version is not None and member.state in target_states.STILL_TO_RUN:
        return state.tag(member.version)
    watermark = candidates.watermark_of(state, target)
    for version, result in judged:
        is_news = version is not None and (watermark is None or version.sort_key >= watermark)
        if version is not None and is_news and result.verdict.outcome != "denied":
            return version.tag
    return _tag_or_none(state, record.deployed)


def _tag_or_none(state: State, version_id: str | None) -> str | None:
    version = state.version(version_id)
    return version.tag if version is not None else None


def _message(state: State, target: Target, judged: list[JudgedVersion]) -> str:
    """The one sentence to read first."""
    record = target.record
    if record.job is not None:
        job = state.jobs[record.job]
        return f"job {job.status} with {job.tag} since {instants.show_to_the_second(job.started_at or job.created_at)}"
    going_back = explain_rollbacks.waiting_sentence(state, target, judged)
    if going_back is not None:
        return going_back
    if record.failed_at is not None and not target_states.is_tried_again(target):
        failed = explain_attempts.failed_sentence(state, target, record.failed_version)
        return failed + _what_holds_the_way_back(state, target, judged)
    held_by = [(version, one) for version, one in judged if not one.is_allowed]
    if held_by and all(one.verdict.reason == decisions.Reason.AWAITING_RETRY for _, one in held_by):
        return held_by[0][1].verdict.message
    for version, result in held_by:
        return f"{version.tag}: {result.verdict.message}" if version is not None else result.verdict.message
    if judged:
        return "every gate allows it"
    deployed = state.version(record.deployed)
    paused = candidates.paused_ahead(state, target)
    if deployed is not None:
        adopted = f" (adopted by {record.adopted_by})" if record.adopted_by else ""
        marked = _marked_sentence(state, target, deployed) if deployed.is_rejected else ""
        newer = f"{paused.tag} is paused" if paused is not None else "nothing newer is in scope"
        return f"runs {deployed.tag}{adopted}, {newer}{marked}"
    return f"{paused.tag} is paused" if paused is not None else "there is no version in scope"


def _marked_sentence(state: State, target: Target, deployed: VersionNode) -> str:
    """A mark does not take away what runs, but it deploys no changed values either."""
    resolved = variables.resolve(state, target)
    has_new_values = not variables.are_same(target.record.deployed_variables, resolved)
    wait = "; its values have changed since, and wait for a version that is not rejected"
    stays = f"; {rejecting.sentence(deployed)}; it stays where it runs"
    return stays + wait if has_new_values else stays


def _what_holds_the_way_back(state: State, target: Target, judged: list[JudgedVersion]) -> str:
    """After what failed: why the version before is not put back yet."""
    back = state.version(target.record.rollback_to)
    held_by = (one for version, one in judged if version is back and not one.is_allowed)
    holder = next(held_by, None) if back is not None else None
    return f": {holder.verdict.message}" if holder is not None else ""


def _group_line(state: State, target: Target, group: Group | None, now: Instant) -> GroupLine | None:
    if group is None or target.site is None or group.status in GROUP_ENDED:
        return None
    member = group.member(target.deployment.name)
    form = shape.of_site(target.site)
    role = member.role if member is not None else form.roles.get(target.deployment.name, "member")
    return GroupLine(group.id, group.status, _phase(state, target.site, group, now), role, form.why)


def _phase(state: State, site: Site, group: Group, now: Instant) -> str:
    if group.status == "collecting":
        return explain_windows.of_window(state, site, now).verdict.message
    if group.status == "failed":
        held = "its slot was released" if group.slot_released else "its slot stays held"
        stuck = "stuck, " if group.stuck else ""
        return f"{stuck}failed since {instants.show_to_the_second(group.failed_at or now)}: {group.reason}; {held}"
    states = ", ".join(f"{member.deployment} {member.state}" for member in group.members)
    return f"{group.status}: {states}"


def _slot_lines(state: State, target: Target) -> Iterator[SlotLine]:
    for table in holds.tables_for(state, (target,)):
        use = explain_slots.of_table(state, table, target)
        held = target.resource.name in table.holders
        if held or any(True for _ in target_states.ahead_of(state, target)):
            yield SlotLine(table.rule.policy.name, table.rule.label, held, use.verdict.message)


def _warnings(state: State, target: Target) -> Iterator[str]:
    if target.site is not None and (ended := hooks.warning_of(state, target.site.rule)) is not None:
        yield ended
    for version in target.deployment.versions:
        problem = candidates.scope_problem(version, target)
        if version.is_ready and problem is not None:
            yield problem.message
