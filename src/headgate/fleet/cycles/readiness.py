"""When a locked group may start: its turn, windows, gates, budgets, no freeze; slots are asked for last."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from headgate.fleet import rules
from headgate.fleet.cycles import ordering
from headgate.fleet.cycles.targets import turn_wakes, windows_for
from headgate.fleet.gates import breakers, gates, rollouts
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import Group, Member
from headgate.fleet.rules import gradual_rollout
from headgate.fleet.rules.deployment_window import DeploymentWindow
from headgate.fleet.rules.gradual_rollout import GradualRollout
from headgate.fleet.state import holds, wakes
from headgate.fleet.state.slots import SlotTable
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import NEW, REPAIR, BoundRule, Site, StartKey, Target, VersionNode
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant

Runner = tuple[Target, VersionNode]


class GroupStart(msgspec.Struct, frozen=True):
    """A group that may start, or go on after its slot was released, as soon as it has its slots."""

    group: Group
    judged: tuple[GateResult, ...]
    key: StartKey


def runners(state: State, site: Site, group: Group) -> list[Runner]:
    """Members that are going to run, with their locked versions."""
    runnable = []
    for member in group.members:
        version = state.version(member.version)
        target = site.members.get(member.deployment)
        if member.state in ("waiting", "retrying", "running") and version is not None and target is not None:
            runnable.append((target, version))
    return runnable


def start_of(state: State, site: Site, group: Group, now: Instant, blockers: Blockers) -> GroupStart | None:
    judged: list[GateResult] = []
    for result in verdicts_of(state, site, group, now):
        if not result.is_allowed:
            blockers.add(result)
            return None
        judged.append(result)
    if not _someone_can_begin(state, site, group, now, blockers):
        return None
    return GroupStart(group, tuple(judged), start_key(state, site, group))


def _someone_can_begin(state: State, site: Site, group: Group, now: Instant, blockers: Blockers) -> bool:
    """A group starts with its first job: if every member waits for another, it does not take its slots."""
    held_back: list[GateResult] = []
    for member in _to_run(site, group):
        refused = [o for o in ordering.verdicts_of(state, site, group, member, now) if not o.is_allowed]
        if not refused:
            return True
        held_back += refused
    for result in held_back:
        blockers.add(result)
    return False


def _to_run(site: Site, group: Group) -> list[Member]:
    """Without those whose target has left since the group was looked at last: whoever asks now may come first."""
    return [
        member
        for member in group.members
        if member.state == "waiting" and member.version is not None and member.deployment in site.members
    ]


def verdicts_of(state: State, site: Site, group: Group, now: Instant) -> Iterator[GateResult]:
    """Every gate of the start but the slots: each member that will run is asked for itself."""
    running = runners(state, site, group)
    yield from _own_jobs(state, site, group)
    yield from _denied_members(state, site, group, now)
    if not group.without_window:
        yield from rollout_verdicts(state, site, group, running, now)
    yield from moment_verdicts(state, site, group, running, now)
    for target, version in running:
        yield from ordering.verdicts_outside(state, site, group, target, version, now)


def joining_verdicts(
    state: State, site: Site, host: Group, group: Group, now: Instant
) -> Iterator[GateResult]:
    """Of a group that joins another one, which has prepared the resource: every gate of its start but its turn."""
    running = runners(state, site, group)
    yield from _denied_members(state, site, group, now)
    if not group.without_window:
        yield from _stops(state, running, now)
    yield from moment_verdicts(state, site, group, running, now)
    for target, version in running:
        yield from ordering.verdicts_outside(state, site, host, target, version, now)


def _stops(state: State, running: list[Runner], now: Instant) -> Iterator[GateResult]:
    """Lines of the members' versions that failures have stopped."""
    for target, version in running:
        for rule in target.rules.of(GradualRollout):
            stopped = breakers.rollout_stopped(state, rule, version, target)
            if stopped is not None and gates.skipped(state, rule, version, target, now) is None:
                yield stopped


