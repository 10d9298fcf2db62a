"""A release target outside brackets: which release it should get next, and whether it may start now.

What is remembered of a target is settled first; planning it changes nothing then. What it would start goes to `admission`,
which knows who else wants the same slots and carries the plan out.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Literal

import msgspec

from headgate.fleet import rules
from headgate.fleet.cycles import jobs, retries, withdrawing
from headgate.fleet.gates import breakers, dependencies, gates, judges, rejecting, rollouts
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import JobKind, Variables
from headgate.fleet.rules import gradual_rollout
from headgate.fleet.rules.deployment_bracket import DeploymentBracket
from headgate.fleet.rules.deployment_dependency import DeploymentDependency
from headgate.fleet.rules.deployment_window import DeploymentWindow
from headgate.fleet.rules.gradual_rollout import GradualRollout
from headgate.fleet.state import candidates, rollbacks, variables, wakes
from headgate.fleet.state.candidates import OnProblem
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import NEW, REPAIR, BoundRule, StartKey, Target, VersionNode
from headgate.kernel import decisions
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.wakes import Wake


class Release(msgspec.Struct, frozen=True):
    """What a target would get, decided on the state of this moment."""

    version: VersionNode
    kind: JobKind
    attempt: int
    variables: Variables
    judged: tuple[GateResult, ...]
    key: StartKey
    reason: str = ""


class EndedAttempts(msgspec.Struct, frozen=True):
    """A gate has come to deny what was to be tried again: what failed has failed for good."""

    why: str


Ending = EndedAttempts | Literal["retry", "order"]
"""What a plan finds to be over: attempts, the wait for the next one, an order to try again."""


class TargetPlan(msgspec.Struct, frozen=True):
    """The release to start now, what hinders it or a newer one (nothing, for a target that has converged), and what is over."""

    release: Release | None
    blockers: Blockers
    endings: tuple[Ending, ...] = ()


def settle(state: State, target: Target, now: Instant) -> None:
    """Brings what is remembered of the target up to what has become of its versions and orders meanwhile: a job that was
    withdrawn before anybody took it, an attempt that nobody wants any more, an order that leads nowhere."""
    record = target.record
    if record.job is not None:
        withdrawing.take_back(state, target, now)
    if _is_planned_elsewhere(target):
        return
    if record.retry_at is not None:
        jobs.reconsider_retry(state, target, now)
    if record.attempts:
        jobs.reconsider_attempt(state, target, now)
    if record.failed_at is not None:
        jobs.reconsider_failure(state, target)
    if record.rollback_to is not None or record.ordered is not None:
        jobs.reconsider_orders(state, target)


def _is_planned_elsewhere(target: Target) -> bool:
    """Its job says what comes next, or its site does."""
    return (
        target.record.job is not None or target.site is not None or bool(target.rules.of(DeploymentBracket))
    )


def plan(state: State, target: Target, now: Instant) -> TargetPlan:
    """What the target would start, of what is settled. Nothing of the state is changed by it, but for the line that others
    who wait for the same turn find again in this instant."""
    record, blockers = target.record, Blockers()
    if _is_planned_elsewhere(target):
        return TargetPlan(None, blockers)
    if record.rollback_to is not None:
        kind = rollbacks.kind_of(state, target, state.versions[record.rollback_to])
        return _ordered(state, target, record.rollback_to, kind, now, blockers)
    if record.ordered == "redeploy" and record.deployed is not None:
        return _ordered(state, target, record.deployed, "redeploy", now, blockers)
    resolved = variables.resolve(state, target) if state.has_variables_for(target) else ()
    retried = retries.retried_release(state, target) if record.retry_at is not None else None
    is_awaited = retried is not None or record.ordered == "retry"
    paused = retries.paused_retry(state, target) if is_awaited else None
    for version in contenders(state, target, blockers.add_problem):
        if paused is not None and version.sort_key < paused.sort_key:
            break
        is_retried = (
            retried is not None and version.id == retried[0] and variables.are_same(resolved, retried[1])
        )
        if is_retried:
            retried = None
        if version.id == record.deployed and variables.are_same(record.deployed_variables, resolved):
            if is_retried:
                return _ordered(state, target, version.id, "redeploy", now, blockers)
            break
        if record.failures and has_failed(target, version, resolved):
            break
        release: Release | EndedAttempts | None
        if version.id == record.deployed:
            release = _same_version(state, target, version, resolved, now, blockers)
        else:
            release = _new_version(state, target, version, resolved, now, blockers)
        if isinstance(release, EndedAttempts):
            # Whatever may start instead is planned when the failure is settled.
            return TargetPlan(None, blockers, (release,))
        if release is not None:
            return TargetPlan(release, blockers)
        if version.id == record.deployed:
            break
        if record.retry_at is not None and retries.retried_version(state, target) == version.id:
            # Between two attempts nothing older is tried in its place, also if the next attempt is due and a gate is in the
            # way: the two would take turns, and neither would ever have used up its attempts.
            if record.retry_at > now:
                blockers.requeue(record.retry_at)
            break
    endings: tuple[Ending, ...] = ()
    if paused is not None:
        blockers.hold(Reason.AWAITING_RETRY)
        blockers.watch(wakes.versions(target.deployment.name))
    elif retried is not None:
        endings = ("retry",)
    if record.ordered == "retry" and not blockers.wakes and blockers.requeue_at is None:
        endings = (*endings, "order")
    return TargetPlan(None, blockers, endings)


def end(state: State, target: Target, endings: Sequence[Ending], now: Instant) -> None:
    """What a plan found to be over is over from now on."""
    for ending in endings:
        if isinstance(ending, EndedAttempts):
            jobs.end_attempts(state, target, now, ending.why)
        elif ending == "retry":
            retries.give_up_retry(state, target)
        else:
            target.record.ordered = None
            state.target_changed(target)


def contenders(state: State, target: Target, on_problem: OnProblem | None = None) -> Iterator[VersionNode]:
    """Candidates newest first, down to what is deployed; nothing between a version that was rolled back here and that. What
    is deployed is among them for its values' sake, also if it is paused, no longer meant for the target, or its next build has
    failed.

    Below one that was rejected and goes back comes first what ran here before it, also if something newer was put back
    or failed here: who rejected it wants it gone, whatever else is bad.
    """
    deployed = candidates.deployed_version(state, target)
    newest_first = candidates.newest_first(target, on_problem, candidates.watermark_by(deployed))
    if deployed is not None and deployed.goes_back:
        good = (version for version in newest_first if not is_barred(state, target, version))
        return _with_rollback_version(state, target, deployed, good)
    wanted, rolled_back = _down_to(newest_first, deployed), target.record.rolled_back
    return _without_rolled_back(wanted, rolled_back, deployed) if rolled_back else wanted


def _down_to(versions: Iterator[VersionNode], deployed: VersionNode | None) -> Iterator[VersionNode]:
    for version in versions:
        yield version
        if version is deployed:
            return
    if deployed is not None and not deployed.is_rejected:
        yield deployed


def _without_rolled_back(
    versions: Iterator[VersionNode], rolled_back: Container[str], deployed: VersionNode | None
) -> Iterator[VersionNode]:
    """What runs is among them all the same: its values may change."""
    is_below = False
    for version in versions:
        is_below = is_below or version.id in rolled_back
        if not is_below or (version is deployed and version.id not in rolled_back):
            yield version


def _with_rollback_version(
    state: State, target: Target, deployed: VersionNode, versions: Iterator[VersionNode]
) -> Iterator[VersionNode]:
    back = candidates.rollback_version(state, target)
    is_back_due = back is not None
    for version in versions:
        if is_back_due and back is not None and version.sort_key < deployed.sort_key:
            is_back_due = False
            yield back
        if version is not back:
            yield version


def is_barred(state: State, target: Target, version: VersionNode) -> bool:
    """It failed for good here, or was put back: only an operator's retry lets it be tried again."""
    record = target.record
    if version.id in record.rolled_back:
        return True
    return version.id in record.failures and has_failed(target, version, variables.resolve(state, target))


