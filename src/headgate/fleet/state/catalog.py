"""Keeps the derived fleet in step with its objects: release targets, the rules that match them, places, slots.

An object that changes touches the targets it can affect and no others.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable

from headgate.fleet.model import kinds, records
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.fleet.state import departing, holds, membership, skips, votes, wakes
from headgate.fleet.state.slots import RuleSlots
from headgate.fleet.state.state import State
from headgate.fleet.state.units import (
    BoundRule,
    DeploymentNode,
    EnvironmentNode,
    Pair,
    PolicyNode,
    ResourceNode,
    RuleSet,
    Site,
    Target,
    VersionNode,
    optional_selector,
)


def put_resource(state: State, resource: model.Resource) -> None:
    node = state.resources.get(resource.name)
    if node is not None:
        state.identifiers.pop(node.object.identifier or node.name, None)
    state.identifiers[resource.identifier or resource.name] = resource.name
    if node is None:
        node = state.resources[resource.name] = ResourceNode(resource)
    else:
        node.object = resource
        node.view = resource.cel_view()
        node.values.clear()
    state.index.put(resource.name, node.view)
    for slots in state.slots.values():
        left = slots.place(node)
        if left is not None:
            holds.leave(state, left, node.name)
        state.waiting.happened(wakes.slots(slots.rule.id))
    kept = list(node.targets.values())
    for environment in state.environments.values():
        _note_match(environment, node)
    for deployment in state.deployments.values():
        _note_match(deployment, node)
        for environment in state.environments.values():
            _settle_target(state, deployment, environment, node)
    node.upstreams.clear()
    for target in kept:
        if target.name in state.targets:
            target.hash_prefix = None
            _membership_changed(state, target.pair)
            _bind_rules(state, target)
            state.touch(target)
    _bind_lingering(state)
    state.ranks_moved()


def remove_resource(state: State, node: ResourceNode) -> None:
    for target in list(node.targets.values()):
        _remove_target(state, target)
    for target in [one for one in state.lingering.values() if one.resource is node]:
        del state.lingering[target.name]
        state.removed.append((target, target.site))
        membership.leave(state, target)
    state.index.remove(node.name)
    for slots in state.slots.values():
        left = slots.remove(node.name)
        if left is not None:
            holds.leave(state, left, node.name)
    for environment in state.environments.values():
        environment.matched.discard(node.name)
    for deployment in state.deployments.values():
        deployment.matched.discard(node.name)
    state.identifiers.pop(node.object.identifier or node.name, None)
    del state.resources[node.name]
    state.ranks_moved()


def put_plain(state: State, thing: Object) -> None:
    """What is kept by its name and binds nothing by being there; one with a selector is kept with it, ready to ask."""
    kept = state.kept(kinds.of(thing))
    if isinstance(thing, model.VariableSet | model.Freeze):
        kept[thing.name] = (thing, optional_selector(thing.selector))
    else:
        kept[thing.name] = thing


def put_environment(state: State, environment: model.Environment) -> None:
    node = state.environments.get(environment.name)
    if node is None:
        node = state.environments[environment.name] = EnvironmentNode(environment)
    else:
        node.put(environment)
    _rematch(state, node, [(deployment, node) for deployment in state.deployments.values()])


def put_deployment(state: State, deployment: model.Deployment) -> None:
    node = state.deployments.get(deployment.name)
    if node is None:
        node = state.deployments[deployment.name] = DeploymentNode(deployment)
    else:
        node.put(deployment)
    state.rule_sets.clear()
    state.forms_changed()
    _rematch(state, node, [(node, environment) for environment in state.environments.values()])
    for target in node.targets():
        _bind_rules(state, target)
        _declarations_changed(state, target.resource)


def remove_pairs(state: State, pairs: Iterable[Pair]) -> None:
    for target in [target for pair in pairs for target in pair.targets.values()]:
        _remove_target(state, target)
    state.ranks_moved()


def put_version(state: State, version: model.Version) -> VersionNode:
    node = VersionNode(version)
    deployment = state.deployments[version.deployment]
    deployment.versions = [v for v in deployment.versions if v.id != version.id]
    bisect.insort(deployment.versions, node, key=lambda v: v.order)
    state.versions[version.id] = node
    for target in deployment.targets():
        state.touch(target)
    for pair in deployment.pairs.values():
        pair.caches.clear()
    return node


def remove_version(state: State, node: VersionNode) -> None:
    """What people said of it ends with it, and whatever gets its tag later gets another id."""
    state.sequence += 1
    votes.end(state, node.id)
    skips.end_for_version(state, node.id)
    deployment = state.deployments[node.object.deployment]
    deployment.versions.remove(node)
    del state.versions[node.id]
    state.progress.pop(node.id, None)
    state.verified.pop(node.id, None)
    for rule_id, scope in [key for key in state.breakers if key[1] == node.id]:
        del state.breakers[(rule_id, scope)]
        state.journal.changed("latch", rule_id, scope)
    state.journal.changed("Version", f"{deployment.name}/{node.tag}")
    state.journal.changed("gone", node.id)
    for target in deployment.targets():
        state.touch(target)


def put_policy(state: State, policy: model.Policy) -> None:
    """Of one that is switched off, what goes on goes on as it was when it was on, however it is edited meanwhile."""
    node = PolicyNode(policy)
    old = state.policies.get(policy.name)
    state.policies[policy.name] = node
    for rule in node.rules if policy.enabled else ():
        for site in state.sites_by_rule.get(rule.id, ()) if rule.kind == "deploymentBracket" else ():
            site.rule = rule
    for rule in node.rules:
        if rule.kind == "resourceConcurrency":
            _put_slots(state, rule)
    _policies_changed(state, node, *((old,) if old is not None else ()))


def remove_policy(state: State, node: PolicyNode) -> None:
    del state.policies[node.object.name]
    state.journal.changed("gonePolicy", node.object.id)
    _policies_changed(state, node)


def _put_slots(state: State, rule: BoundRule) -> None:
    """Whoever held a slot of the rule as it was holds one as it is, where it is still in a group."""
    slots = RuleSlots(rule)
    members = sorted(state.index.select(rule.selector(rule.spec.group_selector)))
    slots.place_all(state.resources[name] for name in members)
    old = state.slots.get(rule.id)
    state.slots[rule.id] = slots
    for table in old.tables() if old is not None else ():
        for resource in list(table.holders):
            group = slots.table_of(resource)
            if group is None:
                holds.leave(state, table, resource)
            else:
                group.holders[resource] = table.holders[resource]


def _forget_skips(state: State, rule_id: str) -> None:
    """What skipped a rule that is gone must not skip another rule that gets its id."""
    for skip_id in state.skips_by_rule.pop(rule_id, {}):
        del state.skips[skip_id]
        state.journal.changed("skip", skip_id)


def _policies_changed(state: State, *nodes: PolicyNode) -> None:
    """Binds anew what the policy matches now or matched before; slots of rules that are gone go with them."""
    state.rule_sets.clear()
    state.shared.clear()
    state.forms_changed()
    for deployment in state.deployments.values():
        if any(_may_concern(node, deployment) for node in nodes):
            for target in deployment.targets():
                _bind_rules(state, target)
    _bind_lingering(state)
    live = {(rule.id, rule.kind) for policy in state.policies.values() for rule in policy.rules}
    for rule_id in [rule_id for rule_id in state.slots if (rule_id, "resourceConcurrency") not in live]:
        del state.slots[rule_id]
    for rule in (rule for node in nodes for rule in node.rules):
        if (rule.id, rule.kind) not in live:
            _forget_skips(state, rule.id)
    state.ranks_moved()


def _bind_lingering(state: State) -> None:
    for target in state.lingering.values():
        _bind_rules(state, target)


def _may_concern(node: PolicyNode, deployment: DeploymentNode) -> bool:
    return not node.reads_only_the_deployment() or node.matches({"deployment": deployment.view})


def _note_match(node: EnvironmentNode | DeploymentNode, resource: ResourceNode) -> None:
    own = "environment" if isinstance(node, EnvironmentNode) else "deployment"
    if node.selector is not None and node.selector.matches({"resource": resource.view, own: node.view}):
        node.matched.add(resource.name)
    else:
        node.matched.discard(resource.name)


def _rematch(
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
            _remove_target(state, target)
        for name in sorted(wanted):
            _settle_target(state, deployment, environment, state.resources[name])
        if pair is not None:
            _membership_changed(state, pair)
            for target in pair.targets.values():
                _bind_rules(state, target)
                state.touch(target)
    _bind_lingering(state)
    state.ranks_moved()


def _wanted(deployment: DeploymentNode, environment: EnvironmentNode) -> set[str]:
    if not set(deployment.object.systems) & set(environment.object.systems):
        return set()
    return deployment.matched & environment.matched


def _settle_target(
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
        _remove_target(state, target)


def _add_target(
    state: State, deployment: DeploymentNode, environment: EnvironmentNode, resource: ResourceNode
) -> None:
    pair = deployment.pairs.get(environment.name)
    if pair is None:
        pair = deployment.pairs[environment.name] = Pair(deployment, environment)
    name = f"{deployment.name}/{environment.name}/{resource.name}"
    target = Target(pair, resource, NO_RULES, departing.come_back(state, name, deployment, resource))
    state.targets[target.name] = target
    pair.targets[resource.name] = target
    resource.targets[target.name] = target
    resource.upstreams.clear()
    _membership_changed(state, pair)
    lingering = state.lingering.pop(name, None)
    if lingering is not None and lingering.site is not None:
        site = lingering.site
        membership.leave(state, lingering)
        membership.stay(state, site, target)
        state.target_changed(target)
    _bind_rules(state, target)
    state.touch(target)
    _declarations_changed(state, resource)


def _declarations_changed(state: State, resource: ResourceNode) -> None:
    """Which deployments a resource's variables reach depends on who declares their keys."""
    if resource.object.variables:
        for target in resource.targets.values():
            state.touch(target)


