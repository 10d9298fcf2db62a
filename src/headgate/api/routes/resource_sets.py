"""A provider (an inventory, a cloud account) hands in all of its resources; what it no longer has is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from headgate.api import (
    bodies,
    finding,
    kinds,
    objects,
    replies,
    shapes,
)
from headgate.api.calls import Answer, Call, Route
from headgate.api.objects import Parsed
from headgate.api.routes import fleet_objects
from headgate.fleet import changes, model
from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import Context, Reply

PROVIDER_KEY = "headgate/provider"


async def put_set(call: Call) -> Answer:
    wanted = await replies.in_thread(documents.read, bodies.ResourceSetInput, call.body)
    parsed = await replies.in_thread(_parse, wanted, call.workspace)
    return await replies.submit(call, lambda context: _replace(context, wanted.provider, parsed), alone=True)


def _parse(wanted: bodies.ResourceSetInput, workspace: str) -> list[Parsed]:
    problems: list[Problem] = []
    found: dict[str, Parsed] = {}
    for index, body in enumerate(wanted.resources):
        if len(problems) >= documents.MOST_PROBLEMS:
            break
        path = documents.item_path("resources", index)
        try:
            parsed = objects.parse(kinds.RESOURCE.name, body, workspace)
        except Rejected as rejected:
            problems.extend(Problem(_below(path, one.path), one.message) for one in rejected.problems)
            continue
        if parsed.object.name in found:
            problems.append(Problem(f"{path}.name", f"is {parsed.object.name!r}, as in an item before"))
        found[parsed.object.name] = _owned(parsed, wanted.provider)
    if problems:
        raise Rejected(problems)
    return list(found.values())


def _below(path: str, rest: str) -> str:
    return f"{path}{rest}" if not rest or rest.startswith("[") else f"{path}.{rest}"


def _owned(parsed: Parsed, provider: str) -> Parsed:
    metadata = {**parsed.object.metadata, PROVIDER_KEY: provider}
    return Parsed(msgspec.structs.replace(parsed.object, metadata=metadata), parsed.has_own_id)


def _replace(context: Context, provider: str, parsed: list[Parsed]) -> Reply:
    """Deletes first, so that an identifier can move to a resource of another name."""
    _check_owners(context, provider, parsed)
    state = context.engine.state
    result = shapes.ResourceSetResult([], [], [], [])
    wanted = {one.object.name for one in parsed}
    for name, node in list(state.resources.items()):
        if node.object.metadata.get(PROVIDER_KEY) == provider and name not in wanted:
            context.apply(changes.Delete(kinds.RESOURCE.name, name))
            result.deleted.append(name)
    for index, one in enumerate(parsed):
        with _at(documents.item_path("resources", index)):
            _put(context, one, result)
    return replies.reply(200, {key: sorted(names) for key, names in msgspec.structs.asdict(result).items()})


def _check_owners(context: Context, provider: str, parsed: list[Parsed]) -> None:
    problems = []
    for index, one in enumerate(parsed):
        old = finding.find(context.engine.state, kinds.RESOURCE, one.object.name)
        owner = old.metadata.get(PROVIDER_KEY) if isinstance(old, model.Resource) else None
        if owner not in (None, provider):
            message = f"is {one.object.name!r}, which belongs to the provider {owner}"
            problems.append(Problem(f"{documents.item_path('resources', index)}.name", message))
    if problems:
        raise Rejected(problems)


def _put(context: Context, parsed: Parsed, result: shapes.ResourceSetResult) -> None:
    name = parsed.object.name
    old = kinds.RESOURCE.get(context.engine.state, name)
    thing = fleet_objects.settled(context, kinds.RESOURCE, parsed, old, "")
    if old is not None and objects.is_same(old, thing):
        result.unchanged.append(name)
        return
    with objects.flat_paths():
        context.apply(changes.Put(thing))
    (result.created if old is None else result.updated).append(name)


@contextmanager
def _at(path: str) -> Iterator[None]:
    try:
        yield
    except Rejected as rejected:
        raise Rejected(Problem(_below(path, one.path), one.message) for one in rejected.problems) from None


ROUTES = (
    Route(
        "PUT",
        "/v1/resources/set",
        "putResourceSet",
        "Replace the resources of a provider",
        put_set,
        "resource:write",
        "resources",
        {200: shapes.ResourceSetResult},
        body=bodies.ResourceSetInput,
        mutates=True,
        description=(
            "The provider has exactly these resources afterwards: others of the same provider are deleted, "
            "all or nothing. A resource that has no provider yet is taken over."
        ),
    ),
)
