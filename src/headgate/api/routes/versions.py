"""Versions: published under their deployment by tag, read everywhere by id or as `deployment/tag`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from headgate.api import concerning, deletions, finding, merging, objects, pruning, secrecy, selecting
from headgate.api.documents import bodies, views
from headgate.api.http import access, lists, pages, refusals, replies
from headgate.api.http.calls import Answer, Request, Route
from headgate.api.http.lists import Listing
from headgate.api.http.pages import Key, Page
from headgate.api.http.schemas import Concerning, PageSchema, Patch
from headgate.api.objects import Parsed
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import lookup, versions
from headgate.fleet.model import changes, kinds
from headgate.fleet.model import objects as model
from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected, renamed
from headgate.runtime.commands import CommandContext, EngineView, Reply

NEWEST_FIRST = "-createdAt"
Find = Callable[[Engine], model.Version]


async def list_versions(call: Request) -> Answer:
    return await _list(call, _all_after)


async def list_versions_of_deployment(call: Request) -> Answer:
    return await _list(call, partial(_after_of_deployment, call.path["deployment"]))


Rows = list[tuple[Key, model.Version]]


async def _list(call: Request, after: Callable[[Page, Key | None, int, EngineView], Rows]) -> Answer:
    async def fetch(page: Page, position: Key | None, count: int) -> Sequence[tuple[Key, model.Version]]:
        return await replies.ask(call, partial(after, page, position, count))

    listing = Listing(
        "version",
        fetch,
        _document(call),
        secrecy.renderer(call, kinds.VERSION.name, objects.view),
        default_sort=NEWEST_FIRST,
    )
    return await lists.answer(call, listing)


def _all_after(page: Page, position: Key | None, count: int, view: EngineView) -> Rows:
    return versions.within(view.engine, page.range_behind(position, count))


def _after_of_deployment(
    deployment: str, page: Page, position: Key | None, count: int, view: EngineView
) -> Rows:
    owner = finding.name(view.engine, kinds.DEPLOYMENT, deployment)
    return versions.of_deployment_within(view.engine, owner, page.range_behind(position, count))


def _by_reference(call: Request) -> Find:
    return lambda engine: finding.version(engine, call.path["version"])


def _by_tag(call: Request) -> Find:
    return lambda engine: finding.version_of(engine, call.path["deployment"], call.path["version"])


async def get_version(find: Callable[[Request], Find], call: Request) -> Answer:
    version = await replies.ask(call, lambda view: find(call)(view.engine))
    return replies.object_answer(secrecy.render(call, version, objects.document))


async def create_version(call: Request) -> Answer:
    """Which deployment is meant is found out in the command, by the state that the version is written to."""
    reference, body = call.path["deployment"], call.body
    if model.target_part_problem(reference) is not None:
        raise refusals.not_found("deployment", reference)
    named = reference
    if isinstance(body, dict):
        named = body.get("deployment", reference)
        body = {**body, "deployment": reference}
    parsed = await asyncio.to_thread(objects.parse, kinds.VERSION.name, body, call.workspace)
    version = parsed.object
    assert isinstance(version, model.Version)
    access.check_fields(call, None, version, has_own_id=parsed.has_own_id)
    if version.target_selector is not None or version.dependencies:
        await selecting.check_body(call, body)
    return await replies.submit(call, partial(_publish, parsed, named, bool(call.query.get("force"))))


def _publish(parsed: Parsed, named: object, force: bool, context: CommandContext) -> Reply:
    """`named` is what the body calls the deployment: by its name, or in the words of the path."""
    engine = context.engine
    given = parsed.object
    assert isinstance(given, model.Version)
    room = versions.room_for(engine, given.deployment, given.tag)
    if room is None:
        raise refusals.not_found("deployment", given.deployment, lookup.names(engine, kinds.DEPLOYMENT))
    if named not in (given.deployment, room.deployment):
        message = f"is {documents.describe(named)}; the path says {room.deployment!r}"
        raise Rejected([Problem("deployment", message)])
    version = given if given.deployment == room.deployment else _of_deployment(room.deployment, given)
    if room.is_taken:
        raise refusals.conflict(
            "The version exists already", f"{room.deployment} has a version {version.tag!r} already"
        )
    if not parsed.has_own_id:
        id_ = engine.new_id(kinds.VERSION.name, f"{version.deployment}/{version.tag}")
        version = msgspec.structs.replace(version, id=id_)
    if version.target_selector is not None:
        concerning.check(engine, None, version, force=force)
    try:
        context.apply(changes.Put(version, create_only=True))
    except Rejected as rejected:
        raise rejected.renamed(objects.flat_path) from None
    return _reply(engine, 201, version.id, objects.document)


def _reply(engine: Engine, status: int, id_: str, document: secrecy.Render) -> Reply:
    version, concern = versions.with_concern(engine, id_)
    return replies.reply_with(status, document(version), concern)


def _document(call: Request) -> secrecy.Render:
    """Who may change a version in one way need not be one who may write its secrets."""
    return secrecy.renderer(call, kinds.VERSION.name, objects.document)


def _of_deployment(name: str, version: model.Version) -> model.Version:
    """By the deployment's name, whichever way it was given; so is the version called, unless it has another name."""
    is_called_so = version.name == f"{version.deployment}/{version.tag}"
    own_name = f"{name}/{version.tag}" if is_called_so else version.name
    problem = model.name_problem(own_name)
    if problem is not None:
        raise Rejected([Problem("name", problem)])
    return msgspec.structs.replace(version, deployment=name, name=own_name)


