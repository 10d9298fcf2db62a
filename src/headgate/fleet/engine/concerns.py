"""Whom something concerns: the release targets that a selector, a version, a vote or a skip reaches.

Everything that a person does says it, and what concerns nobody is mostly a mistake.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from headgate.fleet.engine import explain_verdicts, selections
from headgate.fleet.model import objects as model
from headgate.fleet.state import candidates, votes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import (
    DeploymentNode,
    EnvironmentNode,
    Pair,
    Target,
    VersionNode,
    optional_selector,
)
from headgate.kernel.instants import Instant

SAMPLE = 5
_TRIED = 50
"""Targets that are looked at one by one to find out whether a skip changes anything."""


class Concern(msgspec.Struct, frozen=True):
    """How many targets, the first of them by name, and what there is to be said of it."""

    targets: int
    sample: tuple[str, ...] = ()
    note: str | None = None


def of(names: Collection[str], note: str | None = None) -> Concern:
    return Concern(len(names), tuple(heapq.nsmallest(SAMPLE, names)), note)


def of_selector(state: State, text: str | None) -> Concern:
    return of(selections.selected(state, optional_selector(text)))


def of_selector_in(state: State, text: str | None, deployment: DeploymentNode | None) -> Concern:
    """With why it concerns nobody, where there is somebody to concern."""
    selection = selections.selected(state, optional_selector(text), deployment)
    targets = None if deployment is None else deployment.targets()
    return of(selection, None if selection else selections.problem_of(state, text, targets))


def of_version(state: State, version: VersionNode) -> Concern:
    """Those in its scope. A scope that cannot be evaluated keeps the version, which is worth a note."""
    deployment = state.deployments[version.object.deployment]
    targets = [
        target.name
        for pair in deployment.pairs.values()
        for target in candidates.scoped_targets(pair, version).values()
    ]
    faulty = 0
    if version.scope is not None:
        faulty = sum(candidates.scope_problem(version, target) is not None for target in deployment.targets())
    note = f"targetSelector fails on {faulty} of them, which keep the version" if faulty else None
    return of(targets, note)


def of_pairs(pairs: Iterable[Pair]) -> Concern:
    return of([target.name for pair in pairs for target in pair.targets.values()])


def of_vote(state: State, version: VersionNode, environment: str, roles: Sequence[str]) -> Concern:
    """The targets in scope whose rules ask for an approval."""
    what = f"{version.object.deployment} {version.tag} in {environment}"
    pair = state.deployments[version.object.deployment].pairs.get(environment)
    scoped = candidates.scoped_targets(pair, version).values() if pair is not None else ()
    asking = [target for target in scoped if votes.asked_of(target, version)]
    if not asking:
        why = "no policy asks for an approval" if scoped else "it has no release target"
        return of((), f"{why} of {what}: the vote changes nothing")
    asked = {rule: one for target in asking for rule, one in votes.asked_of(target, version).items()}
    if not any(one.roles is None or not set(one.roles).isdisjoint(roles) for one in asked.values()):
        wanted = sorted({role for one in asked.values() for role in one.roles or ()})
        return of(
            [one.name for one in asking], f"the vote does not count: it needs the role {' or '.join(wanted)}"
        )
    ahead = [target.name for target in asking if _is_ahead(state, target, version)]
    runs = "" if all(target.record.deployed == version.id for target in asking) else "or something newer "
    return of(
        ahead, None if ahead else f"{version.tag} {runs}runs on all of them already: the vote changes nothing"
    )


def _is_ahead(state: State, target: Target, version: VersionNode) -> bool:
    """What is older than that which runs there asks nobody: it is not the next."""
    runs = state.version(target.record.deployed)
    return runs is None or version.sort_key > runs.sort_key


def of_skip(state: State, skip: model.Skip, now: Instant, what: str = "the skip") -> Concern:
    """Asked while the skip is not there: before it comes, or, as `what`, after its end. It changes something where its rule
    holds somebody back."""
    version = state.version(skip.version_id)
    named = [
        target
        for target in _sites_of(state, skip)
        if any(rule.id == skip.rule for rules in target.rules.by_spec.values() for rule in rules)
        and (version is None or _is_for(version, target))
    ]
    names = [target.name for target in named]
    if not named:
        return of((), f"no release target has this rule there: {what} changes nothing")
    if len(named) <= _TRIED and not any(_is_held(state, target, skip, now) for target in named):
        return of(names, f"the rule holds none of them back now: {what} changes nothing yet")
    return of(names)


def _sites_of(state: State, skip: model.Skip) -> Iterator[Target]:
    if skip.resource is not None:
        node = state.resources.get(skip.resource)
        targets: Iterable[Target] = node.targets.values() if node is not None else ()
    else:
        targets = state.targets.values()
    for target in targets:
        if skip.environment in (None, target.environment.name):
            yield target


def _is_for(version: VersionNode, target: Target) -> bool:
    return target.deployment.name == version.object.deployment and candidates.in_scope(version, target)


def _is_held(state: State, target: Target, skip: model.Skip, now: Instant) -> bool:
    return any(
        one.rule is not None
        and one.rule.id == skip.rule
        and not one.is_allowed
        and skip.version_id in (None, version.id if version is not None else None)
        for version, one in explain_verdicts.of_target(state, target, now)
    )


def left_without_targets(
    state: State, old: EnvironmentNode | DeploymentNode, item: model.Environment | model.Deployment
) -> str | None:
    """Whether a new `resourceSelector` (or other systems) would end every release target that the object has."""
    pairs = _pairs_of(state, old)
    had = sum(len(pair.targets) for pair in pairs)
    selector = optional_selector(item.resource_selector)
    if not had or (selector is not None and not selector.roots):
        return None
    own = "environment" if isinstance(item, model.Environment) else "deployment"
    matched = set(state.index.select(selector, {own: item.cel_view()})) if selector is not None else set()
    others: Iterable[EnvironmentNode | DeploymentNode] = (
        state.deployments.values() if isinstance(item, model.Environment) else state.environments.values()
    )
    for other in others:
        if not set(other.object.systems).isdisjoint(item.systems) and not matched.isdisjoint(other.matched):
            return None
    return f"leaves none of the {had} release targets of {item.name}"


def _pairs_of(state: State, node: EnvironmentNode | DeploymentNode) -> list[Pair]:
    if isinstance(node, DeploymentNode):
        return list(node.pairs.values())
    return [one.pairs[node.name] for one in state.deployments.values() if node.name in one.pairs]


def of_node(state: State, node: EnvironmentNode | DeploymentNode) -> Concern:
    return of_pairs(_pairs_of(state, node))
