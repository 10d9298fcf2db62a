"""Systems: names that deployments and environments share; here they get a description."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from headgate.api import recording
from headgate.api.documents import bodies, views
from headgate.api.http import lists, pages, refusals, replies
from headgate.api.http.calls import Answer, Request, Route
from headgate.api.http.schemas import PageSchema
from headgate.fleet.engine.queries import lookup
from headgate.fleet.model import objects as model
from headgate.kernel import documents, identifiers, instants, rendering
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import EngineView, Reply
from headgate.store.log import AuditEntry
from headgate.store.port import Transaction

KIND = "System"


def _named(view: EngineView) -> dict[str, list[str]]:
    """Systems in use, each with what uses it."""
    return lookup.users_of_systems(view.engine)


def _undescribed(workspace: str, name: str) -> dict[str, Any]:
    return {
        "id": identifiers.derive(KIND, workspace, name),
        "name": name,
        "description": "",
        "metadata": {},
        "createdAt": None,
        "updatedAt": None,
    }


async def _systems(call: Request) -> dict[str, dict[str, Any]]:
    described = await asyncio.to_thread(call.service.store.documents, call.workspace, KIND)
    return _all_of_them(call.workspace, described, await replies.ask(call, _named))


def _all_of_them(
    workspace: str, described: Mapping[str, bytes], named: Iterable[str]
) -> dict[str, dict[str, Any]]:
    systems: dict[str, dict[str, Any]] = {name: msgspec.json.decode(body) for name, body in described.items()}
    for name in named:
        systems.setdefault(name, _undescribed(workspace, name))
    return systems


async def list_systems(call: Request) -> Answer:
    async def rows() -> list[tuple[str, int, dict[str, Any]]]:
        systems_by_name = await _systems(call)
        return [(name, _created_at(system), system) for name, system in systems_by_name.items()]

    return await lists.answer(call, lists.of_rows("system", rows))


def _created_at(system: dict[str, Any]) -> int:
    at = system["createdAt"]
    return 0 if at is None else instants.parse(at)


def _find(systems_by_name: dict[str, dict[str, Any]], reference: str) -> dict[str, Any] | None:
    by_id = (one for one in systems_by_name.values() if one["id"] == reference.lower())
    return systems_by_name.get(reference) or next(by_id, None)


async def get_system(call: Request) -> Answer:
    systems = await _systems(call)
    system = _find(systems, call.path["system"])
    if system is None:
        raise refusals.not_found("system", call.path["system"], systems.keys())
    return replies.object_answer(system)


async def put_system(call: Request) -> Answer:
    given = documents.read(bodies.SystemInput, call.body)
    named = await replies.ask(call, _named)

    def act(transaction: Transaction) -> tuple[Reply, AuditEntry]:
        systems = _all_of_them(call.workspace, transaction.documents(KIND), named)
        old = _find(systems, call.path["system"])
        _check_name(given, old["name"] if old is not None else call.path["system"])
        replies.check_etag(call.if_match, None if old is None else msgspec.json.encode(old))
        return _put(call, given, old, transaction)

    return replies.answer(await asyncio.to_thread(recording.once, call, call.workspace, act))


def _check_name(given: bodies.SystemInput, name: str) -> None:
    problem = model.name_problem(name)
    if problem is not None:
        raise Rejected([Problem("name", problem)])
    if given.name not in (None, name):
        raise Rejected([Problem("name", f"is {given.name!r}; the path says {name!r}")])


def _put(
    call: Request, given: bodies.SystemInput, old: dict[str, Any] | None, transaction: Transaction
) -> tuple[Reply, AuditEntry]:
    name = old["name"] if old is not None else call.path["system"]
    now = rendering.render(call.service.clock())
    is_described = old is not None and old["createdAt"] is not None
    system = {
        **_undescribed(call.workspace, name),
        "description": given.description,
        "metadata": given.metadata,
        "createdAt": old["createdAt"] if old is not None and is_described else now,
        "updatedAt": now if is_described else None,
    }
    body = msgspec.json.encode(system)
    transaction.put("service_document", [(call.workspace, KIND, name, body)])
    before = msgspec.json.encode(old) if is_described else None
    entry = recording.entry(call, "updated" if is_described else "created", KIND, name, before, body)
    return replies.object_reply(200 if is_described else 201, body), entry


async def delete_system(call: Request) -> Answer:
    used = await replies.ask(call, _named)

    def act(transaction: Transaction) -> tuple[Reply, AuditEntry]:
        old = _find(_all_of_them(call.workspace, transaction.documents(KIND), used), call.path["system"])
        if old is None:
            raise refusals.not_found("system", call.path["system"])
        name = old["name"]
        replies.check_etag(call.if_match, msgspec.json.encode(old))
        if name in used:
            more = f" and {len(used[name]) - 1} more" if len(used[name]) > 1 else ""
            raise refusals.conflict("The system is in use", f"{used[name][0]}{more} names the system {name}")
        transaction.delete("service_document", [(call.workspace, KIND, name)])
        return replies.NOTHING, recording.entry(call, "deleted", KIND, name, msgspec.json.encode(old))

    return replies.answer(await asyncio.to_thread(recording.once, call, call.workspace, act))


_ONE = "/v1/systems/{system}"
ROUTES = (
    Route(
        "GET", "/v1/systems", "listSystems", "List systems, described or only named",
        list_systems, "read", "systems", {200: PageSchema(views.SystemView)},
        query=pages.parameters("system"), problems=(422,),
    ),
    Route("GET", _ONE, "getSystem", "Get a system", get_system, "read", "systems", {200: views.SystemView}),
    Route(
        "PUT", _ONE, "putSystem", "Describe a system",
        put_system, "fleet:write", "systems", {200: views.SystemView, 201: views.SystemView},
        body=bodies.SystemInput, mutates=True, conditional=True,
    ),
    Route(
        "DELETE", _ONE, "deleteSystem", "Delete a system that nothing names",
        delete_system, "fleet:write", "systems", {204: None}, mutates=True, conditional=True, problems=(409,),
    ),
)  # fmt: skip
