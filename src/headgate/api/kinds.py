"""The simple kinds of objects, declared once: where they are kept, how they are called, who may change them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from headgate.fleet import model
from headgate.fleet.changes import Object
from headgate.fleet.state import State


class Kind(msgspec.Struct, frozen=True):
    """`variable` is what a filter calls one object, `parameter` what a path calls it."""

    name: str
    collection: str
    plural: str
    singular: str
    variable: str
    model: type[msgspec.Struct]
    permission: str
    table: Callable[[State], Mapping[str, Any]]
    parameter: str = ""

    def object_of(self, node: Any) -> Object:
        """From what the engine keeps under the name to the object itself."""
        if isinstance(node, tuple):
            return cast(Object, node[0])
        return cast(Object, getattr(node, "object", node))

    def get(self, state: State, name: str) -> Object | None:
        node = self.table(state).get(name)
        return None if node is None else self.object_of(node)

    @property
    def path_parameter(self) -> str:
        return self.parameter or self.variable


RESOURCE = Kind(
    "Resource", "resources", "Resources", "resource", "resource", model.Resource, "resource:write",
    lambda state: state.resources,
)  # fmt: skip
ENVIRONMENT = Kind(
    "Environment", "environments", "Environments", "environment", "environment", model.Environment, "fleet:write",
    lambda state: state.environments,
)  # fmt: skip
DEPLOYMENT = Kind(
    "Deployment", "deployments", "Deployments", "deployment", "deployment", model.Deployment, "fleet:write",
    lambda state: state.deployments,
)  # fmt: skip
POLICY = Kind(
    "Policy", "policies", "Policies", "policy", "policy", model.Policy, "policy:write",
    lambda state: state.policies,
)  # fmt: skip
JOB_AGENT = Kind(
    "JobAgent", "job-agents", "JobAgents", "job agent", "jobAgent", model.JobAgent, "fleet:write",
    lambda state: state.job_agents, "agent",
)  # fmt: skip
FREEZE = Kind(
    "Freeze", "freezes", "Freezes", "freeze", "freeze", model.Freeze, "freeze:write",
    lambda state: state.freezes,
)  # fmt: skip
SIGNAL = Kind(
    "Signal", "signals", "Signals", "signal", "signal", model.Signal, "signal:write",
    lambda state: state.signals,
)  # fmt: skip
VARIABLE_SET = Kind(
    "VariableSet", "variables", "VariableSets", "variable set", "variableSet", model.VariableSet, "fleet:write",
    lambda state: state.variable_sets,
)  # fmt: skip
VERSION = Kind(
    "Version", "versions", "Versions", "version", "version", model.Version, "version:write",
    lambda state: state.versions,
)  # fmt: skip

SIMPLE = (RESOURCE, ENVIRONMENT, DEPLOYMENT, POLICY, JOB_AGENT, FREEZE, SIGNAL, VARIABLE_SET)
"""Known by their name alone."""

BY_NAME: dict[str, Kind] = {kind.name: kind for kind in (*SIMPLE, VERSION)}

APPLY_ORDER = (JOB_AGENT, ENVIRONMENT, DEPLOYMENT, RESOURCE, VARIABLE_SET, POLICY, VERSION, SIGNAL, FREEZE)
"""What is referred to comes before what refers to it."""
