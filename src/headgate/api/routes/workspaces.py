"""Workspaces: each with its own objects, log and engine."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import msgspec

from headgate.api import recording
from headgate.api.documents import bodies, views
from headgate.api.http import lists, pages, refusals, replies
from headgate.api.http.calls import Answer, Request, Route
from headgate.api.http.schemas import PageSchema
from headgate.kernel import documents, rendering
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime import retention
from headgate.runtime.commands import CommandContext, Reply
from headgate.runtime.retention import Retention
from headgate.store.log import AuditEntry
from headgate.store.port import Transaction, Workspace

_EVERYWHERE = "*"


def document(workspace: Workspace) -> dict[str, Any]:
    return rendering.built(views.WorkspaceView, workspace)


async def _seen(call: Request) -> list[Workspace]:
    known_workspaces = await asyncio.to_thread(call.service.store.workspaces)
    return [one for one in known_workspaces if call.principal.sees(one.name)]


async def list_workspaces(call: Request) -> Answer:
    async def rows() -> list[tuple[str, int, dict[str, Any]]]:
        return [(one.name, one.created_at, document(one)) for one in await _seen(call)]

    return await lists.answer(call, lists.of_rows("workspace", rows))


async def _find(call: Request) -> Workspace:
    reference = call.path["workspace"]
    seen = await _seen(call)
    by_name = {one.name: one for one in seen}
    by_id = {one.id: one for one in seen}
    workspace = by_name.get(reference) or by_id.get(reference.lower())
    if workspace is None:
        raise refusals.not_found("workspace", reference, by_name)
    return workspace


async def get_workspace(call: Request) -> Answer:
    return replies.object_answer(document(await _find(call)))


async def create_workspace(call: Request) -> Answer:
    given = documents.read(bodies.WorkspaceInput, call.body)
    if given.name == _EVERYWHERE:
        raise Rejected([Problem("name", "is '*', which stands for all workspaces; choose another name")])
    return replies.answer(await asyncio.to_thread(_create, call, given))


def _create(call: Request, given: bodies.WorkspaceInput) -> Reply:
    store = call.service.store
    workspace = Workspace(str(uuid.uuid4()), given.name, given.description, call.service.clock())
    with store.begin_with(workspace) as (transaction, is_new):

        def act(_: Transaction) -> tuple[Reply, AuditEntry]:
            if not is_new:
                raise refusals.conflict(
                    "The workspace exists already", f"there is a workspace {given.name!r} already"
                )
            body = msgspec.json.encode(document(workspace))
            entry = recording.entry(call, "created", "Workspace", given.name, None, body)
            return replies.object_reply(201, body), entry

        reply = recording.once_in(transaction, call, act)
    store.hint()
    return reply


async def delete_workspace(call: Request) -> Answer:
    """Its audit log goes with it."""
    workspace = await _find(call)
    if (await asyncio.to_thread(retention.of, call.service.store, workspace.name)).legal_hold:
        raise refusals.conflict(
            "The workspace is under a legal hold",
            f"take legalHold from the retention of {workspace.name} first",
        )
    if not await asyncio.to_thread(call.service.store.remove_workspace, workspace.name):
        raise refusals.not_found("workspace", workspace.name)
    call.service.tokens_changed()
    call.service.store.hint()
    return Answer(204)


async def get_retention(call: Request) -> Answer:
    workspace = await _find(call)
    return replies.object_answer(
        msgspec.json.encode(await asyncio.to_thread(retention.of, call.service.store, workspace.name))
    )


async def put_retention(call: Request) -> Answer:
    workspace = await _find(call)
    given = documents.read(Retention, call.body)
    return replies.answer(await asyncio.to_thread(_put_retention, call, workspace.name, given))


def _put_retention(call: Request, workspace: str, given: Retention) -> Reply:
    body = msgspec.json.encode(given)

    def act(transaction: Transaction) -> tuple[Reply, AuditEntry]:
        before = transaction.documents(retention.KIND).get(retention.KIND)
        transaction.put("service_document", [(workspace, retention.KIND, retention.KIND, body)])
        entry = recording.entry(call, "put", "Retention", workspace, before, body)
        return replies.object_reply(200, body), entry

    return recording.once(call, workspace, act)


async def repair_clock(call: Request) -> Answer:
    workspace = await _find(call)
    reply = await call.service.worker_client.submit(
        workspace.name, _take_time_back, call.caller, idempotency=call.idempotency, alone=True
    )
    return replies.answer(reply)


def _take_time_back(context: CommandContext) -> Reply:
    was, now = context.take_time_back()
    return replies.reply(200, {"was": rendering.render(was), "now": rendering.render(now)})


_ALL, _ONE = "/v1/workspaces", "/v1/workspaces/{workspace}"
ROUTES = (
    Route(
        "GET", _ALL, "listWorkspaces", "List the workspaces that the token sees",
        list_workspaces, "read", "workspaces", {200: PageSchema(views.WorkspaceView)},
        query=pages.parameters("workspace"), scope="service", problems=(422,),
    ),
    Route(
        "POST", _ALL, "createWorkspace", "Create a workspace",
        create_workspace, "workspace:admin", "workspaces", {201: views.WorkspaceView},
        body=bodies.WorkspaceInput, scope="service", mutates=True, problems=(409,),
    ),
    Route(
        "GET", _ONE, "getWorkspace", "Get a workspace",
        get_workspace, "read", "workspaces", {200: views.WorkspaceView}, scope="service",
    ),
    Route(
        "DELETE", _ONE, "deleteWorkspace", "Delete a workspace with everything in it",
        delete_workspace, "workspace:admin", "workspaces", {204: None}, scope="service", mutates=True, problems=(409,),
        description="Its Idempotency-Keys go with it: the same request again finds no workspace.",
    ),
    Route(
        "GET", f"{_ONE}/retention", "getRetention", "Say how long history is kept",
        get_retention, "read", "workspaces", {200: Retention}, scope="service",
    ),
    Route(
        "PUT", f"{_ONE}/retention", "putRetention", "Set how long history is kept",
        put_retention, "workspace:admin", "workspaces", {200: Retention},
        body=Retention, scope="service", mutates=True, problems=(422,),
        description=(
            "By age and by number, for jobs, groups, audit, events and the log; what is left out has its default. With "
            "legalHold nothing is forgotten."
        ),
    ),
    Route(
        "POST", f"{_ONE}/repair-clock", "repairClock", "Take the time of a workspace back to the clock's",
        repair_clock, "workspace:admin", "workspaces", {200: views.ClockRepair}, scope="service", mutates=True, problems=(422,),
        description=(
            "For a workspace that a wrong clock has taken ahead. Moments that lie in the future are moved to now, in "
            "their order; what is due keeps the time that is left; moments that people wrote stay."
        ),
    ),
)  # fmt: skip