async def patch_version(find: Callable[[Request], Find], call: Request) -> Answer:
    merging.check_patch(call.body)
    await selecting.check_body(call, call.body)

    def patch(context: CommandContext) -> Reply:
        engine = context.engine
        old = find(call)(engine)
        replies.check_etag(call.if_match, objects.encode(old))
        merged = merging.merged(objects.document(old), call.body)
        parsed = objects.parse(kinds.VERSION.name, merged, call.workspace)
        access.check_fields(call, old, parsed.object)
        parsed = msgspec.structs.replace(parsed, object=pruning.in_set(parsed.object, old, None))
        concerning.check(engine, old, parsed.object, force=bool(call.query.get("force")))
        _change(call, context, old, parsed, only_status=call.body.keys() <= {"status", "message"})
        return _reply(engine, 200, old.id, _document(call))

    return await replies.submit(call, patch)


def _change(
    call: Request, context: CommandContext, old: model.Version, parsed: Parsed, *, only_status: bool
) -> None:
    new = parsed.object
    assert isinstance(new, model.Version)
    problems = [
        Problem(field, f"is {documents.describe(given)}; it stays {kept!r}")
        for field, given, kept in (
            ("deployment", new.deployment, old.deployment),
            ("tag", new.tag, old.tag),
            ("id", new.id, old.id),
        )
        if given != kept
    ]
    if problems:
        raise Rejected(problems)
    if objects.is_same(old, new):
        return
    lifts_rejection = old.status == "rejected" and new.status != old.status
    if lifts_rejection:
        refusals.require(call, "version:reject", "lifting the rejection of a version")
    with renamed(objects.flat_path):
        if only_status and (new.message is not None or old.message is None):
            context.apply(changes.SetVersionStatus(old.deployment, old.tag, new.status, new.message))
        else:
            if lifts_rejection:
                context.apply(changes.SetVersionStatus(old.deployment, old.tag, new.status))
            context.apply(changes.Put(new))


async def reject_version(find: Callable[[Request], Find], call: Request) -> Answer:
    given = documents.read(bodies.RejectInput, call.body)

    def reject(context: CommandContext) -> Reply:
        engine = context.engine
        old = find(call)(engine)
        user = context.caller.user
        context.apply(changes.RejectVersion(old.deployment, old.tag, given.reason, given.rollback, user))
        return _reply(engine, 200, old.id, _document(call))

    return await replies.submit(call, reject)