def _remove_target(state: State, target: Target) -> None:
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
    target.resource.upstreams.clear()
    _declarations_changed(state, target.resource)
    state.unfinished.discard(target.name)
    state.waiting.happened(wakes.resource(target.resource.name))
    _membership_changed(state, target.pair)
    if not target.pair.targets:
        target.deployment.pairs.pop(target.environment.name, None)
    state.journal.changed("target", target.name)
    if target.name in state.lingering:
        _bind_rules(state, target)


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
            _bind_rules(state, target)
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
            target = state.lingering[name] = Target(pair, site.resource, NO_RULES, state.departed[name])
        if target is not None and target.site is not site:
            membership.stay(state, site, target)
            _bind_rules(state, target)


def _bind_rules(state: State, target: Target) -> None:
    bindings = target.bindings()
    policies = tuple(
        sorted(
            (policy for policy in state.policies.values() if policy.matches(bindings)),
            key=lambda policy: (-policy.object.priority, policy.object.name),
        )
    )
    rules = _rule_set(state, policies, target)
    if _only_stays(state, target, rules):
        rules = _staying_rules(policies, target)
    if rules is target.rules:
        return
    target.rules = rules
    state.rebound[target] = None
    target.resource.upstreams.clear()
    bracket = rules.bracket
    site = target.site
    if site is not None and bracket is not None and bracket.id == site.rule.id:
        site.rule = bracket
        site.plan = None
    elif site is not None and not membership.is_under_way(site, target):
        membership.leave(state, target)
    if bracket is not None and target.site is None:
        membership.enter(state, target)
    state.touch(target)


