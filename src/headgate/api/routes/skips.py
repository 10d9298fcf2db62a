"""Skips: a person turns one rule's verdict into allowed, and says why."""

from __future__ import annotations

from typing import Any

from headgate.api import concerning, rollout_documents
from headgate.api.documents import bodies, rollout_views
from headgate.api.http import lists, pages, refusals, replies
from headgate.api.http.calls import Answer, Request, Route
from headgate.api.http.schemas import Concerning, PageSchema
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import concerned, lookup, skips
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import DeleteSkip, PutSkip
from headgate.kernel import documents, rendering
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import CommandContext, EngineView, Reply


async def list_skips(call: Request) -> Answer:
    def all_of_them(view: EngineView) -> list[tuple[str, int, dict[str, Any]]]:
        engine = view.engine
        return [
            (skip.id, skip.created_at, rollout_documents.of_skip(engine, skip))
            for skip in skips.all_of_them(engine)
        ]

    async def rows() -> list[tuple[str, int, dict[str, Any]]]:
        return await replies.ask(call, all_of_them)

    return await lists.answer(call, lists.of_rows("skip", rows, "-createdAt"))


async def get_skip(call: Request) -> Answer:
    answered_document = await replies.ask(
        call, lambda view: rollout_documents.of_skip(view.engine, _skip_of(view.engine, call))
    )
    return replies.object_answer(answered_document)


def _skip_of(engine: Engine, call: Request) -> model.Skip:
    skip = skips.get(engine, call.path["skip"])
    if skip is None:
        raise refusals.not_found("skip", call.path["skip"])
    return skip


async def create_skip(call: Request) -> Answer:
    given = documents.read(bodies.SkipInput, call.body)
    if given.expires_at is not None and given.expires_at <= call.service.clock():
        raise Rejected(
            [Problem("expiresAt", f"is {rendering.render(given.expires_at)}, which is over already")]
        )

    def create(context: CommandContext) -> Reply:
        engine = context.engine
        change = change_of(engine, given, call.caller.user)
        asked_for = skips.asked_for(engine, change, context.now)
        concern = concerned.by_skip(engine, asked_for, context.now)
        context.apply(change)
        return replies.reply_with(201, rollout_documents.of_skip(engine, skips.newest(engine)), concern)

    return await replies.submit(call, create)


def change_of(engine: Engine, given: bodies.SkipInput, user: str) -> PutSkip:
    """Names, so that the change reads the same whatever ids were used."""
    return PutSkip(
        reason=given.reason,
        rule=given.rule,
        policy=_name(engine, kinds.POLICY, given.policy),
        deployment=_name(engine, kinds.DEPLOYMENT, given.deployment),
        tag=given.tag,
        environment=_name(engine, kinds.ENVIRONMENT, given.environment),
        resource=_name(engine, kinds.RESOURCE, given.resource),
        user=user,
        expires_at=given.expires_at,
    )


def _name(engine: Engine, kind: kinds.Kind, reference: str | None) -> str | None:
    if reference is None:
        return None
    item = lookup.find(engine, kind, reference)
    if item is None:
        raise Rejected([Problem(kind.variable, f"there is no {kind.singular} {reference[:300]!r}")])
    return item.name


async def delete_skip(call: Request) -> Answer:
    def delete(context: CommandContext) -> Reply:
        engine = context.engine
        skip = _skip_of(engine, call)
        written = rollout_documents.of_skip(engine, skip)
        replies.check_etag(call.if_match, replies.reply(200, written).body)
        context.apply(DeleteSkip(skip.id))
        concern = concerned.by_skip(engine, skip, context.now, "the end of the skip")
        return concerning.reply_to_end(written, concern)

    return await replies.submit(call, delete)


ROUTES = (
    Route(
        "GET", "/v1/skips", "listSkips", "List skips",
        list_skips, "read", "skips", {200: PageSchema(rollout_views.SkipView)},
        query=pages.parameters("skip", default="-createdAt"), problems=(422,),
    ),
    Route(
        "POST", "/v1/skips", "createSkip", "Skip a rule for what the body names",
        create_skip, "skip:write", "skips", {201: Concerning(rollout_views.SkipView)}, body=bodies.SkipInput, mutates=True,
    ),
    Route("GET", "/v1/skips/{skip}", "getSkip", "Get a skip", get_skip, "read", "skips", {200: rollout_views.SkipView}),
    Route(
        "DELETE", "/v1/skips/{skip}", "deleteSkip", "End a skip",
        delete_skip, "skip:write", "skips", {200: Concerning(rollout_views.SkipView)}, mutates=True, conditional=True,
    ),
)  # fmt: skip