def has_failed(target: Target, version: VersionNode, resolved: Variables) -> bool:
    failed = target.record.failures.get(version.id)
    return failed is not None and variables.are_same(failed, resolved)


def _new_version(
    state: State,
    target: Target,
    version: VersionNode,
    resolved: Variables,
    now: Instant,
    blockers: Blockers,
) -> Release | EndedAttempts | None:
    record = target.record
    failed = jobs.unsettled(state, target) if record.attempts else None
    is_tried_again = failed is not None and failed.version == version.id
    line = rollouts.line_of(state, target, version) if not is_tried_again else None
    turn = line.turn_of(target) if line is not None else now
    if line is not None and turn > now:
        blockers.join(line.blockers)
        blockers.requeue(turn)
        return None
    judged: list[GateResult] = []
    for result in verdicts_of(state, target, version, now):
        if not result.is_allowed:
            blockers.stop_at(result, judged)
            rollouts.found_line(state, target, version, result, judged)
            if is_tried_again and result.verdict.outcome == "denied":
                return EndedAttempts(result.verdict.message)
            if is_tried_again:
                retries.watch_for_denials(target, version, judged, blockers)
            return None
        judged.append(result)
    deployed = candidates.deployed_version(state, target)
    going_back = deployed is not None and version.sort_key < deployed.sort_key
    kind: JobKind = "rollback" if going_back else "deploy"
    attempt, retry_at = 1, None
    if record.attempts:
        attempt, retry_at = retries.next_attempt(state, target, version, resolved, kind)
    if retry_at is not None and retry_at > now:
        blockers.requeue(retry_at)
        retries.watch_for_denials(target, version, judged, blockers)
        return None
    return Release(
        version,
        kind,
        attempt,
        resolved,
        tuple(judged),
        _start_key(target, version, judged, is_repair=going_back or attempt > 1 or record.ordered == "retry"),
        rejecting.sentence(deployed) if going_back and deployed is not None else record.ordered or "",
    )


