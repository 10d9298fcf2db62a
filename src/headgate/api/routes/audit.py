"""The audit log: who changed what, newest first."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from headgate.api import rollout_documents
from headgate.api.documents import views
from headgate.api.http import filters, lists, pages
from headgate.api.http.calls import Answer, Parameter, Request, Route
from headgate.api.http.lists import Listing
from headgate.api.http.pages import Key, Page
from headgate.api.http.schemas import PageSchema
from headgate.api.routes.jobs import HISTORY_STEP
from headgate.store.log import AuditEntry


async def list_audit(call: Request) -> Answer:
    kind, name, user = (call.query.get(key) for key in ("kind", "name", "user"))
    read = partial(call.service.store.audit_before, call.workspace, kind=kind, name=name)

    async def fetch(page: Page, position: Key | None, count: int) -> Sequence[tuple[Key, AuditEntry | None]]:
        """Keys are numbers, in the shape of (time, name) that cursors have."""
        before = None if position is None else int(position[0])
        entries = await asyncio.to_thread(read, before, count)
        return [((entry.seq, ""), entry if user in (None, entry.user) else None) for entry in entries]

    listing = Listing(
        "entry",
        fetch,
        rollout_documents.of_audit_entry,
        lambda entry: filters.with_times(rollout_documents.of_audit_entry(entry)),
        HISTORY_STEP,
        pages.NEWEST_FIRST[0],
        is_sparse=user is not None,
    )
    return await lists.answer(call, listing)


ROUTES = (
    Route(
        "GET", "/v1/audit", "listAudit", "List the audit log, newest first",
        list_audit, "audit:read", "audit", {200: PageSchema(views.AuditEntryView)},
        query=(
            *pages.parameters("entry", pages.NEWEST_FIRST, pages.NEWEST_FIRST[0]),
            Parameter("kind", {"type": "string"}, "About objects of this kind."),
            Parameter("name", {"type": "string"}, "About objects of this name."),
            Parameter("user", {"type": "string"}, "By this user."),
        ),
        problems=(422,),
    ),
)  # fmt: skip
