"""The state of a target, in the one word that explain, status, lists, events and the simulator share."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.fleet.cycles import collecting, group_rollbacks, shape, targets
from headgate.fleet.gates import gates
from headgate.fleet.model.objects import TargetState
from headgate.fleet.model.records import Group, Member
from headgate.fleet.state import candidates, rollbacks, variables
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel.instants import Instant

ORDERED_BY = "ordered by"
"""How the cause of a rollback begins that a person wanted."""
STILL_TO_RUN = frozenset({"waiting", "retrying", "running"})

CANDIDATES_AT_MOST = 20
"""More versions than these are not told of one by one."""


def of_target(state: State, target: Target, now: Instant) -> TargetState:
    record = target.record
    job = state.jobs.get(record.job or "")
    if job is not None:
        return "rollingBack" if job.kind == "rollback" else "running"
    if record.verification == "running" and record.failed_at is None:
        return "verifying"
    if is_going_back(state, target):
        return _held(state, target, now)
    if has_failed(state, target):
        return "failed"
    if _has_work(state, target, now):
        return _held(state, target, now)
    if rolled_back_version(state, target) is not None:
        return "rolledBack"
    if record.deployed is not None:
        return "waiting" if is_stranded(state, target) else "upToDate"
    return "waiting" if any(True for _ in candidates.newest_first(target)) else "noVersion"


def _held(state: State, target: Target, now: Instant) -> TargetState:
    return "frozen" if gates.frozen(state, target, now) is not gates.NOT_FROZEN else "waiting"


def is_going_back(state: State, target: Target) -> bool:
    """Its rollback is ordered, or its group puts it back, and its turn has not come."""
    _, member = group_and_member(target)
    if member is not None and member.kind == "rollback" and member.state in STILL_TO_RUN:
        return True
    return target.record.rollback_to is not None or is_put_back_by_its_group(state, target)


def is_put_back_by_its_group(state: State, target: Target) -> bool:
    site = target.site
    group = site.executing if site is not None else None
    if site is None or group is None or group.phase != "rollingBack":
        return False
    over = {"rolledBack", "failed"} if group.status == "failed" else {"rolledBack"}
    return any(
        member.deployment == target.deployment.name and member.state not in over
        for member in group_rollbacks.affected(state, site, group)
    )


def has_failed(state: State, target: Target) -> bool:
    """The newest release failed for good: a person or a newer version moves it. Not where a person has let its group try
    it again, and its turn has not come."""
    if is_tried_again(target):
        return False
    if target.record.failed_at is not None:
        return True
    group, member = group_and_member(target)
    if group is not None and member is not None and member.state == "failed":
        return True
    newest = next(targets.contenders(state, target), None)
    if newest is None or newest.id == target.record.deployed:
        return False
    return targets.has_failed(target, newest, variables.resolve(state, target))


def is_tried_again(target: Target) -> bool:
    """Its part in the group that executes is still to run, whatever has become of it before."""
    group, member = group_and_member(target)
    if group is None or member is None or group.status != "executing":
        return False
    return member.state in STILL_TO_RUN


def _has_work(state: State, target: Target, now: Instant) -> bool:
    record = target.record
    if _is_to_run(target):
        return True
    if record.retry_at is not None or record.ordered or rollbacks.given_up(state, target) is not None:
        return True
    if any(not gates.is_kept_away(state, target, version, now) for version in ahead_of(state, target)):
        return True
    return has_changed_values(state, target)


def _is_to_run(target: Target) -> bool:
    """In any group of its site: one may wait behind another in which the target is done."""
    if target.site is None:
        return False
    members = (group.member(target.deployment.name) for group in target.site.groups())
    return any(member is not None and member.state in STILL_TO_RUN for member in members)


def has_changed_values(state: State, target: Target) -> bool:
    """A new release of the version that runs is to come. A hook takes its values with the next cycle, and what was
    rejected starts nowhere any more."""
    record = target.record
    if record.deployed is None or variables.are_same(
        record.deployed_variables, variables.resolve(state, target)
    ):
        return False
    site = target.site
    if site is None or not site.is_home_of(target):
        return any(version.id == record.deployed for version in targets.contenders(state, target))
    version = state.version(record.deployed)
    is_hook = target.deployment.name in shape.of_site(site).hooks
    return not is_hook and version is not None and not version.is_rejected


def group_and_member(target: Target) -> tuple[Group | None, Member | None]:
    """The unfinished group that is furthest on its way and concerns the target, and its part in it."""
    if target.site is None:
        return None, None
    fallback = None
    for group in target.site.groups():
        member = group.member(target.deployment.name)
        if member is not None and member.state not in ("unchanged", "dropped"):
            return group, member
        fallback = fallback or group
    return fallback, fallback.member(target.deployment.name) if fallback is not None else None


def ahead_of(state: State, target: Target) -> Iterator[VersionNode]:
    """Candidates that would replace what runs: what a bracket may lock, else every contender."""
    site = target.site
    if site is not None and site.is_home_of(target):
        if target.deployment.name not in shape.of_site(site).hooks:
            yield from collecting.lockable_versions(state, target)
        return
    for version in targets.contenders(state, target):
        if version.id == target.record.deployed:
            return
        yield version


def rolled_back_version(state: State, target: Target) -> VersionNode | None:
    """The newest version in scope, if it was put back here and nothing newer than it runs."""
    if not target.record.rolled_back:
        return None
    newest = next(candidates.newest_first(target), None)
    deployed = candidates.deployed_version(state, target)
    if newest is None or newest.id not in target.record.rolled_back:
        return None
    return newest if deployed is None or deployed.sort_key < newest.sort_key else None


def is_stranded(state: State, target: Target) -> bool:
    """What runs was rejected and is to go back, and nothing is left to go to: only a newer version moves it. A hook takes
    another one with its next cycle."""
    deployed = candidates.deployed_version(state, target)
    if deployed is None or not deployed.goes_back or candidates.last_good(state, target) is not None:
        return False
    site = target.site
    return site is None or target.deployment.name not in shape.of_site(site).hooks


def is_asked_for(state: State, target: Target, version: VersionNode, now: Instant) -> bool:
    """In scope here, and no rule keeps it away."""
    return candidates.in_scope(version, target) and not gates.is_kept_away(state, target, version, now)


def is_back_by_order(state: State, target: Target) -> bool:
    """A person put the newest version back: what was asked for last runs here."""
    version = rolled_back_version(state, target)
    return version is not None and target.record.rolled_back[version.id].startswith(ORDERED_BY)