def _same_version(
    state: State,
    target: Target,
    version: VersionNode,
    resolved: Variables,
    now: Instant,
    blockers: Blockers,
) -> Release | None:
    """Changed variables: a new release of the same version, past the version's gates, not past windows and freezes."""
    judged: list[GateResult] = []
    for result in verdicts_of_same_version(state, target, now):
        if not result.is_allowed:
            blockers.add(result)
            return None
        judged.append(result)
    attempt, retry_at = retries.next_attempt(state, target, version, resolved, "variable")
    if retry_at is not None and retry_at > now:
        blockers.requeue(retry_at)
        return None
    key = (NEW, 0, target.record.deployed_at or 0, target.resource.name, target.name)
    return Release(version, "variable", attempt, resolved, tuple(judged), key, "variables changed")


def verdicts_of_same_version(state: State, target: Target, now: Instant) -> Iterator[GateResult]:
    yield gates.frozen(state, target, now)
    for rule in target.rules.of(DeploymentWindow):
        skip = gates.skipped(state, rule, state.version(target.record.deployed), target, now)
        yield skip if skip is not None else judges.window(rule, target, now)


def _ordered(
    state: State,
    target: Target,
    version_id: str,
    kind: JobKind,
    now: Instant,
    blockers: Blockers,
) -> TargetPlan:
    """A rollback or a redeploy, or the next attempt of one: it needs no gate but the freeze, a slot and a free target."""
    record = target.record
    version = state.versions[version_id]
    resolved = variables.resolve(state, target)
    attempt, retry_at = 1, None
    if record.retry_at is not None:
        attempt, retry_at = retries.next_attempt(state, target, version, resolved, kind)
    if retry_at is not None and retry_at > now:
        blockers.requeue(retry_at)
        return TargetPlan(None, blockers)
    result = gates.frozen(state, target, now)
    if not result.is_allowed:
        blockers.add(result)
        return TargetPlan(None, blockers)
    key = (REPAIR, 0, record.finished_at or 0, target.resource.name, target.name)
    reason = record.rollback_cause if record.rollback_to is not None else ""
    release = Release(version, kind, attempt, resolved, (result,), key, reason or kind)
    return TargetPlan(release, blockers)


