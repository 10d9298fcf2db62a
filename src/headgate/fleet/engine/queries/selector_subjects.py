"""What selectors are asked about: resources, targets, or the targets of a deployment with what runs there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import expressions
from headgate.fleet.state.units import Target


def targets_of(engine: Engine, deployment: str) -> list[str]:
    """Empty where there is no deployment of that name."""
    node = engine.state.deployments.get(deployment)
    return [target.name for target in node.targets()] if node is not None else []


def bindings_of_resources(engine: Engine, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Empty for one that is gone."""
    for name in names:
        node = engine.state.resources.get(name)
        yield {"resource": node.view} if node is not None else {}


def bindings_of_targets(engine: Engine, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """With the version that runs there, or may run there next. Empty for one that is gone."""
    for name in names:
        target = engine.state.targets.get(name)
        yield {} if target is None else {**target.bindings(), "version": _version_on(engine, target)}


def _version_on(engine: Engine, target: Target) -> object:
    deployed = engine.state.version(target.record.deployed)
    if deployed is not None:
        return deployed.view
    versions = target.deployment.versions
    return versions[-1].view if versions else expressions.PLAIN_OBJECT
