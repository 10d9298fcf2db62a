"""Which values a release gets: resource variable, deployment value, variable set, default; first one that is there."""

from __future__ import annotations

from typing import Literal

import msgspec

from headgate.fleet.model import expressions
from headgate.fleet.model import objects as model
from headgate.fleet.model.records import Variables
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Bindings, Target
from headgate.kernel import plain_values

_encode = msgspec.json.Encoder().encode


class Sourced(msgspec.Struct, frozen=True):
    """A value and who has set it: the `name` of the resource, the deployment or the variable set, and for a value that
    a deployment has for some resources, the `selector` of those."""

    value: object
    source: Literal["resource", "deploymentValue", "variableSet", "default"]
    name: str
    selector: str | None = None


def resolve(state: State, target: Target) -> Variables:
    """Every key that concerns the target, sorted."""
    return tuple((key, sourced.value) for key, sourced in resolve_with_sources(state, target))


def are_same(variables: Variables, other: Variables) -> bool:
    """Whether a release with the one is the release with the other: also a value that becomes true after it was 1 is to be
    brought to the target."""
    if not variables or variables != other:
        return variables == other
    return _encode(variables) == _encode(other) or all(
        plain_values.are_equal(value, others)
        for (_, value), (_, others) in zip(variables, other, strict=True)
    )


def resolve_with_sources(state: State, target: Target) -> tuple[tuple[str, Sourced], ...]:
    if not state.has_variables_for(target):
        return ()
    declared = target.deployment.object.variables
    own = target.resource.object.variables
    bindings = target.bindings()
    deployment, resource = target.deployment.name, target.resource.name
    values = {
        key: Sourced(variable.default, "default", deployment)
        for key, variable in declared.items()
        if variable.default is not None
    }
    for variable_set in _matching_sets(state, bindings):
        values |= {
            key: Sourced(value, "variableSet", variable_set.name, variable_set.selector)
            for key, value in variable_set.variables.items()
        }
    for key, variable in declared.items():
        chosen = _chosen(variable, bindings)
        if chosen is not None:
            values[key] = Sourced(chosen.value, "deploymentValue", deployment, chosen.resource_selector)
    values |= {
        key: Sourced(value, "resource", resource)
        for key, value in own.items()
        if key in declared or not _is_declared_on(target, key)
    }
    return tuple(sorted(values.items()))


def _matching_sets(state: State, bindings: Bindings) -> list[model.VariableSet]:
    """Weakest first."""
    matching = [
        variable_set
        for variable_set, selector in state.variable_sets.values()
        if selector is None or selector.matches(bindings)
    ]
    return sorted(matching, key=lambda s: (s.priority, s.name))


def _chosen(variable: model.DeploymentVariable, bindings: Bindings) -> model.VariableValue | None:
    best: model.VariableValue | None = None
    for value in variable.values:
        if best is not None and value.priority <= best.priority:
            continue
        if value.resource_selector is None or expressions.SELECTOR.selector(value.resource_selector).matches(
            bindings
        ):
            best = value
    return best


def _is_declared_on(target: Target, key: str) -> bool:
    """A resource's variable goes to the deployments that declare its key; a key that none declares goes to all."""
    return any(key in other.deployment.object.variables for other in target.resource.targets.values())
