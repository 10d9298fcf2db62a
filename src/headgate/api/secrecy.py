"""Who sees which secrets: those who may write them. Nobody else is shown them, nor told whether a guess is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from headgate.api.applying import Manifest
from headgate.api.http.calls import Request
from headgate.fleet.model import hiding
from headgate.fleet.model import objects as model
from headgate.fleet.model.agent_fields import HIDDEN
from headgate.fleet.model.changes import Object
from headgate.fleet.rules import verification

Render = Callable[[Any], dict[str, Any]]
Provider = verification.Http | verification.Prometheus | verification.Sleep
_SEE_SECRETS = {
    "JobAgent": ("fleet:write",),
    "Policy": ("policy:write",),
    "Deployment": ("fleet:write", "job:config"),
    "Version": ("version:write", "job:config"),
}


def sees(call: Request, kind: str) -> bool:
    return any(call.principal.allows(one, call.workspace) for one in _SEE_SECRETS.get(kind, ()))


def renderer(call: Request, kind: str, document: Render) -> Render:
    """Whoever may not write the secrets of an object does not see them, nor can find them out by a filter. Who sees what is
    asked once for all objects of a list."""
    if not hiding.has_secrets(kind) or sees(call, kind):
        return document
    return lambda item: hiding.without_secrets(kind, document(item))


def render(call: Request, item: Any, document: Render) -> dict[str, Any]:
    return renderer(call, type(item).__name__, document)(item)


def render_part(call: Request, kind: str, written: dict[str, Any]) -> dict[str, Any]:
    """An object of the kind, or a part of it, such as a rule."""
    if sees(call, kind):
        return written
    masked: dict[str, Any] = hiding.without_secrets(kind, written)
    return masked


def without_guesses(call: Request, given: Sequence[Manifest]) -> list[Manifest]:
    """For a comparison: what a caller gives in the place of a secret that they do not see differs from it, whatever it
    is."""
    return [
        one
        if sees(call, type(one.object).__name__)
        else msgspec.structs.replace(one, object=_masked(one.object))
        for one in given
    ]


def _masked(item: Object) -> Object:
    match item:
        case model.JobAgent():
            return msgspec.structs.replace(item, config=hiding.of_config(item.config))
        case model.Deployment() | model.Version():
            return msgspec.structs.replace(item, job_agent_config=hiding.of_config(item.job_agent_config))
        case model.Policy():
            return msgspec.structs.replace(item, rules=tuple(_masked_rule(rule) for rule in item.rules))
        case _:
            return item


def _masked_rule(rule: model.Rule) -> model.Rule:
    if not isinstance(rule.spec, verification.Verification):
        return rule
    metrics = tuple(
        msgspec.structs.replace(metric, provider=_masked_provider(metric.provider))
        for metric in rule.spec.metrics
    )
    return msgspec.structs.replace(rule, spec=msgspec.structs.replace(rule.spec, metrics=metrics))


def _masked_provider(provider: Provider) -> Provider:
    match provider:
        case verification.Http():
            return msgspec.structs.replace(
                provider,
                url=hiding.of_address(provider.url),
                headers=dict.fromkeys(provider.headers, HIDDEN),
                body=None if provider.body is None else HIDDEN,
            )
        case verification.Prometheus():
            return msgspec.structs.replace(provider, address=hiding.of_address(provider.address))
        case _:
            return provider
