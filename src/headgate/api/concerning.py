"""Whom a change concerns, in the answer to it; and the refusal of what concerns nobody, unless it is forced."""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.api import objects, replies
from headgate.api.calls import Parameter
from headgate.fleet.cycles import hooks
from headgate.fleet.engine import concerns
from headgate.fleet.engine.concerns import Concern
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.fleet.state.state import State
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import Reply

FORCE = Parameter(
    "force",
    {"type": "boolean", "default": False},
    "Take a selector that matches no release target, or fails on all of them, all the same.",
)
SAID_OF = (model.Policy, model.Freeze, model.Environment, model.Deployment, model.Version)
"""Kinds whose answers say whom they concern."""


def document(concern: Concern) -> dict[str, Any]:
    return {"targets": concern.targets, "sample": list(concern.sample), "note": concern.note}


def of_object(state: State, thing: Object) -> Concern | None:
    """As it stands, with the hooks that brackets miss if the kind can have taken them away; None for kinds that concern
    no target by themselves."""
    concern = _concern_of(state, thing)
    missed = hooks.warnings(state) if isinstance(thing, model.Policy | model.Deployment) else []
    if concern is None or not missed:
        return concern
    return msgspec.structs.replace(
        concern, note="; ".join([*([concern.note] if concern.note else []), *missed])
    )


def _concern_of(state: State, thing: Object) -> Concern | None:
    match thing:
        case model.Policy():
            return concerns.of_selector(state, thing.selector) if thing.enabled else concerns.of(())
        case model.Freeze():
            return concerns.of_selector(state, thing.selector)
        case model.Environment():
            return concerns.of_node(state, state.environments[thing.name])
        case model.Deployment():
            return concerns.of_node(state, state.deployments[thing.name])
        case model.Version():
            return concerns.of_version(state, state.versions[thing.id])
        case _:
            return None


def reply(state: State, status: int, thing: Object) -> Reply:
    return replies.reply_with(status, objects.document(thing), of_object(state, thing))


def reply_to_end(written: dict[str, Any], concern: Concern | None) -> Reply:
    """Of something that has ended: as it was, and whom its end concerns."""
    return msgspec.structs.replace(replies.reply_with(200, written, concern), etag=None)


def check(state: State, old: Object | None, new: Object, *, force: bool) -> None:
    """Only a selector that is new is asked about: what is there already is not refused for another change."""
    found = None if force else _flaw(state, old, new)
    if found is not None:
        path, message = found
        raise Rejected([Problem(path, f"{message}; if that is meant, give force")])


def _flaw(state: State, old: Object | None, new: Object) -> tuple[str, str] | None:
    match new:
        case model.Policy() | model.Freeze() | model.VariableSet():
            is_off = isinstance(new, model.Policy) and not new.enabled
            was_off = isinstance(old, model.Policy) and not old.enabled
            if is_off or (getattr(old, "selector", None) == new.selector and not was_off):
                return None
            return _named("selector", concerns.flaw_of_selector(state, new.selector))
        case model.Version():
            if getattr(old, "target_selector", None) == new.target_selector:
                return None
            deployment = state.deployments.get(new.deployment)
            targets = deployment.targets() if deployment is not None else ()
            return _named("targetSelector", concerns.flaw_of_selector(state, new.target_selector, targets))
        case model.Environment() if new.name in state.environments:
            node = state.environments[new.name]
            return _named("resourceSelector", concerns.left_without_targets(state, node, new))
        case model.Deployment() if new.name in state.deployments:
            found = concerns.left_without_targets(state, state.deployments[new.name], new)
            return _named("resourceSelector", found)
        case _:
            return None


def _named(path: str, message: str | None) -> tuple[str, str] | None:
    return None if message is None else (path, message)
