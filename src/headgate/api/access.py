"""Whether a caller may make this call, which workspace it is about, and how many they may have open at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from headgate.api import bodies
from headgate.api.calls import Parameter, Principal, Refusal, Route
from headgate.api.problems import busy
from headgate.fleet.model.objects import DEFAULT_WORKSPACE, LONGEST_NAME

ANY_TOKEN = ""
"""The permission of routes that every valid token may call."""
REQUESTS_EACH = 100
REQUESTS_OF_AGENTS_EACH = 500
"""One token may be that of many agents, each with many jobs to keep."""
WAITS_EACH = 200
"""Requests that may stay open until there is something to answer, as those of agents that ask for jobs."""
STREAMS_EACH = 500
WITHOUT_TOKEN_EACH = 200
"""Of one operation, from all who need no token for it: a flood of one keeps nobody from another."""

WORKSPACE_PARAMETER = Parameter(
    "workspace",
    {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
    f"The workspace's name. Without it: the token's only workspace, else `{DEFAULT_WORKSPACE}`.",
)


REASON_PARAMETER = Parameter(
    "reason",
    {"type": "string", "minLength": 1, "maxLength": bodies.LONGEST_REASON},
    "Why; the audit log keeps it.",
)


def declared_query(route: Route) -> tuple[Parameter, ...]:
    reason = (REASON_PARAMETER,) if route.takes_reason else ()
    workspace = (WORKSPACE_PARAMETER,) if route.scope == "workspace" else ()
    return (*route.query, *reason, *workspace)


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


class Crowd:
    """What one caller has open of a sort: beyond the most of it they are asked to come back."""

    def __init__(self, what: str, most_each: int) -> None:
        self._what = what
        self._most_each = most_each
        self._here: Counter[str] = Counter()

    def check(self, identity: str, name: str) -> None:
        """Counted is by `identity`; `name` is for people to read, and others may have the same."""
        if self._here[identity] >= self._most_each:
            raise busy(f"{name} has {self._most_each} {self._what} open already")

    @contextmanager
    def one_of(self, identity: str, name: str) -> Iterator[None]:
        self.check(identity, name)
        self._here[identity] += 1
        try:
            yield
        finally:
            self._here[identity] -= 1
            if not self._here[identity]:
                del self._here[identity]
