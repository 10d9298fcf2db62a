"""Every route of the API, one module a collection or idea."""

from __future__ import annotations

import msgspec

from headgate.api.http.calls import Route
from headgate.api.http.schemas import PageSchema
from headgate.api.routes import (
    approvals,
    audit,
    brackets,
    budgets,
    callbacks,
    checks,
    claims,
    events,
    explanations,
    fleet_objects,
    following,
    forecasts,
    groups,
    history,
    job_logs,
    jobs,
    levels,
    manifests,
    oidc_sessions,
    orders,
    plans,
    resource_sets,
    rules,
    selections,
    sessions,
    simulations,
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
    job_logs,
    callbacks,
    targets,
    selections,
    orders,
    explanations,
    groups,
    approvals,
    skips,
    brackets,
    budgets,
    manifests,
    plans,
    simulations,
    status,
    forecasts,
    history,
    events,
    audit,
    tokens,
    sessions,
    oidc_sessions,
    levels,
    following,
    checks,
)


def _in_its_lane(route: Route) -> Route:
    """Every list can be filtered, and be long."""
    is_list = route.method == "GET" and isinstance(route.answers.get(200), PageSchema)
    return msgspec.structs.replace(route, lane="lists") if is_list and route.lane is None else route


ALL: tuple[Route, ...] = tuple(_in_its_lane(route) for module in _MODULES for route in module.ROUTES)
