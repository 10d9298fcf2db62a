"""Objects that events tell of, as they are by now: so that whoever shows them need not ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import msgspec

from headgate.api import objects, replies
from headgate.api.calls import Request
from headgate.api.routes import approvals, fleet_objects
from headgate.fleet.model import kinds
from headgate.fleet.state.state import State
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
        {"kind": kind, "name": name, "object": _object(call, view.engine.state, kind, name)}
        for kind, name in wanted
    ]


def _object(call: Request, state: State, kind: str, name: str) -> Any:
    if kind == APPROVAL:
        return list(_votes(state, name))
    thing = state.get(SHOWN[kind], name)
    return None if thing is None else fleet_objects.shown(call, thing, objects.document)


def _votes(state: State, name: str) -> Iterator[Document]:
    deployment, tag, environment = name.split("/", 2)
    node = state.deployments.get(deployment)
    version = node.version(tag) if node is not None else None
    if version is not None:
        for vote in state.approvals.get((version.id, environment), {}).values():
            yield approvals.document(state, vote)