def _own_jobs(state: State, site: Site, group: Group) -> Iterator[GateResult]:
    """Jobs from before the bracket, or of other cycles: nothing is prepared beside them."""
    for member in group.members:
        target = site.members.get(member.deployment)
        job = state.jobs.get(target.record.job or "") if target is not None else None
        if job is not None and job.group != group.id:
            since = instants.show_clock(job.started_at or job.created_at)
            verdict = decisions.pending(
                Reason.AWAITING_CYCLE,
                f"waits for {job.deployment} {job.tag}, whose own job is {job.status} since {since}",
            )
            yield GateResult(site.rule, site.rule.kind, verdict, (wakes.resource(site.resource.name),))


def _denied_members(state: State, site: Site, group: Group, now: Instant) -> Iterator[GateResult]:
    """Nothing is prepared that cannot be finished: what denies one member keeps all of them."""
    for member in _to_run(site, group):
        for result in (
            *_of_its_version(state, site, member, now),
            *ordering.verdicts_of(state, site, group, member, now),
        ):
            if result.verdict.outcome == "denied":
                message = (
                    f"nothing is prepared as long as {member.deployment} is denied: {result.verdict.message}"
                )
                yield GateResult(
                    result.rule, result.kind, decisions.denied(Reason.REJECTED, message), result.wakes
                )


def _of_its_version(state: State, site: Site, member: Member, now: Instant) -> Iterator[GateResult]:
    """Gates that let the version be locked may have come to deny it since. What runs needs none to run once more."""
    target, version = site.members[member.deployment], state.version(member.version)
    if version is None or member.kind not in ("deploy", "hook") or version.id == target.record.deployed:
        return
    yield from gates.of_version(state, target, version, now)


def moment_verdicts(
    state: State, site: Site, group: Group, running: list[Runner], now: Instant
) -> Iterator[GateResult]:
    """Every member that will run must pass; what several are told alike is said once.

    What judges each target is not asked about hooks: a hook changes with its next cycle, whatever the rollout is about. A
    cycle that only goes back is held neither by a gate nor by a budget that was spent: it is the repair.
    """
    is_repair_alone = _only_goes_back(site, group)
    seen: set[tuple[str, str]] = set()
    for target, version in running:
        for result in gates.of_moment(state, target, version, now):
            traits = rules.TRAITS[result.kind]
            if result is gates.NOT_FROZEN or (is_repair_alone and traits.lets_repairs_pass):
                continue
            if traits.is_of_each_target and _is_hook(group, target):
                continue
            key = (result.rule.id if result.rule is not None else result.kind, result.verdict.message)
            if traits.is_of_each_target or key not in seen:
                seen.add(key)
                yield result


def rollout_verdicts(
    state: State, site: Site, group: Group, running: list[Runner], now: Instant
) -> Iterator[GateResult]:
    """One position for the whole resource by rules of the bracket's policy, each member's own by the others."""
    clock = group.clock_start
    if clock is not None and any(target.rules.of(GradualRollout) for target, _ in running):
        clock = rollouts.shifted_by_windows(_windows(state, running, now), clock)
    asked: set[str] = set()
    for target, version in running:
        for rule in target.rules.of(GradualRollout):
            shared = rollouts.is_shared_by_bracket(rule, site)
            skip = gates.skipped(state, rule, version, target, now)
            if skip is not None:
                yield skip
                continue
            # A line is stopped by version, so each member is asked; the turn is that of the resource.
            stopped = breakers.rollout_stopped(state, rule, version, target)
            if stopped is not None:
                yield stopped
            if not shared and _is_hook(group, target):
                if stopped is None and rule.spec.stop_after_failures is not None:
                    verdict = decisions.allowed("a hook has no turn of its own, and the line is not stopped")
                    yield GateResult(rule, rule.kind, verdict, breakers.stop_wakes(rule, version))
                continue
            if shared and rule.id in asked:
                continue
            asked.add(rule.id)
            position, total = (
                site_position(state, site, group, rule.spec.group_by)
                if shared
                else rollouts.position_of_target(target, version, rule.spec.group_by)
            )
            concerned = _locked(state, group) if shared else [version]
            members = [target for target, _ in running]
            asked_about = [one for _, one in running] if shared else [version]
            behind, reasons = None, (*turn_wakes(*members), *breakers.stop_wakes(rule, *asked_about))
            if rule.spec.advance_on == "success":
                behind = rollouts.site_behind(state, site, concerned, rule, now)
                reasons = (*reasons, *rollouts.success_wakes(*members))
            verdict = gradual_rollout.judge(rule.spec, position, total, clock, now, None, behind)
            yield GateResult(rule, rule.kind, verdict, reasons)


