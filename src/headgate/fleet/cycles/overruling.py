"""A person's skip of a dependency on a failed member: its dependents go on, as if the member had been skipped."""

from __future__ import annotations

from headgate.fleet.cycles import running
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import Group, Member
from headgate.fleet.rules.deployment_dependency import DeploymentDependency
from headgate.fleet.state import wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import BoundRule, Site
from headgate.kernel.instants import Instant


def let_dependents_go_on(state: State, site: Site, group: Group, now: Instant, blockers: Blockers) -> None:
    """Only a skip that names this resource and came after the failure speaks of it; any other was meant for order. One that
    names a version as well speaks of who waits with it here."""
    if group.phase != "forward":
        return
    failed = [member for member in group.members if member.state == "failed"]
    for member in failed:
        rules = _naming(site, group, member)
        blockers.watch(*(wakes.skips(rule_id) for rule_id in rules))
        if any(_is_skipped(state, site, group, rule, member, now) for rule in rules.values()):
            running.set_aside(state, site, member, "skipped", now)
            state.journal.changed("group", group.id)
    if not failed or any(member.state == "failed" for member in failed):
        return
    group.failed_at = None
    group.stuck = False
    state.group_changed(group, "executing", now)


def _naming(site: Site, group: Group, failed: Member) -> dict[str, BoundRule[DeploymentDependency]]:
    """The dependency rules by which others of the group wait for the failed member."""
    target = site.members.get(failed.deployment)
    rules: dict[str, BoundRule[DeploymentDependency]] = {}
    for member in group.members:
        dependent = site.members.get(member.deployment)
        if target is None or dependent is None or member is failed:
            continue
        for rule in dependent.rules.of(DeploymentDependency):
            if rule.is_upstream(target):
                rules[rule.id] = rule
    return rules


def _is_skipped(
    state: State,
    site: Site,
    group: Group,
    rule: BoundRule[DeploymentDependency],
    failed: Member,
    now: Instant,
) -> bool:
    waiting = {
        member.version
        for member in group.members
        if (target := site.members.get(member.deployment)) is not None
        and any(one is rule for one in target.rules.of(DeploymentDependency))
    }
    return any(
        skip.resource == site.resource.name
        and skip.version_id in (None, *waiting)
        and skip.environment in (None, site.environment.name)
        and not skip.is_over(now)
        and skip.created_at >= (failed.settled_at or 0)
        for skip in state.skips_by_rule.get(rule.id, {}).values()
    )
