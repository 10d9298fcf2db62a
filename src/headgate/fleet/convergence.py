"""Whether everything is where it should be, and what each target that is not waits for."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.fleet import gates, targets, variables
from headgate.fleet.brackets import collecting
from headgate.fleet.records import MEMBER_SETTLED
from headgate.fleet.state import State
from headgate.fleet.units import Target, VersionNode
from headgate.kernel import instants
from headgate.kernel.instants import Instant


def is_converged(state: State, now: Instant) -> bool:
    """A window that collects only what is denied keeps nobody waiting; every other unfinished group does."""
    if state.unfinished or state.measuring:
        return False
    if any(group.status != "collecting" for group in state.groups.values()):
        return False
    return not any(_has_something_ahead(state, target, now) for target in state.targets.values())


def unconverged(state: State, now: Instant) -> Iterator[tuple[str, str]]:
    for name in sorted(state.targets):
        target = state.targets[name]
        if (
            target.name in state.unfinished
            or _is_in_unfinished_group(target)
            or _has_something_ahead(state, target, now)
        ):
            yield name, waits_for(state, target, now)


def _is_in_unfinished_group(target: Target) -> bool:
    """Still to run, or failed, in a group that has locked it; what a window collects is ahead, not in a group."""
    if target.place is None:
        return False
    members = (group.member(target.deployment.name) for group in target.place.groups())
    return any(member is not None and member.state not in MEMBER_SETTLED for member in members)


def _has_something_ahead(state: State, target: Target, now: Instant) -> bool:
    """A candidate that is not denied and does not run yet; a hook's new version waits for a cycle and does not count."""
    if target.place is not None:
        fresh = collecting.fresh_versions(state, target.place, now).get(target.deployment.name, [])
        return any(not _is_denied_in_bracket(state, target, version, now) for version in fresh)
    resolved = variables.resolve(state, target)
    for version in targets.contenders(state, target, now):
        if version.id == target.record.deployed:
            return target.record.deployed_variables != resolved
        if targets.has_failed(target, version, resolved):
            return True
        if targets.denied_by_two_brackets(target) is not None:
            return False
        if all(one.verdict.outcome != "denied" for one in targets.verdicts_of(state, target, version, now)):
            return True
    return False


def _is_denied_in_bracket(state: State, target: Target, version: VersionNode, now: Instant) -> bool:
    return any(one.verdict.outcome == "denied" for one in gates.of_version(state, target, version, now))


def _newest_has_failed(state: State, target: Target, now: Instant) -> bool:
    newest = next(targets.contenders(state, target, now), None) if target.place is None else None
    return newest is not None and targets.has_failed(target, newest, variables.resolve(state, target))


def waits_for(state: State, target: Target, now: Instant) -> str:
    """The time or event that wakes the target; empty if there is none, which must not be."""
    record = target.record
    if record.job is not None:
        return f"job {record.job}"
    if record.failed_at is not None or _newest_has_failed(state, target, now):
        return "an operator, or a newer version"
    unit = state.unit_of(target)
    parts = [" ".join(reason) for reason in unit.waits]
    if unit.wake_at is not None:
        parts.append(f"until {instants.show_to_the_second(unit.wake_at)}")
    if unit.start_key is not None:
        parts.append("a slot")
    if target.place is not None and target.place.executing is not None:
        parts.append(f"group {target.place.executing.id}")
    if record.verification == "running":
        parts.append("verification")
    return ", ".join(parts)