def _only_stays(state: State, target: Target, rules: RuleSet) -> bool:
    """It is at its site only for the end of the cycle there."""
    site = target.site
    if site is None or not membership.is_under_way(site, target):
        return False
    bracket = rules.bracket
    return target.name in state.lingering or bracket is None or bracket.id != site.rule.id


def _staying_rules(policies: tuple[PolicyNode, ...], target: Target) -> RuleSet:
    """A started group goes on as it was locked: in the order, and with the retries, of the policy that made it."""
    assert target.site is not None
    bindings = target.bindings()
    own = PolicyNode(target.site.rule.policy)
    return RuleSet(policies, bindings).going_on_as(RuleSet((own,), bindings), own.object.name)


def _rule_set(state: State, policies: tuple[PolicyNode, ...], target: Target) -> RuleSet:
    """Dependency rules may name the resource in `appliesTo`; then the set is the target's own."""
    if not policies:
        return NO_RULES
    if any(policy.rules_read_the_resource for policy in policies):
        return RuleSet(policies, target.bindings())
    key = (target.deployment.name, *(policy.object.name for policy in policies))
    rules = state.rule_sets.get(key)
    if rules is None:
        rules = state.rule_sets[key] = RuleSet(policies, {"deployment": target.deployment.view})
    return rules


def _membership_changed(state: State, pair: Pair) -> None:
    """Ranks, scopes and success percentages of the deployment's versions are counted anew."""
    pair.membership_changed()
    state.shares_moved(pair.deployment.name)
    state.waiting.happened(wakes.pair(pair.deployment.name, pair.environment.name))


NO_RULES = RuleSet((), {})
