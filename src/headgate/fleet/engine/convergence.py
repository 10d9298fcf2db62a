"""Whether everything is where it should be, and what each target that is not waits for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headgate.fleet.cycles import collecting, giving_up, shape, targets
from headgate.fleet.engine import target_states
from headgate.fleet.gates import gates
from headgate.fleet.model.records import MEMBER_SETTLED
from headgate.fleet.state import rollbacks, variables
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site, Target, VersionNode
from headgate.kernel import instants
from headgate.kernel.instants import Instant


def is_converged(state: State, now: Instant) -> bool:
    """A window that collects only what is denied keeps nobody waiting; every other unfinished group does."""
    if state.unfinished or state.measuring:
        return False
    if any(group.status != "collecting" for group in state.groups.values()):
        return False
    return not any(_has_something_ahead(state, target, now) for target in state.targets.values())


def unconverged(state: State, now: Instant, names: Iterable[str] | None = None) -> Iterator[tuple[str, str]]:
    """Of all targets, or of those that are named."""
    unsettled = (
        {**state.targets, **state.lingering} if names is None else {one: state.targets[one] for one in names}
    )
    for name, target in sorted(unsettled.items()):
        if (
            target.name in state.unfinished
            or _is_in_unfinished_group(target)
            or _has_something_ahead(state, target, now)
        ):
            yield name, waits_for(state, target)


def _is_in_unfinished_group(target: Target) -> bool:
    """Still to run, or failed, in a group that has locked it; what a window collects is ahead, not in a group."""
    if target.site is None:
        return False
    members = (group.member(target.deployment.name) for group in target.site.groups())
    return any(member is not None and member.state not in MEMBER_SETTLED for member in members)


def _is_at_fault(state: State, target: Target) -> bool:
    """What was tried last has failed for good, or what runs is bad and nothing is left to go back to, or a cycle has given
    up the way back."""
    return (
        target.record.failed_at is not None
        or target_states.is_stranded(state, target)
        or rollbacks.given_up(state, target) is not None
    )


def _has_something_ahead(state: State, target: Target, now: Instant) -> bool:
    """A candidate that is not denied and does not run yet; a hook's new version waits for a cycle and does not count.
    Nor is anything converged that is at fault, whatever has become of the version or the rule that found it out."""
    if _is_at_fault(state, target):
        return True
    if target.site is not None and target.site.is_home_of(target):
        return _has_something_ahead_in_bracket(state, target.site, target, now)
    if targets.denied_by_two_brackets(target) is not None:
        return False
    resolved = variables.resolve(state, target)
    for version in targets.contenders(state, target):
        if version.id == target.record.deployed:
            is_denied = targets.denied_by_two_brackets(target) is not None
            return not variables.are_same(target.record.deployed_variables, resolved) and not is_denied
        if targets.has_failed(target, version, resolved):
            return True
        if all(one.verdict.outcome != "denied" for one in targets.verdicts_of(state, target, version, now)):
            return True
    return False


def _has_something_ahead_in_bracket(state: State, site: Site, target: Target, now: Instant) -> bool:
    """Also what a group gave up: it is still to run. What failed for good is a fault that is not over."""
    if target.deployment.name in shape.of_site(site).hooks:
        return False
    if giving_up.values_of(state, target) is not None or target_states.has_changed_values(state, target):
        return True
    lockable = collecting.lockable_versions(state, target)
    if any(not _is_denied_in_bracket(state, target, version, now) for version in lockable):
        return True
    return not lockable and _newest_has_failed(state, target)


def _is_denied_in_bracket(state: State, target: Target, version: VersionNode, now: Instant) -> bool:
    return any(one.verdict.outcome == "denied" for one in gates.of_version(state, target, version, now))


def _newest_has_failed(state: State, target: Target) -> bool:
    newest = next(targets.contenders(state, target), None)
    return newest is not None and targets.has_failed(target, newest, variables.resolve(state, target))


def is_passed_over(state: State, target: Target) -> bool:
    """What is newer than what runs opens no window, and no group is there that would lock it."""
    site = target.site
    if site is None or any(site.groups()) or target.deployment.name in shape.of_site(site).hooks:
        return False
    return bool(collecting.passed_over(state, site, target))


def waits_for(state: State, target: Target) -> str:
    """The time or event that wakes the target; empty if there is none, which must not be."""
    record = target.record
    if record.job is not None:
        return f"job {record.job}"
    if (
        _is_at_fault(state, target)
        or record.given_up
        or giving_up.values_of(state, target) is not None
        or _newest_has_failed(state, target)
        or is_passed_over(state, target)
    ):
        return "an operator, or a newer version"
    if target.site is None and targets.denied_by_two_brackets(target) is not None:
        return "an operator, who leaves it to one bracket rule"
    unit = state.unit_of(target)
    parts = [" ".join(reason) for reason in unit.waits]
    if unit.requeue_at is not None:
        parts.append(f"until {instants.show_to_the_second(unit.requeue_at)}")
    if unit.start_key is not None:
        parts.append("a slot")
    if target.site is not None and target.site.executing is not None:
        parts.append(f"group {target.site.executing.id}")
    if record.verification == "running":
        parts.append("verification")
    return ", ".join(parts)