async def delete_version(find: Callable[[Request], Find], call: Request) -> Answer:
    def deletion(view: EngineView) -> deletions.PlannedDeletion:
        old = find(call)(view.engine)
        deletions.check_permission(call, view.engine, kinds.VERSION, old)
        return deletions.of(view.engine, kinds.VERSION, old, f"{old.deployment}/{old.tag}")

    if call.query.get("dryRun"):
        return Answer(200, (await replies.ask(call, deletion)).document())

    def delete(context: CommandContext) -> Reply:
        old = find(call)(context.engine)
        deletions.check_permission(call, context.engine, kinds.VERSION, old)
        replies.check_etag(call.if_match, objects.encode(old))
        with refusals.as_conflict("The version is in use"):
            context.apply(changes.Delete(kinds.VERSION.name, f"{old.deployment}/{old.tag}"))
        return replies.NOTHING

    return await replies.submit(call, delete)


_OF_DEPLOYMENT = "/v1/deployments/{deployment}/versions"
_TAG = "versions"
_ASKED_BY_FIELD = "targetSelector needs the permission version:scope too, jobAgentConfig needs job:config, createdAt and an id of one's own version:import."


def _routes_for_one(path: str, suffix: str, find: Callable[[Request], Find]) -> tuple[Route, ...]:
    return (
        Route(
            "GET", path, f"getVersion{suffix}", "Get a version",
            partial(get_version, find), "read", _TAG, {200: model.Version},
        ),
        Route(
            "PATCH", path, f"patchVersion{suffix}", "Change the status of a version, or other fields",
            partial(patch_version, find), "version:write", _TAG, {200: Concerning(model.Version)}, query=(concerning.FORCE,),
            body=Patch(model.Version), mutates=True, conditional=True,
            description=_ASKED_BY_FIELD,
        ),
        Route(
            "DELETE", path, f"deleteVersion{suffix}", "Delete a version that runs nowhere",
            partial(delete_version, find), "version:write", _TAG, {200: views.Deletion, 204: None},
            query=(deletions.DRY_RUN,),
            mutates=True, conditional=True, problems=(409,),
            description="One that was rejected, or that somebody voted against, needs the permission version:reject too: it could be published anew.",
        ),
        Route(
            "POST", f"{path}/reject", f"rejectVersion{suffix}", "Mark a version as bad",
            partial(reject_version, find), "version:reject", _TAG, {200: Concerning(model.Version)},
            body=bodies.RejectInput, mutates=True,
            description="It starts nowhere any more; with rollback it goes back where it runs. Its status set to ready lifts that.",
        ),
    )  # fmt: skip


ROUTES: tuple[Route, ...] = (
    Route(
        "GET", "/v1/versions", "listVersions", "List the versions of all deployments",
        list_versions, "read", _TAG, {200: PageSchema(model.Version)},
        query=pages.parameters("version", default=NEWEST_FIRST), problems=(422,),
    ),
    Route(
        "GET", _OF_DEPLOYMENT, "listDeploymentVersions", "List the versions of a deployment",
        list_versions_of_deployment, "read", _TAG, {200: PageSchema(model.Version)},
        query=pages.parameters("version", default=NEWEST_FIRST), problems=(422,),
    ),
    Route(
        "POST", _OF_DEPLOYMENT, "createVersion", "Publish a version",
        create_version, "version:write", _TAG, {201: Concerning(model.Version)}, query=(concerning.FORCE,),
        body=model.Version, mutates=True, problems=(409,),
        description=_ASKED_BY_FIELD,
    ),
    *_routes_for_one("/v1/versions/{version}", "", _by_reference),
    *_routes_for_one(f"{_OF_DEPLOYMENT}/{{version}}", "OfDeployment", _by_tag),
)  # fmt: skip
