"""The simple kinds (resources, environments, deployments, policies, agents, freezes, signals, variable sets): one set of
handlers for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from headgate.api import concerning, deletions, finding, merging, objects, secrecy, selecting, settling
from headgate.api.deletions import PlannedDeletion
from headgate.api.documents import views
from headgate.api.http import access, lists, pages, refusals, replies
from headgate.api.http.calls import Answer, Request, Route
from headgate.api.http.lists import Listing
from headgate.api.http.pages import Key, Page
from headgate.api.http.schemas import Concerning, PageSchema, Patch
from headgate.api.objects import Parsed
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import lookup
from headgate.fleet.model import changes, kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.fleet.model.kinds import Kind
from headgate.kernel import documents, identifiers
from headgate.kernel.problems import Problem, Rejected, below, renamed
from headgate.runtime.commands import CommandContext, EngineView, Reply

Handler = Callable[[Request], Awaitable[Answer]]

MOST_IN_LIST = 1_000
FORCED = (kinds.POLICY, kinds.FREEZE, kinds.VARIABLE_SET, kinds.ENVIRONMENT, kinds.DEPLOYMENT)
"""Kinds with a selector that is refused if it leaves nobody, unless it is forced."""


async def list_objects(kind: Kind, call: Request) -> Answer:
    async def fetch(page: Page, position: Key | None, count: int) -> Sequence[tuple[Key, Any]]:
        return await replies.ask(call, partial(rows_after, kind, page, position, count))

    view = _view_of_resource if kind is kinds.RESOURCE else objects.view
    return await lists.answer(
        call,
        Listing(
            kind.variable,
            fetch,
            secrecy.renderer(call, kind.name, objects.document),
            secrecy.renderer(call, kind.name, view),
        ),
    )


def rows_after(
    kind: Kind, page: Page, position: Key | None, count: int, view: EngineView
) -> list[tuple[Key, Object]]:
    return lookup.within(view.engine, kind, page.range_behind(position, count))


def _view_of_resource(resource: model.Resource) -> dict[str, Any]:
    """As selectors see it: there may be a hundred thousand."""
    return resource.cel_view()


async def get_object(kind: Kind, call: Request) -> Answer:
    reference = call.path[kind.parameter]
    item = await replies.ask(call, lambda view: finding.required(view.engine, kind, reference))
    return replies.object_answer(secrecy.render(call, item, objects.document))


async def create_object(kind: Kind, call: Request) -> Answer:
    if kind is kinds.POLICY and isinstance(call.body, list):
        return await _create_all(kind, call)
    parsed = await asyncio.to_thread(objects.parse, kind.name, call.body, call.workspace)
    await selecting.check_body(call, call.body)

    def create(context: CommandContext) -> Reply:
        name = parsed.object.name
        if lookup.get(context.engine, kind, name) is not None:
            raise refusals.exists(kind.singular, name)
        return put(context, kind, parsed, call)

    return await replies.submit(call, create)


async def _create_all(kind: Kind, call: Request) -> Answer:
    """All of a list, or none: policies are often written as one."""
    given = await asyncio.to_thread(_parse_list, kind, call.body, call.workspace)
    for index, body in enumerate(call.body):
        await selecting.check_body(call, body, f"{documents.item_path('', index)}.")

    def create(context: CommandContext) -> Reply:
        problems = [
            Problem(f"[{index}].name", f"there is {kind.any_one} {parsed.object.name!r} already")
            for index, parsed in enumerate(given)
            if lookup.get(context.engine, kind, parsed.object.name) is not None
        ]
        if problems:
            raise Rejected(problems)
        made = []
        for index, parsed in enumerate(given):
            with renamed(below(documents.item_path("", index))):
                made.append(put(context, kind, parsed, call))
        return replies.reply(201, b"[" + b",".join(one.body for one in made) + b"]")

    return await replies.submit(call, create, alone=True)


def _parse_list(kind: Kind, bodies: list[Any], workspace: str) -> list[Parsed]:
    problems: list[Problem] = []
    parsed: list[Parsed] = []
    if len(bodies) > MOST_IN_LIST:
        raise Rejected([Problem("", f"has {len(bodies)} items; allowed are {MOST_IN_LIST}")])
    for index, body in enumerate(bodies):
        place = documents.item_path("", index)
        try:
            with renamed(below(place)):
                parsed.append(objects.parse(kind.name, body, workspace))
        except Rejected as rejected:
            problems.extend(rejected.problems)
            continue
        if parsed[-1].object.name in {one.object.name for one in parsed[:-1]}:
            problems.append(Problem(f"{place}.name", "is there twice"))
    if problems:
        raise Rejected(problems)
    return parsed


async def put_object(kind: Kind, call: Request) -> Answer:
    reference = call.path[kind.parameter]
    name = await replies.ask(call, lambda view: _name_to_put(view, kind, reference))
    body = {"name": name, **call.body} if isinstance(call.body, dict) else call.body
    parsed = await asyncio.to_thread(objects.parse, kind.name, body, call.workspace)
    _check_name(parsed.object.name, name)
    await selecting.check_body(call, body)

    def replace(context: CommandContext) -> Reply:
        old = lookup.get(context.engine, kind, name)
        replies.check_etag(call.if_match, None if old is None else objects.encode(old))
        return put(context, kind, parsed, call)

    return await replies.submit(call, replace)


def _name_to_put(view: EngineView, kind: Kind, reference: str) -> str:
    """A new object is put under its name; an id is made with it."""
    if identifiers.is_uuid(reference):
        return finding.name(view.engine, kind, reference)
    return reference


async def patch_object(kind: Kind, call: Request) -> Answer:
    reference = call.path[kind.parameter]
    merging.check_patch(call.body)
    await selecting.check_body(call, call.body)

    def patch(context: CommandContext) -> Reply:
        old = finding.required(context.engine, kind, reference)
        replies.check_etag(call.if_match, objects.encode(old))
        merged = merging.merged(objects.document(old), call.body)
        parsed = objects.parse(kind.name, merged, call.workspace)
        _check_name(parsed.object.name, old.name)
        return put(context, kind, parsed, call)

    return await replies.submit(call, patch)


async def delete_object(kind: Kind, call: Request) -> Answer:
    reference = call.path[kind.parameter]

    def deletion(engine: Engine) -> PlannedDeletion:
        item = finding.required(engine, kind, reference)
        return deletions.of(engine, kind, item, item.name)

    if call.query.get("dryRun"):
        planned = await replies.ask(call, lambda view: deletion(view.engine))
        return Answer(200, planned.document())

    def delete(context: CommandContext) -> Reply:
        old = finding.required(context.engine, kind, reference)
        replies.check_etag(call.if_match, objects.encode(old))
        planned = deletion(context.engine)
        deletions.check(planned, confirm=bool(call.query.get("confirm")))
        with refusals.as_conflict(f"The {kind.singular} cannot be deleted"):
            context.apply(changes.Delete(kind.name, old.name))
        if kind not in deletions.ANSWERED:
            return replies.NOTHING
        return replies.reply(200, deletions.done(context.engine, planned).document())

    return await replies.submit(call, delete)


def _check_name(given: str, name: str) -> None:
    if given != name:
        raise Rejected([Problem("name", f"is {documents.describe(given)}; the path says {name!r}")])


def put(context: CommandContext, kind: Kind, parsed: Parsed, call: Request) -> Reply:
    """Creates or replaces; what is the same already is left alone, so that nothing looks again for nothing."""
    engine = context.engine
    old = lookup.get(engine, kind, parsed.object.name)
    access.check_fields(call, old, parsed.object)
    problem = lookup.name_problem(engine, kind, parsed.object.name) if old is None else None
    if problem is not None:
        raise Rejected([Problem("name", problem)])
    item = settling.settled(context, kind, parsed, old, call.caller.user)
    concerning.check(engine, old, item, force=bool(call.query.get("force")))
    if old is None or kind is kinds.SIGNAL or not objects.is_same(old, item):
        with renamed(objects.flat_path):
            context.apply(changes.Put(item))
    kept = lookup.get(engine, kind, item.name)
    assert kept is not None
    return concerning.reply(engine, 201 if old is None else 200, kept)


def _one_or_list(kind: Kind, schema: Any) -> Any:
    if kind is not kinds.POLICY:
        return schema
    return {"anyOf": [schema, {"type": "array", "maxItems": MOST_IN_LIST, "items": schema}]}


def _routes(kind: Kind) -> tuple[Route, ...]:
    object_path = f"/v1/{kind.collection}/{{{kind.parameter}}}"
    all_of_them = f"/v1/{kind.collection}"
    what, any_one, tag = kind.singular, kind.any_one, kind.collection
    answer = Concerning(kind.model) if kind.model in concerning.SAID_OF else kind.model
    forcing = (concerning.FORCE,) if kind in FORCED else ()

    def handler(function: Callable[[Kind, Request], Awaitable[Answer]]) -> Handler:
        return partial(function, kind)

    return (
        Route(
            "GET", all_of_them, f"list{kind.plural}", f"List {what}s" if what != "policy" else "List policies",
            handler(list_objects), "read", tag, {200: PageSchema(kind.model)},
            query=pages.parameters(kind.variable), problems=(422,),
        ),
        Route(
            "POST", all_of_them, f"create{kind.name}", f"Create {any_one}",
            handler(create_object), kind.permission, tag, {201: _one_or_list(kind, answer)}, query=forcing,
            body=_one_or_list(kind, kind.model), mutates=True, problems=(409,),
        ),
        Route(
            "GET", object_path, f"get{kind.name}", f"Get {any_one}",
            handler(get_object), "read", tag, {200: kind.model},
        ),
        Route(
            "PUT", object_path, f"put{kind.name}", f"Create or replace {any_one}",
            handler(put_object), kind.permission, tag, {200: answer, 201: answer}, query=forcing,
            body=kind.model, mutates=True, conditional=True,
        ),
        Route(
            "PATCH", object_path, f"patch{kind.name}", f"Change fields of {any_one}",
            handler(patch_object), kind.permission, tag, {200: answer}, query=forcing,
            body=Patch(kind.model), mutates=True, conditional=True,
        ),
        Route(
            "DELETE", object_path, f"delete{kind.name}", f"Delete {any_one}",
            handler(delete_object), kind.permission, tag, {200: views.Deletion, 204: None},
            query=(*((deletions.CONFIRM,) if kind.is_confirmed else ()), deletions.DRY_RUN),
            mutates=True, conditional=True, problems=(409,),
        ),
    )  # fmt: skip


_ORDER = sorted(kinds.NAMED, key=lambda kind: kind is kinds.VARIABLE_SET)
"""As the description of the API shows them: sets of variables beside the routes of single ones."""
ROUTES: tuple[Route, ...] = tuple(route for kind in _ORDER for route in _routes(kind))
