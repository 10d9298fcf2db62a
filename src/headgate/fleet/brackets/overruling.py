"""A person's skip of a dependency on a failed member: its dependents go on, as if the member had been skipped."""

from __future__ import annotations

from headgate.fleet import wakes
from headgate.fleet.brackets import running
from headgate.fleet.hindrances import Hindrance
from headgate.fleet.records import Group, Member
from headgate.fleet.state import State
from headgate.fleet.units import BoundRule, Place
from headgate.kernel.instants import Instant


def let_dependents_go_on(
    state: State, place: Place, group: Group, now: Instant, hindrance: Hindrance
) -> None:
    """Only a skip that names this resource and came after the failure speaks of it; any other was meant for order."""
    if group.phase != "forward":
        return
    failed = [member for member in group.members if member.state == "failed"]
    for member in failed:
        rules = _naming(place, group, member)
        hindrance.wakes.extend(wakes.skips(rule_id) for rule_id in rules)
        if any(_is_skipped(state, place, rule, member, now) for rule in rules.values()):
            running.settle(member, "skipped", now)
            state.journal.changed("group", group.id)
    if not failed or any(member.state == "failed" for member in failed):
        return
    group.failed_at = None
    group.stuck = False
    state.group_changed(group, "executing", now)


def _naming(place: Place, group: Group, failed: Member) -> dict[str, BoundRule]:
    """The dependency rules by which others of the group wait for the failed member."""
    target = place.members.get(failed.deployment)
    found: dict[str, BoundRule] = {}
    for member in group.members:
        dependent = place.members.get(member.deployment)
        if target is None or dependent is None or member is failed:
            continue
        for rule in dependent.rules.of("deploymentDependency"):
            if rule.is_upstream(target):
                found[rule.id] = rule
    return found


def _is_skipped(state: State, place: Place, rule: BoundRule, failed: Member, now: Instant) -> bool:
    return any(
        skip.resource == place.resource.name
        and skip.environment in (None, place.environment.name)
        and not skip.is_over(now)
        and skip.created_at >= (failed.settled_at or 0)
        for skip in state.skips_by_rule.get(rule.id, {}).values()
    )
