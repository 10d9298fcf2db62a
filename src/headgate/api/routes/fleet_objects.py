"""The simple kinds (resources, environments, deployments, policies, agents, freezes, signals, variable sets): one set of
handlers for all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from headgate.api import etags, finding, kinds, lists, merging, objects, orderings, pages, refusals, replies
from headgate.api.calls import Answer, Call, Route
from headgate.api.kinds import Kind
from headgate.api.lists import Listing
from headgate.api.objects import Parsed
from headgate.api.pages import Key, Page
from headgate.api.schemas import Page as PageSchema
from headgate.api.schemas import Patch
from headgate.fleet import changes, model
from headgate.fleet.changes import Object
from headgate.kernel import documents, identifiers
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import Context, Reply, View

Handler = Callable[[Call], Awaitable[Answer]]


async def list_objects(kind: Kind, call: Call) -> Answer:
    async def fetch(page: Page, position: Key | None, count: int) -> Sequence[tuple[Key, Any]]:
        return await replies.ask(call, partial(rows_after, kind, page, position, count))

    view = _view_of_resource if kind is kinds.RESOURCE else objects.view
    return await lists.answer(call, Listing(kind.variable, fetch, objects.document, view))


def rows_after(
    kind: Kind, page: Page, position: Key | None, count: int, view: View
) -> list[tuple[Key, Object]]:
    state = view.engine.state
    table = kind.table(state)
    keys = orderings.of(state, kind.name, table).keys(
        table, page, lambda node: kind.object_of(node).created_at
    )
    return [(key, kind.object_of(table[key[-1]])) for key in orderings.after(keys, page, position, count)]


def _view_of_resource(resource: model.Resource) -> dict[str, Any]:
    """As selectors see it: there may be a hundred thousand."""
    return resource.cel_view()


async def get_object(kind: Kind, call: Call) -> Answer:
    reference = call.path[kind.path_parameter]
    found = await replies.ask(call, lambda view: finding.required(view.engine.state, kind, reference))
    return replies.object_answer(objects.encode(found))


async def create_object(kind: Kind, call: Call) -> Answer:
    parsed = await replies.in_thread(objects.parse, kind.name, call.body, call.workspace)

    def create(context: Context) -> Reply:
        name = parsed.object.name
        if kind.get(context.engine.state, name) is not None:
            raise refusals.exists(kind.singular, name)
        return put(context, kind, parsed, call.caller.user)

    return await replies.submit(call, create)


async def put_object(kind: Kind, call: Call) -> Answer:
    reference = call.path[kind.path_parameter]
    name = await replies.ask(call, lambda view: _name_to_put(view, kind, reference))
    body = {"name": name, **call.body} if isinstance(call.body, dict) else call.body
    parsed = await replies.in_thread(objects.parse, kind.name, body, call.workspace)
    _check_name(parsed.object.name, name)

    def replace(context: Context) -> Reply:
        old = kind.get(context.engine.state, name)
        etags.check(call.if_match, None if old is None else objects.encode(old))
        return put(context, kind, parsed, call.caller.user)

    return await replies.submit(call, replace)


def _name_to_put(view: View, kind: Kind, reference: str) -> str:
    """A new object is put under its name; an id is made with it."""
    if identifiers.is_uuid(reference):
        return finding.name(view.engine.state, kind, reference)
    return reference


async def patch_object(kind: Kind, call: Call) -> Answer:
    reference = call.path[kind.path_parameter]
    merging.check_patch(call.body)

    def patch(context: Context) -> Reply:
        old = finding.required(context.engine.state, kind, reference)
        etags.check(call.if_match, objects.encode(old))
        merged = merging.merged(objects.document(old), call.body)
        parsed = objects.parse(kind.name, merged, call.workspace)
        _check_name(parsed.object.name, old.name)
        return put(context, kind, parsed, call.caller.user)

    return await replies.submit(call, patch)


async def delete_object(kind: Kind, call: Call) -> Answer:
    reference = call.path[kind.path_parameter]

    def delete(context: Context) -> Reply:
        old = finding.required(context.engine.state, kind, reference)
        etags.check(call.if_match, objects.encode(old))
        with refusals.as_conflict(f"The {kind.singular} cannot be deleted"):
            context.apply(changes.Delete(kind.name, old.name))
        return replies.NOTHING

    return await replies.submit(call, delete)


def _check_name(given: str, name: str) -> None:
    if given != name:
        raise Rejected([Problem("name", f"is {documents.describe(given)}; the path says {name!r}")])


def put(context: Context, kind: Kind, parsed: Parsed, user: str) -> Reply:
    """Creates or replaces; what is the same already is left alone, so that nothing looks again for nothing."""
    state = context.engine.state
    old = kind.get(state, parsed.object.name)
    thing = settled(context, kind, parsed, old, user)
    if old is None or kind is kinds.SIGNAL or not objects.is_same(old, thing):
        with objects.flat_paths():
            context.apply(changes.Put(thing))
    kept = kind.get(state, thing.name)
    assert kept is not None
    return replies.object_reply(201 if old is None else 200, objects.encode(kept))


def settled(context: Context, kind: Kind, parsed: Parsed, old: Object | None, user: str) -> Object:
    """With the id it keeps, and with who froze."""
    thing = parsed.object
    if old is not None:
        if parsed.has_own_id and thing.id != old.id:
            message = f"is {thing.id}, but {old.name} has the id {old.id}; leave it out"
            raise Rejected([Problem("id", message)])
        thing = objects.with_id(thing, old.id)
    elif not parsed.has_own_id:
        thing = objects.with_id(thing, objects.new_id(context.engine.state, kind.name, thing.name))
    else:
        other = finding.find(context.engine.state, kind, thing.id)
        if other is not None:
            raise Rejected([Problem("id", f"is {thing.id}, which is the id of {other.name}")])
    return objects.signed(thing, old, user)


def _routes(kind: Kind) -> tuple[Route, ...]:
    one = f"/v1/{kind.collection}/{{{kind.path_parameter}}}"
    all_of_them = f"/v1/{kind.collection}"
    what, tag = kind.singular, kind.collection
    article = "an" if what[0] in "aeiou" else "a"

    def handler(function: Callable[[Kind, Call], Awaitable[Answer]]) -> Handler:
        return partial(function, kind)

    return (
        Route(
            "GET", all_of_them, f"list{kind.plural}", f"List {what}s" if what != "policy" else "List policies",
            handler(list_objects), "read", tag, {200: PageSchema(kind.model)},
            query=pages.parameters(kind.variable), problems=(422,),
        ),
        Route(
            "POST", all_of_them, f"create{kind.name}", f"Create {article} {what}",
            handler(create_object), kind.permission, tag, {201: kind.model},
            body=kind.model, mutates=True, problems=(409,),
        ),
        Route(
            "GET", one, f"get{kind.name}", f"Get {article} {what}",
            handler(get_object), "read", tag, {200: kind.model},
        ),
        Route(
            "PUT", one, f"put{kind.name}", f"Create or replace {article} {what}",
            handler(put_object), kind.permission, tag, {200: kind.model, 201: kind.model},
            body=kind.model, mutates=True, conditional=True,
        ),
        Route(
            "PATCH", one, f"patch{kind.name}", f"Change fields of {article} {what}",
            handler(patch_object), kind.permission, tag, {200: kind.model},
            body=Patch(kind.model), mutates=True, conditional=True,
        ),
        Route(
            "DELETE", one, f"delete{kind.name}", f"Delete {article} {what}",
            handler(delete_object), kind.permission, tag, {204: None},
            mutates=True, conditional=True, problems=(409,),
        ),
    )  # fmt: skip


ROUTES: tuple[Route, ...] = tuple(route for kind in kinds.SIMPLE for route in _routes(kind))
