"""What a deletion would end, said before it is done; and what asks for a confirmation."""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.api import concerning
from headgate.api.http import refusals
from headgate.api.http.calls import Parameter, Refusal, Request
from headgate.fleet.engine.concerns import Concern
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import brackets, removal, votes
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.fleet.model.kinds import Kind

ANSWERED = (kinds.POLICY, kinds.DEPLOYMENT, kinds.FREEZE)
"""Kinds that bind the targets of others: whoever lets one go is told whom that concerned."""

CONFIRM = Parameter(
    "confirm",
    {"type": "boolean", "default": False},
    "Delete an environment, a deployment or a policy although it has release targets.",
)
DRY_RUN = Parameter(
    "dryRun",
    {"type": "boolean", "default": False},
    "Only say what the deletion would end; nothing is deleted.",
)


class PlannedDeletion(msgspec.Struct, frozen=True):
    """`needed_by` is why it cannot be; `concern` are the targets that it has or guards."""

    kind: Kind
    name: str
    concern: Concern
    needed_by: str | None

    @property
    def asks(self) -> str | None:
        """The sentence that somebody has to say yes to."""
        if not self.kind.is_confirmed or not self.concern.targets:
            return None
        count = self.concern.targets
        names = ", ".join(self.concern.sample)
        more = f" and {count - len(self.concern.sample)} more" if count > len(self.concern.sample) else ""
        what = "is for" if self.kind is kinds.POLICY else "has"
        targets = "release target" if count == 1 else "release targets"
        return f"{self.kind.singular} {self.name} {what} {count} {targets}: {names}{more}"

    def document(self) -> dict[str, Any]:
        return {
            "kind": self.kind.name,
            "name": self.name,
            "concerns": concerning.document(self.concern),
            "needsConfirm": self.asks is not None,
            "neededBy": self.needed_by,
        }


def of(engine: Engine, kind: Kind, item: Object, name: str) -> PlannedDeletion:
    concern = removal.concern_of(engine, kind, item)
    return PlannedDeletion(kind, name, concern, removal.needed_by(engine, kind, item))


def done(engine: Engine, deletion: PlannedDeletion) -> PlannedDeletion:
    """As it turned out: with the hooks that brackets miss since."""
    missed = "; ".join(brackets.lost_hooks(engine))
    return msgspec.structs.replace(
        deletion, concern=msgspec.structs.replace(deletion.concern, note=missed or None)
    )


def check_permission(call: Request, engine: Engine, kind: Kind, item: Object) -> None:
    """A version that is deleted can be published anew: to delete one that was rejected, or vetoed, is to lift that."""
    refusals.require(call, kind.permission, f"deleting {kind.any_one}")
    if isinstance(item, model.Version) and item.status == "rejected":
        refusals.require(call, "version:reject", f"deleting {item.name}, which was rejected,")
    for veto in votes.vetoes(engine, item.id) if isinstance(item, model.Version) else ():
        what = (
            f"deleting {item.name}, which {veto.user} has rejected in {veto.environment} and not withdrawn,"
        )
        refusals.require(call, "version:reject", what)


def check(deletion: PlannedDeletion, *, confirm: bool) -> None:
    if deletion.asks is not None and not confirm:
        raise unconfirmed(deletion.asks)


def unconfirmed(sentence: str) -> Refusal:
    message = f"{sentence}; if that is meant, give confirm"
    return Refusal(409, "The deletion needs a confirmation", message, (("confirm", message),))
