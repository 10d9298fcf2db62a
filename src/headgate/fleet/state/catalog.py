"""Keeps the derived fleet in step with its objects: release targets, the rules that match them, sites, slots.

An object that changes touches the targets it can affect and no others.
"""

from __future__ import annotations

import bisect
import operator
from collections.abc import Iterable

from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.fleet.rules.deployment_bracket import DeploymentBracket
from headgate.fleet.rules.resource_concurrency import ResourceConcurrency
from headgate.fleet.state import holds, membership, release_targets, rule_binding, skips, votes, wakes
from headgate.fleet.state.slots import RuleSlots
from headgate.fleet.state.state import State
from headgate.fleet.state.units import (
    BoundRule,
    DeploymentNode,
    EnvironmentNode,
    Pair,
    PolicyNode,
    ResourceNode,
    Target,
    VersionNode,
    optional_selector,
)

_SORT_KEY = operator.attrgetter("sort_key")


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
        release_targets.note_match(environment, node)
    for deployment in state.deployments.values():
        release_targets.note_match(deployment, node)
        for environment in state.environments.values():
            release_targets.settle(state, deployment, environment, node)
    node.order = None
    for target in kept:
        if target.name in state.targets:
            target.hash_prefix = None
            release_targets.membership_changed(state, target.pair)
            rule_binding.bind(state, target)
            state.touch(target)
    rule_binding.bind_lingering(state)
    state.ranks_moved()


def remove_resource(state: State, node: ResourceNode) -> None:
    for target in list(node.targets.values()):
        release_targets.remove(state, target)
    _let_go(state, [one for one in state.lingering.values() if one.resource is node])
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


def put_plain(state: State, item: Object) -> None:
    """What is kept by its name and binds nothing by being there; one with a selector is kept with it, ready to ask."""
    kept = state.kept(kinds.of(item))
    if isinstance(item, model.VariableSet | model.Freeze):
        kept[item.name] = (item, optional_selector(item.selector))
    else:
        kept[item.name] = item


def put_environment(state: State, environment: model.Environment) -> None:
    node = state.environments.get(environment.name)
    if node is None:
        node = state.environments[environment.name] = EnvironmentNode(environment)
    else:
        node.put(environment)
    release_targets.rematch(state, node, [(deployment, node) for deployment in state.deployments.values()])


def put_deployment(state: State, deployment: model.Deployment) -> None:
    node = state.deployments.get(deployment.name)
    if node is None:
        node = state.deployments[deployment.name] = DeploymentNode(deployment)
    else:
        node.put(deployment)
    state.rule_sets.clear()
    state.forms_changed()
    release_targets.rematch(state, node, [(node, environment) for environment in state.environments.values()])
    for target in node.targets():
        rule_binding.bind(state, target)
        release_targets.declarations_changed(state, target.resource)
        # Who depends on it may be said by its metadata.
        state.waiting.happened(wakes.resource(target.resource.name))


def remove_environment(state: State, node: EnvironmentNode) -> None:
    pairs = [d.pairs[node.name] for d in state.deployments.values() if node.name in d.pairs]
    _let_go(state, [one for one in state.lingering.values() if one.environment is node])
    remove_pairs(state, pairs)
    del state.environments[node.name]


def _let_go(state: State, targets: Iterable[Target]) -> None:
    """Of those that only stayed for the end of a cycle: there is none any more."""
    for target in targets:
        del state.lingering[target.name]
        state.removed.append((target, target.site))
        membership.leave(state, target)


def remove_pairs(state: State, pairs: Iterable[Pair]) -> None:
    for target in [target for pair in pairs for target in pair.targets.values()]:
        release_targets.remove(state, target)
    state.ranks_moved()


def put_version(state: State, version: model.Version) -> VersionNode:
    node = VersionNode(version)
    deployment = state.deployments[version.deployment]
    old = deployment.tags.get(version.tag)
    if old is not None:
        deployment.versions.remove(old)
    bisect.insort(deployment.versions, node, key=_SORT_KEY)
    deployment.tags[version.tag] = node
    state.versions[version.id] = node
    if node.goes_back:
        state.going_back.add(node.id)
    else:
        state.going_back.discard(node.id)
    for target in state.known_of(deployment):
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
    del deployment.tags[node.tag]
    del state.versions[node.id]
    state.going_back.discard(node.id)
    state.progress.pop(node.id, None)
    state.verified.pop(node.id, None)
    state.judge_anew(node.id)
    for rule_id, scope in [key for key in state.breakers if key[1] == node.id]:
        del state.breakers[(rule_id, scope)]
        state.journal.changed("breaker", rule_id, scope)
    state.journal.changed("Version", f"{deployment.name}/{node.tag}")
    state.journal.changed("gone", node.id)
    for target in state.known_of(deployment):
        state.touch(target)


def put_policy(state: State, policy: model.Policy) -> None:
    """Of one that is switched off, what goes on goes on as it was when it was on, however it is edited meanwhile."""
    node = PolicyNode(policy)
    old = state.policies.get(policy.name)
    state.policies[policy.name] = node
    for bracket in node.of(DeploymentBracket) if policy.enabled else ():
        for site in state.sites_by_rule.get(bracket.id, ()):
            site.rule = bracket
    for rule in node.of(ResourceConcurrency):
        _put_slots(state, rule)
    _policies_changed(state, node, *((old,) if old is not None else ()))


def remove_policy(state: State, node: PolicyNode) -> None:
    del state.policies[node.object.name]
    state.journal.changed("gonePolicy", node.object.id)
    _policies_changed(state, node)


def _put_slots(state: State, rule: BoundRule[ResourceConcurrency]) -> None:
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
                rule_binding.bind(state, target)
    rule_binding.bind_lingering(state)
    live = {(rule.id, rule.kind) for policy in state.policies.values() for rule in policy.rules}
    for rule_id in [rule_id for rule_id in state.slots if (rule_id, "resourceConcurrency") not in live]:
        del state.slots[rule_id]
    for rule in (rule for node in nodes for rule in node.rules):
        if (rule.id, rule.kind) not in live:
            _forget_skips(state, rule.id)
    state.ranks_moved()


def _may_concern(node: PolicyNode, deployment: DeploymentNode) -> bool:
    return not node.reads_only_the_deployment() or node.matches({"deployment": deployment.view})
