"""Objects that events tell of, as they are by now: so that whoever shows them need not ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import msgspec

from headgate.api import objects, replies
from headgate.api.calls import Request
from headgate.api.routes import approvals, fleet_objects
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import lookup, versions, votes
from headgate.fleet.model import kinds
from headgate.runtime.commands import EngineView
from headgate.store.port import Event

SHOWN = {
    kind.name: kind for kind in (kinds.VERSION, kinds.FREEZE, kinds.POLICY, kinds.JOB_AGENT, kinds.SIGNAL)
}
APPROVAL = "Approval"

Document = dict[str, Any]


async def told_of(call: Request, events: Iterable[Event]) -> bytes | None:
    """One line for each object: its kind, its name, and its document as it is answered elsewhere, null if it is gone. Of
    approvals, all votes on the version in the environment."""
    wanted = dict.fromkeys((one.kind, one.name) for one in events if one.kind in (*SHOWN, APPROVAL))
    if not wanted:
        return None
    return msgspec.json.encode(await replies.ask(call, partial(_documents, call, list(wanted))))


def _documents(call: Request, wanted: list[tuple[str, str]], view: EngineView) -> list[Document]:
    return [
        {"kind": kind, "name": name, "object": _object(call, view.engine, kind, name)}
        for kind, name in wanted
    ]


def _object(call: Request, engine: Engine, kind: str, name: str) -> Any:
    if kind == APPROVAL:
        return list(_votes(engine, name))
    thing = lookup.get(engine, SHOWN[kind], name)
    return None if thing is None else fleet_objects.shown(call, thing, objects.document)


def _votes(engine: Engine, name: str) -> Iterator[Document]:
    deployment, tag, environment = name.split("/", 2)
    version = versions.of_deployment(engine, deployment, tag)
    if version is not None:
        for vote in votes.on(engine, version.id, environment):
            yield approvals.document(engine, vote)
