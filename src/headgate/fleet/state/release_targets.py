"""Which release targets there are: a deployment on every resource that it and an environment both match.

A target that is no longer wanted while a cycle runs with it lingers at its site until the cycle has ended.
"""

from __future__ import annotations

from headgate.fleet.model import records
from headgate.fleet.state import departing, membership, rule_binding, wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import DeploymentNode, EnvironmentNode, Pair, ResourceNode, Site, Target


def note_match(node: EnvironmentNode | DeploymentNode, resource: ResourceNode) -> None:
    own = "environment" if isinstance(node, EnvironmentNode) else "deployment"
    if node.selector is not None and node.selector.matches({"resource": resource.view, own: node.view}):
        node.matched.add(resource.name)
    else:
        node.matched.discard(resource.name)


def rematch(
    state: State,
    node: EnvironmentNode | DeploymentNode,
    pairs: list[tuple[DeploymentNode, EnvironmentNode]],
) -> None:
    own = "environment" if isinstance(node, EnvironmentNode) else "deployment"
    node.matched = (
        set(state.index.select(node.selector, {own: node.view})) if node.selector is not None else set()
    )
    for deployment, environment in pairs:
        pair = deployment.pairs.get(environment.name)
        wanted = _wanted(deployment, environment)
        for target in [t for t in (pair.targets.values() if pair else ()) if t.resource.name not in wanted]:
            remove(state, target)
        for name in sorted(wanted):
            settle(state, deployment, environment, state.resources[name])
        if pair is not None:
            membership_changed(state, pair)
            for target in pair.targets.values():
                rule_binding.bind(state, target)
                state.touch(target)
    rule_binding.bind_lingering(state)
    state.ranks_moved()


def _wanted(deployment: DeploymentNode, environment: EnvironmentNode) -> set[str]:
    if not set(deployment.object.systems) & set(environment.object.systems):
        return set()
    return deployment.matched & environment.matched


def settle(
    state: State, deployment: DeploymentNode, environment: EnvironmentNode, resource: ResourceNode
) -> None:
    name = f"{deployment.name}/{environment.name}/{resource.name}"
    wanted = (
        resource.name in deployment.matched
        and resource.name in environment.matched
        and not set(deployment.object.systems).isdisjoint(environment.object.systems)
    )
    target = state.targets.get(name)
    if wanted and target is None:
        _add_target(state, deployment, environment, resource)
    elif not wanted and target is not None:
        remove(state, target)


def _add_target(
    state: State, deployment: DeploymentNode, environment: EnvironmentNode, resource: ResourceNode
) -> None:
    pair = deployment.pairs.get(environment.name)
    if pair is None:
        pair = deployment.pairs[environment.name] = Pair(deployment, environment)
    name = f"{deployment.name}/{environment.name}/{resource.name}"
    target = Target(
        pair, resource, rule_binding.NO_RULES, departing.come_back(state, name, deployment, resource)
    )
    state.targets[target.name] = target
    pair.targets[resource.name] = target
    resource.targets[target.name] = target
    resource.order = None
    membership_changed(state, pair)
    lingering = state.lingering.pop(name, None)
    if lingering is not None and lingering.site is not None:
        site = lingering.site
        membership.leave(state, lingering)
        membership.stay(state, site, target)
        state.target_changed(target)
    rule_binding.bind(state, target)
    state.touch(target)
    declarations_changed(state, resource)
    # Others on the resource may depend on it, and it may know what runs there from before.
    state.waiting.happened(wakes.resource(resource.name))


def remove(state: State, target: Target) -> None:
    """Its live job is cancelled by whoever applies the change and knows when; nothing of it is left here.

    Unless it lingers: then it is no target any more, but stays at its site until the cycle there has ended.
    """
    state.departed[target.name] = target.record
    if membership.lingers(state, target):
        state.lingering[target.name] = target
    else:
        state.removed.append((target, target.site))
        membership.leave(state, target)
    state.waiting.forget(target)
    target.leave_lines()
    del state.targets[target.name]
    del target.pair.targets[target.resource.name]
    del target.resource.targets[target.name]
    target.resource.order = None
    declarations_changed(state, target.resource)
    state.unfinished.discard(target.name)
    state.waiting.happened(wakes.resource(target.resource.name))
    membership_changed(state, target.pair)
    if not target.pair.targets:
        target.deployment.pairs.pop(target.environment.name, None)
    state.journal.changed("target", target.name)
    if target.name in state.lingering:
        rule_binding.bind(state, target)


def declarations_changed(state: State, resource: ResourceNode) -> None:
    """Which deployments a resource's variables reach depends on who declares their keys."""
    if resource.object.variables:
        for target in resource.targets.values():
            state.touch(target)


def membership_changed(state: State, pair: Pair) -> None:
    """Ranks, scopes and success percentages of the deployment's versions are counted anew."""
    pair.membership_changed()
    state.shares_moved(pair.deployment.name)
    state.waiting.happened(wakes.pair(pair.deployment.name, pair.environment.name))


def release_members(state: State, site: Site) -> None:
    """After a cycle: members that only stayed for its end go where their rules say, or are gone; ranks close up."""
    only_stayed = [
        target
        for target in site.members.values()
        if target.name in state.lingering or not site.is_home_of(target)
    ]
    for target in only_stayed:
        if target.name in state.lingering:
            _let_go(state, target)
        else:
            membership.leave(state, target)
            rule_binding.bind(state, target)
            state.rebound.pop(target, None)
            state.touch(target)
    if only_stayed:
        state.ranks_moved()


def _let_go(state: State, target: Target) -> None:
    """It has lingered for long enough."""
    del state.lingering[target.name]
    membership.leave(state, target)
    for job_id in target.record.attempts:
        state.forget_job(job_id)
    target.record.attempts = []
    target.record.retry_at = None
    state.journal.changed("target", target.name)


def keep_members(state: State, site: Site, group: records.Group) -> None:
    """For loading: members that stay for the end of a cycle although their rules, or their selectors, say otherwise."""
    for member in group.members:
        if member.left:
            continue
        name = f"{member.deployment}/{group.environment}/{group.resource}"
        target = state.targets.get(name)
        if target is None and member.deployment in state.deployments:
            deployment = state.deployments[member.deployment]
            pair = Pair(deployment, site.environment)
            target = state.lingering[name] = Target(
                pair, site.resource, rule_binding.NO_RULES, state.departed[name]
            )
        if target is not None and target.site is not site:
            membership.stay(state, site, target)
            rule_binding.bind(state, target)
