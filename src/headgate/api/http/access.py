"""Whether a caller may make this call and write these fields, which workspace it is about, and how many they may have open.

Some fields ask for a permission of their own, wherever they can be written: in an object, a set, a manifest, a patch.
Whoever may write an object may not for that reason write all of it: these fields reach further than their object does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from headgate.api.documents import bodies
from headgate.api.http import refusals
from headgate.api.http.calls import Parameter, Principal, Refusal, Request, Route
from headgate.api.http.problems import busy
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.fleet.model.objects import DEFAULT_WORKSPACE, LONGEST_NAME
from headgate.kernel import documents, rendering

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

_CANONICAL = msgspec.json.Encoder(order="deterministic")
CREATED_AT, USER, ID = "createdAt", "user", "id"

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


class Guard(msgspec.Struct, frozen=True):
    """`reaches` says what the field can do beyond its object, for the table in the documentation."""

    kind: str
    field: str
    permission: str
    reaches: str

    @property
    def why(self) -> str:
        return f"{self.field} of {kinds.BY_NAME[self.kind].any_one}"


GUARDS: tuple[Guard, ...] = (
    Guard("Version", CREATED_AT, "version:import", "the order of versions: which of them is the newest"),
    Guard("Version", ID, "version:import", "what refers to the version by its id"),
    Guard("Version", "targetSelector", "version:scope", "which targets a version is for"),
    Guard("Version", "jobAgentConfig", "job:config", "what jobs of the version are given"),
    Guard("Deployment", "jobAgentConfig", "job:config", "what jobs of the deployment are given"),
    Guard("Deployment", "variables", "variable:write", "releases of all its targets"),
    Guard("Resource", "variables", "variable:write", "releases on the resource"),
    Guard("Freeze", USER, "fleet:write", "whose doing it seems to be"),
    Guard("VariableSet", "variables", "variable:write", "releases of all targets that it selects"),
    *(
        Guard(kind.name, CREATED_AT, "fleet:write", "how old it seems, to selectors and to people")
        for kind in kinds.NAMED
    ),
)
_BY_KIND = {kind: tuple(one for one in GUARDS if one.kind == kind) for kind in kinds.BY_NAME}


def check_fields(call: Request, old: Object | None, new: Object, *, has_own_id: bool = False) -> None:
    """Only what changes is asked about: an object can be read and put again as it was."""
    for guard in _BY_KIND[type(new).__name__]:
        if guard.field == USER and getattr(new, USER) in ("", call.caller.user):
            continue
        if guard.field == ID:
            is_written = old is None and has_own_id
        elif guard.field == CREATED_AT:
            # It never changes afterwards, whatever is said; 0 is what nobody said.
            is_written = old is None and new.created_at != 0
        else:
            is_written = _value(old, guard.field, type(new)) != _value(new, guard.field, type(new))
        if is_written:
            refusals.require(call, guard.permission, guard.why)
    if isinstance(new, model.Version) and new.status == "rejected":
        _check_mark(call, old, new)


def _check_mark(call: Request, old: Object | None, new: model.Version) -> None:
    """By its status a version is marked as bad; a record of that which comes along says whose doing it was, and when.
    What is marked already stays so."""
    if isinstance(old, model.Version) and old.status == "rejected":
        return
    refusals.require(call, "version:reject", "rejecting a version")
    if new.rejection is not None:
        refusals.require(call, "version:import", "rejection of a version")


def _value(item: Object | None, field: str, kind: type[Any]) -> bytes:
    """Written out, because 1 and true are not the same here."""
    declared = documents.fields_of(kind)[field]
    value = getattr(item, declared.name) if item is not None else documents.default_of(declared)
    return _CANONICAL.encode(rendering.written(value))


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
