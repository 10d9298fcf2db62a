"""Whom a change concerns, in the answer to it; and the refusal of what concerns nobody, unless it is forced."""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.api import objects
from headgate.api.http import replies
from headgate.api.http.calls import Parameter
from headgate.fleet.engine.concerns import Concern
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import concerned
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import Reply

FORCE = Parameter(
    "force",
    {"type": "boolean", "default": False},
    "Take a selector that matches no release target, or fails on all of them, all the same.",
)
SAID_OF = (model.Policy, model.Freeze, model.Environment, model.Deployment, model.Version)
"""Kinds whose answers say whom they concern."""


def document(concern: Concern) -> dict[str, Any]:
    return {"targets": concern.targets, "sample": list(concern.sample), "note": concern.note}


def reply(engine: Engine, status: int, item: Object) -> Reply:
    return replies.reply_with(status, objects.document(item), concerned.by_object(engine, item))


def reply_to_end(written: dict[str, Any], concern: Concern | None) -> Reply:
    """Of something that has ended: as it was, and whom its end concerns."""
    return msgspec.structs.replace(replies.reply_with(200, written, concern), etag=None)


def check(engine: Engine, old: Object | None, new: Object, *, force: bool) -> None:
    problem = None if force else concerned.problem(engine, old, new)
    if problem is not None:
        raise Rejected([Problem(problem.path, f"{problem.message}; if that is meant, give force")])
