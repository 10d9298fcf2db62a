"""Which targets stand together in a site: they enter with their bracket rule, and leave when no cycle needs them."""

from __future__ import annotations

from headgate.fleet.model.records import Group, Member
from headgate.fleet.rules.deployment_bracket import DeploymentBracket
from headgate.fleet.state.state import State
from headgate.fleet.state.units import BoundRule, EnvironmentNode, ResourceNode, Site, Target


def enter(state: State, target: Target) -> None:
    rule = target.rules.bracket
    assert rule is not None
    key = (rule.id, target.environment.name, target.resource.name)
    site = state.sites.get(key)
    if site is None:
        site = _new_site(state, rule, target.environment, target.resource)
    site.rule = rule
    _join(state, site, target)
    state.waiting.forget(target)
    target.leave_lines()
    state.waiting.touch(site)


def _new_site(
    state: State, rule: BoundRule[DeploymentBracket], environment: EnvironmentNode, resource: ResourceNode
) -> Site:
    site = Site(state.bracket_of(rule.id), rule, environment, resource)
    state.sites[site.key] = site
    if site.record.lost_hooks is not None:
        state.journal.changed("place", *site.key)
    state.sites_by_rule.setdefault(rule.id, {})[site] = None
    return site


def _join(state: State, site: Site, target: Target) -> None:
    site.members[target.deployment.name] = target
    site.plan = None
    site.resource.order = None
    target.site = site
    if site.bracket.entered(target.deployment.name):
        state.forms_changed()


def leave(state: State, target: Target) -> None:
    """Coming back, it is a member like any other: what was locked here counts no more for it."""
    site = target.site
    if site is None:
        return
    target.site = None
    name = target.deployment.name
    del site.members[name]
    site.plan = None
    site.resource.order = None
    if site.bracket.left(name):
        state.forms_changed()
    if name in site.record.watermarks or name in site.record.backs:
        site.record.watermarks.pop(name, None)
        site.record.backs.pop(name, None)
        state.journal.changed("place", *site.key)
    state.waiting.touch(site)
    drop_if_empty(state, site)


def lingers(state: State, target: Target) -> bool:
    """A post-hook that a prepared resource still needs outlives its target; only a deleted resource is let go."""
    group = target.site.executing if target.site is not None else None
    member = group.member(target.deployment.name) if group is not None else None
    return (
        group is not None
        and member is not None
        and not member.left
        and member.role == "postHook"
        and member.state in ("waiting", "retrying", "running", "failed")
        and group.run_post_hooks
        and any(has_prepared(state, one) for one in group.members)
    )


def is_prepared(state: State, group: Group) -> bool:
    """The post-hooks run in any case; without pre-hooks there is nothing to wait for."""
    hooks = [member for member in group.members if member.role == "preHook"]
    return not hooks or any(has_prepared(state, member) for member in hooks)


def has_prepared(state: State, member: Member) -> bool:
    """A pre-hook whose job has succeeded, verified or not: the resource is as the job has left it."""
    job = state.jobs.get(member.job or "")
    is_done = member.state == "succeeded" or (job is not None and job.status == "successful")
    return member.role == "preHook" and is_done


def is_under_way(site: Site, target: Target) -> bool:
    """A cycle that has started goes on to its end, post-hooks included, whatever becomes of the rule."""
    member = site.executing.member(target.deployment.name) if site.executing is not None else None
    return member is not None and not member.left


def site_of_group(state: State, group: Group, rule: BoundRule[DeploymentBracket]) -> Site:
    """For loading: where the group is, also when its rule no longer makes that site."""
    key = (group.rule, group.environment, group.resource)
    site = state.sites.get(key)
    if site is None:
        environment, resource = state.environments[group.environment], state.resources[group.resource]
        site = _new_site(state, rule, environment, resource)
    return site


def stay(state: State, site: Site, target: Target) -> None:
    """For the end of a cycle, although its rules no longer say so."""
    leave(state, target)
    _join(state, site, target)


def drop_if_empty(state: State, site: Site) -> None:
    """A site without members and without groups is forgotten, and counts in the ranks no more; whoever comes later stands
    at a site of its own."""
    if not site.is_empty:
        return
    state.waiting.forget(site)
    site.leave_lines()
    if state.sites.get(site.key) is not site:
        return
    del state.sites[site.key]
    state.journal.changed("place", *site.key)
    state.sites_by_rule.get(site.rule.id, {}).pop(site, None)
    state.ranks_moved()