def _is_hook(group: Group, target: Target) -> bool:
    member = group.member(target.deployment.name)
    return member is not None and member.role != "member"


def _windows(state: State, running: list[Runner], now: Instant) -> tuple[BoundRule[DeploymentWindow], ...]:
    windows: dict[str, BoundRule[DeploymentWindow]] = {}
    for target, version in running:
        for rule in windows_for(state, target, version, now):
            windows.setdefault(rule.id, rule)
    return tuple(windows.values())


def site_position(state: State, site: Site, group: Group, group_by: str | None = None) -> tuple[int, int]:
    return rollouts.position_of_site(state, site, _locked(state, group), group_by)


def _locked(state: State, group: Group) -> list[VersionNode]:
    """Versions of members, hooks aside, that are still to run."""
    return [
        version
        for member in group.members
        if member.role == "member"
        and member.state == "waiting"
        and (version := state.version(member.version)) is not None
    ]


def is_repair(site: Site, group: Group) -> bool:
    """A cycle that goes on after its slot was released, that goes back or deploys again, as ordered or because what runs was
    rejected, or that tries again what a person has asked for."""
    if group.started_at is not None:
        return True
    rollbacks_due = _rollbacks_due(site)
    return any(
        (group.without_window and _is_ordered(member))
        or member.version in rollbacks_due
        or _is_tried_again(site, member)
        for member in group.members
    )


def _is_tried_again(site: Site, member: Member) -> bool:
    target = site.members.get(member.deployment)
    return target is not None and member.state == "waiting" and member.version in target.record.tried_again


def _rollbacks_due(site: Site) -> set[str]:
    """Versions that are locked because what runs was rejected."""
    return {to for _, to in site.record.backs.values()}


def _only_goes_back(site: Site, group: Group) -> bool:
    rollbacks_due = _rollbacks_due(site)
    ahead = [one for one in group.members if one.role == "member" and one.state in ("waiting", "retrying")]
    return bool(ahead) and all(one.kind == "rollback" or one.version in rollbacks_due for one in ahead)


def _is_ordered(member: Member) -> bool:
    """In a group without a window, which nothing new has opened: what has changed its values is nobody's order."""
    return member.kind in ("deploy", "redeploy", "rollback") and member.version is not None


def start_key(state: State, site: Site, group: Group) -> StartKey:
    position = 0
    if not group.without_window and any(t.rules.of(GradualRollout) for t in site.members.values()):
        position, _ = site_position(state, site, group)
    rank = REPAIR if is_repair(site, group) else NEW
    return (rank, position, group.ready_at or group.created_at, site.resource.name, site.sort_key)


def active_targets(site: Site, group: Group) -> list[Target]:
    """Members that run in this group, hooks included."""
    return [
        site.members[member.deployment]
        for member in group.members
        if member.state not in ("unchanged", "dropped") and member.deployment in site.members
    ]


def tables_of(state: State, site: Site, group: Group) -> list[SlotTable]:
    """Every rule that covers the resource for any member of the group."""
    return holds.tables_for(state, active_targets(site, group))
