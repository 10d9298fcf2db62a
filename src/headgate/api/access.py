"""Whether a caller may make this call, and which workspace it is about."""

from __future__ import annotations

from headgate.api.calls import Parameter, Principal, Refusal, Route
from headgate.fleet.model.objects import DEFAULT_WORKSPACE, LONGEST_NAME

ANY_TOKEN = ""
"""The permission of routes that every valid token may call."""

WORKSPACE_PARAMETER = Parameter(
    "workspace",
    {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
    f"The workspace's name. Without it: the token's only workspace, else `{DEFAULT_WORKSPACE}`.",
)


def declared_query(route: Route) -> tuple[Parameter, ...]:
    return (*route.query, WORKSPACE_PARAMETER) if route.scope == "workspace" else route.query


def default_workspace(principal: Principal) -> str:
    if len(principal.grants) == 1 and "*" not in principal.grants:
        return next(iter(principal.grants))
    return DEFAULT_WORKSPACE


def check(route: Route, principal: Principal, workspace: str) -> None:
    """A workspace that the caller does not see is not there for them: no refusal tells that it exists."""
    if route.permission is None or route.permission == ANY_TOKEN:
        return
    if route.scope == "service":
        _check_service(route, principal, route.permission)
        return
    if not principal.sees(workspace):
        raise Refusal(404, "There is no such workspace", f"there is no workspace {workspace!r}")
    if not principal.allows(route.permission, workspace):
        raise _forbidden(route.permission, f"in the workspace {workspace!r}")


def _check_service(route: Route, principal: Principal, permission: str) -> None:
    """To look, a permission in any workspace is enough; the handler shows only what is seen."""
    workspaces = principal.grants if route.method == "GET" else ("*",)
    if not any(principal.allows(permission, workspace) for workspace in workspaces):
        raise _forbidden(permission, "in all workspaces" if route.method != "GET" else "in a workspace")


def _forbidden(permission: str, where: str) -> Refusal:
    return Refusal(403, "Not allowed", f"this needs the permission {permission} {where}")
