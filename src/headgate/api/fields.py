"""Fields that ask for a permission of their own, wherever they can be written: in an object, a set, a manifest, a patch.

Whoever may write an object may not for that reason write all of it: these fields reach further than their object does.
"""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.api import refusals
from headgate.api.calls import Request
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.kernel import documents, rendering

_CANONICAL = msgspec.json.Encoder(order="deterministic")
CREATED_AT, USER, ID = "createdAt", "user", "id"


class Guard(msgspec.Struct, frozen=True):
    """`reaches` says what the field can do beyond its object, for the table in the documentation."""

    kind: str
    field: str
    permission: str
    reaches: str

    @property
    def why(self) -> str:
        return f"{self.field} of a {kinds.BY_NAME[self.kind].singular}"


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


def check(call: Request, old: Object | None, new: Object, *, has_own_id: bool = False) -> None:
    """Only what changes is asked about: an object can be read and put again as it was."""
    for guard in _BY_KIND[type(new).__name__]:
        if guard.field == USER and getattr(new, USER) in ("", call.caller.user):
            continue
        is_written = old is None and has_own_id if guard.field == ID else _is_written(guard, old, new)
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


def _is_written(guard: Guard, old: Object | None, new: Object) -> bool:
    """When something was made never changes afterwards, whatever is said; 0 is what nobody said."""
    if guard.field == CREATED_AT:
        return old is None and new.created_at != 0
    return _value(old, guard.field, type(new)) != _value(new, guard.field, type(new))


def _value(thing: Object | None, field: str, kind: type[Any]) -> bytes:
    """Written out, because 1 and true are not the same here."""
    declared = documents.fields_of(kind)[field]
    value = getattr(thing, declared.name) if thing is not None else documents.default_of(declared)
    return _CANONICAL.encode(rendering.written(value))
