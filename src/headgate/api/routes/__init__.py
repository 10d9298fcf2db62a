"""Every route of the API, one module a collection or idea."""

from __future__ import annotations

from headgate.api.calls import Route
from headgate.api.routes import (
    approvals,
    audit,
    budgets,
    callbacks,
    claims,
    events,
    fleet_objects,
    groups,
    jobs,
    levels,
    manifests,
    plans,
    resource_sets,
    rules,
    skips,
    status,
    systems,
    targets,
    tokens,
    variables,
    versions,
    workspaces,
)

_MODULES = (
    workspaces,
    systems,
    fleet_objects,
    resource_sets,
    variables,
    versions,
    rules,
    jobs,
    claims,
    callbacks,
    targets,
    groups,
    approvals,
    skips,
    budgets,
    manifests,
    plans,
    status,
    events,
    audit,
    tokens,
    levels,
)

ALL: tuple[Route, ...] = tuple(route for module in _MODULES for route in module.ROUTES)