def verdicts_of(state: State, target: Target, version: VersionNode, now: Instant) -> Iterator[GateResult]:
    """Every gate but the slots, in order; the caller stops where it likes. The way back from a version that was rejected
    has none but the freeze: what was good here once needs no approval, window or turn."""
    if version is candidates.rollback_version(state, target):
        yield gates.frozen(state, target, now)
        return
    clock: Instant | None = version.published_at
    waiting_for: list[str] = []
    for result in gates.of_version(state, target, version, now):
        if rules.TRAITS[result.kind].keeps_time:
            if not result.is_allowed:
                waiting_for.append(result.kind)
            elif result.verdict.satisfied_at is not None and clock is not None:
                clock = max(clock, result.verdict.satisfied_at)
        yield result
    if target.rules.of(DeploymentDependency):
        yield from dependencies_of(state, target, version, now)
    if target.rules.of(GradualRollout):
        yield from rollout_of(state, target, version, now, clock, waiting_for)
    yield from gates.of_moment(state, target, version, now)


def dependencies_of(state: State, target: Target, version: VersionNode, now: Instant) -> Iterator[GateResult]:
    for rule in target.rules.of(DeploymentDependency):
        if dependencies.names_only_itself(rule, target):
            continue
        skip = gates.skipped(state, rule, version, target, now)
        yield skip if skip is not None else dependencies.judge_outside(state, rule, target)


def rollout_of(
    state: State,
    target: Target,
    version: VersionNode,
    now: Instant,
    clock: Instant | None,
    waiting_for: list[str],
) -> Iterator[GateResult]:
    start = None if waiting_for else clock
    if start is not None and target.rules.of(DeploymentWindow):
        start = rollouts.shifted_by_windows(windows_for(state, target, version, now), start)
    for rule in target.rules.of(GradualRollout):
        skip = gates.skipped(state, rule, version, target, now) if state.skips_by_rule else None
        if skip is not None:
            yield skip
            continue
        behind, reasons = None, turn_wakes(target)
        if rule.spec.stop_after_failures is not None:
            stopped = breakers.rollout_stopped(state, rule, version, target)
            if stopped is not None:
                yield stopped
            reasons = (*reasons, *breakers.stop_wakes(rule, version))
        position, total = rollouts.position_of_target(target, version, rule.spec.group_by)
        if rule.spec.advance_on == "success":
            behind = rollouts.target_behind(state, target, version, rule, position, now)
            reasons = (*reasons, *rollouts.success_wakes(target))
        verdict = gradual_rollout.judge(
            rule.spec, position, total, start, now, " and ".join(waiting_for) or None, behind
        )
        yield GateResult(rule, rule.kind, verdict, reasons)


def turn_wakes(*targets: Target) -> tuple[Wake, ...]:
    """What moves a turn: the ranks, and skips of the windows that shift the rollout's clock."""
    topics = {wakes.RANKS: None}
    for target in targets:
        for rule in target.rules.of(DeploymentWindow):
            topics[wakes.skips(rule.id)] = None
    return tuple(topics)


def windows_for(
    state: State, target: Target, version: VersionNode, now: Instant
) -> tuple[BoundRule[DeploymentWindow], ...]:
    """Window rules that this target has to respect with this version."""
    return tuple(
        rule
        for rule in target.rules.of(DeploymentWindow)
        if (rule.spec.first_deployment != "bypass" or target.record.deployed is not None)
        and gates.skipped(state, rule, version, target, now) is None
    )


def _start_key(
    target: Target, version: VersionNode, judged: list[GateResult], *, is_repair: bool
) -> StartKey:
    """Repairs first, then in rollout order, else by the time at which the last gate was satisfied, then by name."""
    ready_at = max(
        (one.verdict.satisfied_at for one in judged if one.verdict.satisfied_at is not None),
        default=version.published_at,
    )
    position = 0
    for rule in target.rules.of(GradualRollout)[:1]:
        position, _ = rollouts.position_of_target(target, version, rule.spec.group_by)
    ready_at = max(ready_at, version.published_at)
    return (REPAIR if is_repair else NEW, position, ready_at, target.resource.name, target.name)


def denied_by_two_brackets(target: Target) -> GateResult | None:
    brackets = target.rules.of(DeploymentBracket)
    if len(brackets) < 2:
        return None
    names = " and ".join(f"{rule.policy.name}: {rule.label}" for rule in brackets)
    verdict = decisions.denied(
        Reason.MISCONFIGURED,
        f"two bracket rules apply to this target, allowed is one: {names}",
        brackets=[rule.policy.name for rule in brackets],
    )
    return GateResult(brackets[0], brackets[0].kind, verdict)
