"""Objects that events tell of, as they are by now: so that whoever shows them need not ask for them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from headgate.api import objects, rollout_documents, secrecy
from headgate.api.http import replies
from headgate.api.http.calls import Request
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import lookup, skips, versions, votes
from headgate.fleet.model import kinds
from headgate.kernel.instants import Instant
from headgate.runtime.commands import EngineView
from headgate.store.log import AuditEntry, Event

SHOWN = {kind.name: kind for kind in kinds.ALL}
APPROVAL, AUDIT, GROUP, JOB, SKIP, VERSION = "Approval", "AuditEntry", "Group", "Job", "Skip", "Version"
MOST_AUDITED = 200
"""Entries of the audit log that are told at once; who shows it keeps no more of them either."""

Document = dict[str, Any]
Subject = tuple[str, str]


class ObjectStream:
    """One stream: what it tells of, and how much of the audit log it has told to somebody who may read that."""

    def __init__(self, call: Request) -> None:
        self._call = call
        self._reads_audit = call.principal.allows("audit:read", call.workspace)
        self._audited: int | None = None

    async def begin(self) -> None:
        """What was before is asked for."""
        if self._reads_audit:
            newest = await self._audit(None, 1)
            self._audited = newest[0].seq if newest else 0

    async def told_of(self, events: Sequence[Event]) -> bytes | None:
        """One line for each object: its kind, its name, and its document as it is answered elsewhere, null if it is gone. Of
        approvals, all votes on the version, in the environment if one is named; of skips, all there are."""
        wanted = list(dict.fromkeys(_subjects(events)))
        news: list[Document] = []
        if wanted:
            news += await replies.ask(self._call, partial(_documents, self._call, wanted))
        if any(one.kind not in (JOB, GROUP) for one in events):
            news += await self._news_of_audit()
        return msgspec.json.encode(news) if news else None

    async def _news_of_audit(self) -> list[Document]:
        if self._audited is None:
            return []
        entries = [one for one in await self._audit(None, MOST_AUDITED) if one.seq > self._audited]
        self._audited = max((one.seq for one in entries), default=self._audited)
        return [
            {"kind": AUDIT, "name": str(one.seq), "object": rollout_documents.of_audit_entry(one)}
            for one in reversed(entries)
        ]

    async def _audit(self, before: int | None, count: int) -> Sequence[AuditEntry]:
        return await asyncio.to_thread(
            self._call.service.store.audit_before, self._call.workspace, before, count
        )


def _subjects(events: Iterable[Event]) -> Iterator[Subject]:
    """A version takes its votes along where it is edited or goes; the jobs of a group move its members."""
    for event in events:
        if event.kind in SHOWN or event.kind in (APPROVAL, GROUP):
            yield event.kind, event.name
        if event.kind == VERSION:
            yield APPROVAL, event.name
        elif event.kind == SKIP:
            yield SKIP, ""
        elif event.kind == JOB:
            group = msgspec.json.decode(event.data).get("group")
            if group is not None:
                yield GROUP, group


def _documents(call: Request, wanted: list[Subject], view: EngineView) -> list[Document]:
    return [
        {"kind": kind, "name": name, "object": _object(call, view.engine, kind, name, view.now)}
        for kind, name in wanted
    ]


def _object(call: Request, engine: Engine, kind: str, name: str, now: Instant) -> Any:
    if kind == APPROVAL:
        return list(_votes(engine, name))
    if kind == SKIP:
        return [rollout_documents.of_skip(engine, one) for one in skips.all_of_them(engine)]
    if kind == GROUP:
        group = engine.groups.get(name)
        return None if group is None else rollout_documents.of_group(engine, group, now)
    item = lookup.get(engine, SHOWN[kind], name)
    return None if item is None else secrecy.render(call, item, objects.document)


def _votes(engine: Engine, name: str) -> Iterator[Document]:
    deployment, tag, *environment = name.split("/", 2)
    version = versions.of_deployment(engine, deployment, tag)
    if version is None:
        return
    for place in environment or lookup.names(engine, kinds.ENVIRONMENT):
        for vote in votes.on(engine, version.id, place):
            yield rollout_documents.of_vote(engine, vote)
