"""What a job agent is given: layers merged, and by its type, which fields need care when expressions in them are computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.fleet.model import (
    careful_addresses,
    careful_commands,
    careful_templates,
    careful_texts,
    hiding,
    job_configs,
)
from headgate.fleet.model.job_configs import Config, ConfigBindings
from headgate.kernel.documents import field_path
from headgate.kernel.problems import Problem, Rejected

_ADDRESSES: Mapping[str, tuple[str, ...]] = {
    "http": ("url", "statusUrl", "cancelUrl"),
    "github": ("apiUrl",),
    "argocd": ("serverUrl",),
}
_WRITTEN_OUT: Mapping[str, tuple[str, ...]] = {
    "http": ("secret", "secretEnv"),
    "github": ("token", "tokenEnv"),
    "argocd": ("token", "tokenEnv", "insecure"),
    "kubernetes": ("kubeContext",),
    "kubernetes-node": ("kubeContext", "verb", "allowedNodes"),
    "graph": ("kubeContext",),
    "workload": ("kubeContext",),
}
_RUNS_COMMANDS = ("exec", "pull")
_TEMPLATES: Mapping[str, str] = {
    "kubernetes": "jobTemplate",
    "graph": "instanceTemplate",
    "workload": "setTemplate",
}
_KIND_OF_TEMPLATE = ("apiVersion", "kind")


def check(agent_type: str, config: Config, path: str, problems: list[Problem]) -> None:
    """What is wrong with the places of expressions, before there is a job to compute them for."""
    hiding.check(config, path, problems)
    problems.extend(
        _written_out(field_path(path, field))
        for field in _WRITTEN_OUT.get(agent_type, ())
        if careful_texts.has_expression(config.get(field))
    )
    for field in _ADDRESSES.get(agent_type, ()):
        given = config.get(field)
        if isinstance(given, str):
            careful_addresses.check(given, field_path(path, field), problems)
    if agent_type in _RUNS_COMMANDS and "command" in config:
        careful_commands.check(config["command"], field_path(path, "command"), problems)
    template = _TEMPLATES.get(agent_type, "")
    if template in config:
        place = field_path(path, template)
        problems.extend(_kinds_not_written_out(config[template], place))
        careful_templates.check(config[template], place, problems)


def merge(*configs: Config) -> dict[str, Any]:
    """Later ones win. Maps are merged key by key, everything else is replaced, and null takes a key away."""
    merged: dict[str, Any] = {}
    for config in configs:
        merged = _merged(merged, config)
    return merged


def _merged(lower: Config, upper: Config) -> dict[str, Any]:
    result = dict(lower)
    for key, value in upper.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            below = result.get(key)
            result[key] = _merged(below if isinstance(below, Mapping) else {}, value)
        else:
            result[key] = value
    return result


def resolve(
    agent_type: str, config: Config, bindings: ConfigBindings, path: str = "config"
) -> dict[str, Any]:
    """A new document without expressions. Raises Rejected with the path of everything that cannot be computed."""
    bindings = job_configs.Metered(bindings)
    problems: list[Problem] = []
    result: dict[str, Any] = {}
    values: dict[str, str] = {}
    for field, given in config.items():
        place = field_path(path, field)
        if field in _WRITTEN_OUT.get(agent_type, ()) and careful_texts.has_expression(given):
            problems.append(_written_out(place))
        elif field in _ADDRESSES.get(agent_type, ()) and isinstance(given, str):
            result[field] = careful_addresses.resolve(given, bindings, place, problems)
        elif agent_type in _RUNS_COMMANDS and field == "command":
            result[field], values = careful_commands.resolve(given, bindings, place, problems)
        elif agent_type in _RUNS_COMMANDS and field == "workingDirectory" and isinstance(given, str):
            result[field] = careful_texts.folder(given, bindings, place, problems)
        elif field == _TEMPLATES.get(agent_type):
            problems.extend(_kinds_not_written_out(given, place))
            result[field] = careful_templates.resolve(given, bindings, place, problems)
        else:
            result |= job_configs.resolve_into({field: given}, bindings, path, problems)
    if problems:
        raise Rejected(problems)
    if values:
        result["env"] = {**result.get("env", {}), **values}
    return result


def _kinds_not_written_out(template: object, path: str) -> Iterator[Problem]:
    if isinstance(template, Mapping):
        for field in _KIND_OF_TEMPLATE:
            if careful_texts.has_expression(template.get(field)):
                yield _written_out(field_path(path, field))


def _written_out(path: str) -> Problem:
    return Problem(
        path, "has an expression; it has to be written out, so that nobody else can say what it is"
    )
