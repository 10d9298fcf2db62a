"""Whom an object, a vote, a skip or a selector concerns; and what is wrong with one that concerns nobody."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headgate.fleet.cycles import hooks
from headgate.fleet.engine import concerns, selections
from headgate.fleet.engine.concerns import Concern
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem


def by_object(engine: Engine, item: Object) -> Concern | None:
    """As it stands, with the hooks that brackets miss if the kind can have taken them away; None for kinds that concern
    no target by themselves."""
    state = engine.state
    match item:
        case model.Version():
            return concerns.of_version(state, state.versions[item.id])
        case model.Policy():
            concern = concerns.of_selector(state, item.selector) if item.enabled else concerns.of(())
            return _with_lost_hooks(engine, concern)
        case model.Freeze():
            return concerns.of_selector(state, item.selector)
        case model.Environment():
            return concerns.of_node(state, state.environments[item.name])
        case model.Deployment():
            return _with_lost_hooks(engine, concerns.of_node(state, state.deployments[item.name]))
        case _:
            return None


def _with_lost_hooks(engine: Engine, concern: Concern) -> Concern:
    lost = hooks.warnings(engine.state)
    if not lost:
        return concern
    return msgspec.structs.replace(
        concern, note="; ".join([*([concern.note] if concern.note else []), *lost])
    )


def by_resource(engine: Engine, name: str) -> Concern:
    """The targets on it."""
    return concerns.of(list(engine.state.resources[name].targets))


def by_selector(engine: Engine, text: str | None, deployment: str | None) -> Concern:
    """Of all targets, or those of the deployment of that name; with why it concerns nobody."""
    node = None if deployment is None else engine.state.deployments[deployment]
    return concerns.of_selector_in(engine.state, text, node)


def by_vote(engine: Engine, version: model.Version, environment: str, roles: Sequence[str]) -> Concern:
    return concerns.of_vote(engine.state, engine.state.versions[version.id], environment, roles)


def by_skip(engine: Engine, skip: model.Skip, now: Instant, what: str = "the skip") -> Concern:
    """Asked while the skip is not there: before it comes, or, as `what`, after its end."""
    return concerns.of_skip(engine.state, skip, now, what)


def problem(engine: Engine, old: Object | None, new: Object) -> Problem | None:
    """Why the new selector of an object concerns nobody, under the field that it stands in. Only one that is new is asked
    about: what is there already is not refused for another change."""
    state = engine.state
    match new:
        case model.Policy() | model.Freeze() | model.VariableSet():
            is_off = isinstance(new, model.Policy) and not new.enabled
            was_off = isinstance(old, model.Policy) and not old.enabled
            if is_off or (getattr(old, "selector", None) == new.selector and not was_off):
                return None
            return _at("selector", selections.problem_of(state, new.selector))
        case model.Version():
            if getattr(old, "target_selector", None) == new.target_selector:
                return None
            deployment = state.deployments.get(new.deployment)
            targets = deployment.targets() if deployment is not None else ()
            return _at("targetSelector", selections.problem_of(state, new.target_selector, targets))
        case model.Environment() if new.name in state.environments:
            node = state.environments[new.name]
            return _at("resourceSelector", concerns.left_without_targets(state, node, new))
        case model.Deployment() if new.name in state.deployments:
            problem_of_new = concerns.left_without_targets(state, state.deployments[new.name], new)
            return _at("resourceSelector", problem_of_new)
        case _:
            return None


def _at(path: str, message: str | None) -> Problem | None:
    return None if message is None else Problem(path, message)
