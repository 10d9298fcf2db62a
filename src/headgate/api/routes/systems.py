"""Systems: names that deployments and environments share; here they get a description."""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.api import (
    bodies,
    etags,
    filters,
    lists,
    objects,
    pages,
    recording,
    refusals,
    replies,
    shapes,
)
from headgate.api.calls import Answer, Call, Route
from headgate.api.schemas import Page as PageSchema
from headgate.fleet import model
from headgate.kernel import documents, identifiers
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import Reply, View
from headgate.store.port import AuditEntry

KIND = "System"


def _named(view: View) -> dict[str, list[str]]:
    """Systems in use, each with what uses it."""
    state = view.engine.state
    found: dict[str, list[str]] = {}
    for node in state.deployments.values():
        for name in node.object.systems:
            found.setdefault(name, []).append(f"deployment {node.name}")
    for place in state.environments.values():
        for name in place.object.systems:
            found.setdefault(name, []).append(f"environment {place.name}")
    return found


def _undescribed(workspace: str, name: str) -> dict[str, Any]:
    return {
        "id": identifiers.derive(KIND, workspace, name),
        "name": name,
        "description": "",
        "metadata": {},
        "createdAt": None,
        "updatedAt": None,
    }


async def _systems(call: Call) -> dict[str, dict[str, Any]]:
    described = await replies.in_thread(call.service.store.documents, call.workspace, KIND)
    found = {name: msgspec.json.decode(body) for name, body in described.items()}
    for name in await replies.ask(call, _named):
        found.setdefault(name, _undescribed(call.workspace, name))
    return found


async def list_systems(call: Call) -> Answer:
    async def rows() -> list[tuple[str, int, dict[str, Any]]]:
        found = await _systems(call)
        return [(name, _created_at(system), system) for name, system in found.items()]

    return await lists.answer(call, lists.of_rows("system", rows))


def _created_at(system: dict[str, Any]) -> int:
    at = filters.with_times(system)["createdAt"]
    return 0 if at is None else int(at.timestamp() * 1_000_000)  # type: ignore[attr-defined]


async def _find(call: Call) -> dict[str, Any] | None:
    found = await _systems(call)
    reference = call.path["system"]
    by_id = (one for one in found.values() if one["id"] == reference.lower())
    return found.get(reference) or next(by_id, None)


async def get_system(call: Call) -> Answer:
    found = await _find(call)
    if found is None:
        raise refusals.not_found("system", call.path["system"], (await _systems(call)).keys())
    return replies.object_answer(found)


async def put_system(call: Call) -> Answer:
    given = documents.read(bodies.SystemInput, call.body)
    old = await _find(call)
    name = old["name"] if old is not None else call.path["system"]
    _check_name(given, name)
    etags.check(call.if_match, None if old is None else msgspec.json.encode(old))
    return replies.answer(await replies.in_thread(_put, call, name, given, old))


def _check_name(given: bodies.SystemInput, name: str) -> None:
    flaw = model.name_flaw(name)
    if flaw is not None:
        raise Rejected([Problem("name", flaw)])
    if given.name not in (None, name):
        raise Rejected([Problem("name", f"is {given.name!r}; the path says {name!r}")])


def _put(call: Call, name: str, given: bodies.SystemInput, old: dict[str, Any] | None) -> Reply:
    now = objects.shown(call.service.clock())
    is_described = old is not None and old["createdAt"] is not None
    system = {
        **_undescribed(call.workspace, name),
        "description": given.description,
        "metadata": given.metadata,
        "createdAt": old["createdAt"] if old is not None and is_described else now,
        "updatedAt": now if is_described else None,
    }

    def act() -> tuple[Reply, AuditEntry]:
        body = msgspec.json.encode(system)
        call.service.store.put_document(call.workspace, KIND, name, body)
        before = msgspec.json.encode(old) if is_described else None
        entry = recording.entry(call, "updated" if is_described else "created", KIND, name, before, body)
        return replies.object_reply(200 if is_described else 201, body), entry

    return recording.once(call, call.workspace, act)


async def delete_system(call: Call) -> Answer:
    old = await _find(call)
    used = await replies.ask(call, _named)

    def delete() -> Reply:
        return recording.once(call, call.workspace, act)

    def act() -> tuple[Reply, AuditEntry]:
        if old is None:
            raise refusals.not_found("system", call.path["system"])
        name = old["name"]
        etags.check(call.if_match, msgspec.json.encode(old))
        if name in used:
            more = f" and {len(used[name]) - 1} more" if len(used[name]) > 1 else ""
            raise refusals.conflict("The system is in use", f"{used[name][0]}{more} names the system {name}")
        call.service.store.remove_document(call.workspace, KIND, name)
        return replies.NOTHING, recording.entry(call, "deleted", KIND, name, msgspec.json.encode(old))

    return replies.answer(await replies.in_thread(delete))


_ONE = "/v1/systems/{system}"
ROUTES = (
    Route(
        "GET", "/v1/systems", "listSystems", "List systems, described or only named",
        list_systems, "read", "systems", {200: PageSchema(shapes.System)},
        query=pages.parameters("system"), problems=(422,),
    ),
    Route("GET", _ONE, "getSystem", "Get a system", get_system, "read", "systems", {200: shapes.System}),
    Route(
        "PUT", _ONE, "putSystem", "Describe a system",
        put_system, "fleet:write", "systems", {200: shapes.System, 201: shapes.System},
        body=bodies.SystemInput, mutates=True, conditional=True,
    ),
    Route(
        "DELETE", _ONE, "deleteSystem", "Delete a system that nothing names",
        delete_system, "fleet:write", "systems", {204: None}, mutates=True, conditional=True, problems=(409,),
    ),
)  # fmt: skip
