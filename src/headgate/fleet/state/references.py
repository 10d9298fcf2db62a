"""From names and ids to the things they name, with a sentence where there is nothing of that name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeVar, get_args

from headgate.fleet import rules
from headgate.fleet.model import objects as model
from headgate.fleet.model.kinds import Kind
from headgate.fleet.model.objects import LONGEST_NAME
from headgate.fleet.state.state import State
from headgate.fleet.state.units import (
    AnyRule,
    DeploymentNode,
    EnvironmentNode,
    PolicyNode,
    ResourceNode,
    Target,
    VersionNode,
)
from headgate.kernel import spelling
from headgate.kernel.problems import Problem, Rejected

VERSION_STATUSES: tuple[str, ...] = get_args(model.VersionStatus)
NOT_SKIPPABLE = frozenset(kind for kind, spec in rules.KINDS.items() if spec.traits.stage is None)


def no_verdict_to_skip(kind: str) -> str:
    return f"{kind} has no verdict that could be skipped"


def _missing(path: str, kind: str, name: str, known: Collection[str]) -> Rejected:
    close = spelling.closest(name[:LONGEST_NAME], known)
    hint = f"; did you mean {close}?" if close is not None else ""
    return Rejected((Problem(path, f"there is no {kind} {name!r}{hint}"),))


Node = TypeVar("Node", ResourceNode, EnvironmentNode, DeploymentNode, PolicyNode)


def _find(nodes: Mapping[str, Node], name: str, kind: str, path: str) -> Node:
    node = nodes.get(name)
    if node is None:
        node = next((one for one in nodes.values() if one.object.id == name), None)
    if node is None:
        raise _missing(path, kind, name, nodes)
    return node


def resource(state: State, name: str) -> ResourceNode:
    return _find(state.resources, name, "resource", "resource")


def environment(state: State, name: str) -> EnvironmentNode:
    return _find(state.environments, name, "environment", "environment")


def deployment(state: State, name: str, path: str = "deployment") -> DeploymentNode:
    return _find(state.deployments, name, "deployment", path)


def policy(state: State, name: str, path: str = "policy") -> PolicyNode:
    return _find(state.policies, name, "policy", path)


def version(state: State, owner: str, tag: str) -> VersionNode:
    node = deployment(state, owner)
    version_node = node.version(tag)
    if version_node is None:
        raise _missing("tag", f"version of {node.name}", tag, [v.tag for v in node.versions])
    return version_node


def target(state: State, name: str) -> Target:
    release_target = state.target_named(name)
    if release_target is None:
        raise _missing("target", "release target", name, state.targets)
    return release_target


def rule(state: State, policy_name: str | None, reference: str) -> AnyRule:
    """By id, name or index within the policy; without a policy, by id or by a name that only one rule has. A rule without
    a name goes by the label that sentences print for it, such as `approval[0]`."""
    policies = [policy(state, policy_name)] if policy_name is not None else list(state.policies.values())
    matching = []
    for node in policies:
        for bound in node.rules:
            by_index = policy_name is not None and str(reference) == str(bound.rule.index)
            if reference in (bound.id, bound.label) or by_index:
                matching.append(bound)
    if not matching and policy_name is not None:
        matching = [bound for bound in policies[0].rules if bound.kind == reference]
    if len(matching) > 1:
        exact = [bound for bound in matching if reference in (bound.id, bound.rule.name)]
        matching = exact if len(exact) == 1 else matching
    if len(matching) != 1:
        labels = [bound.label for node in policies for bound in node.rules]
        what = "there is no rule" if not matching else "several rules are called"
        raise Rejected((Problem("rule", f"{what} {reference!r}; there are {', '.join(labels) or 'none'}"),))
    return matching[0]


def remove_plain(state: State, kind: Kind, name: str) -> None:
    kept = state.kept(kind)
    if name not in kept:
        raise _missing("name", kind.name, name, kept)
    del kept[name]


def check_identifier(state: State, resource: model.Resource) -> None:
    identifier = resource.identifier or resource.name
    owner = state.identifiers.get(identifier, resource.name)
    if owner != resource.name:
        raise Rejected((Problem("spec.identifier", f"{identifier!r} is the identifier of {owner} already"),))
