"""Skips: a person turns one rule's verdict into allowed, and says why."""

from __future__ import annotations

from typing import Any

from headgate.api import (
    bodies,
    concerning,
    finding,
    lists,
    pages,
    refusals,
    replies,
    rollout_views,
)
from headgate.api.calls import Answer, Request, Route
from headgate.api.schemas import Concerning
from headgate.api.schemas import Page as PageSchema
from headgate.fleet.engine import concerns
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import DeleteSkip, PutSkip
from headgate.fleet.state import skips
from headgate.fleet.state.state import State
from headgate.kernel import documents, rendering
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import CommandContext, EngineView, Reply


def document(state: State, skip: model.Skip) -> dict[str, Any]:
    version = state.version(skip.version_id)
    return rendering.built(
        rollout_views.SkipView,
        skip,
        rule_name=_label(state, skip),
        deployment=version.object.deployment if version is not None else None,
        tag=version.tag if version is not None else None,
    )


def _label(state: State, skip: model.Skip) -> str | None:
    policy = state.policies.get(skip.policy)
    rules = policy.rules if policy is not None else ()
    return next((rule.label for rule in rules if rule.id == skip.rule), None)


async def list_skips(call: Request) -> Answer:
    def all_of_them(view: EngineView) -> list[tuple[str, int, dict[str, Any]]]:
        state = view.engine.state
        return [(skip.id, skip.created_at, document(state, skip)) for skip in state.skips.values()]

    async def rows() -> list[tuple[str, int, dict[str, Any]]]:
        return await replies.ask(call, all_of_them)

    return await lists.answer(call, lists.of_rows("skip", rows, "-createdAt"))


async def get_skip(call: Request) -> Answer:
    found = await replies.ask(call, lambda view: _found(view.engine.state, call.path["skip"]))
    return replies.object_answer(found)


def _found(state: State, reference: str) -> dict[str, Any]:
    skip = state.skips.get(reference)
    if skip is None:
        raise refusals.not_found("skip", reference)
    return document(state, skip)


async def create_skip(call: Request) -> Answer:
    given = documents.read(bodies.SkipInput, call.body)
    if given.expires_at is not None and given.expires_at <= call.service.clock():
        raise Rejected(
            [Problem("expiresAt", f"is {rendering.shown(given.expires_at)}, which is over already")]
        )

    def create(context: CommandContext) -> Reply:
        state = context.engine.state
        change = change_of(state, given, call.caller.user)
        concern = concerns.of_skip(state, skips.made(state, change, context.now), context.now)
        context.apply(change)
        newest = next(reversed(state.skips.values()))
        return replies.reply_with(201, document(state, newest), concern)

    return await replies.submit(call, create)


def change_of(state: State, given: bodies.SkipInput, user: str) -> PutSkip:
    """Names, so that the change reads the same whatever ids were used."""
    return PutSkip(
        reason=given.reason,
        rule=given.rule,
        policy=_name(state, kinds.POLICY, given.policy),
        deployment=_name(state, kinds.DEPLOYMENT, given.deployment),
        tag=given.tag,
        environment=_name(state, kinds.ENVIRONMENT, given.environment),
        resource=_name(state, kinds.RESOURCE, given.resource),
        user=user,
        expires_at=given.expires_at,
    )


def _name(state: State, kind: kinds.Kind, reference: str | None) -> str | None:
    if reference is None:
        return None
    found = finding.find(state, kind, reference)
    if found is None:
        raise Rejected([Problem(kind.variable, f"there is no {kind.singular} {reference[:300]!r}")])
    return found.name


def _encoded(state: State, skip: str) -> bytes:
    return replies.reply(200, document(state, state.skips[skip])).body


async def delete_skip(call: Request) -> Answer:
    reference = call.path["skip"]

    def delete(context: CommandContext) -> Reply:
        state = context.engine.state
        written = _found(state, reference)
        replies.check_etag(call.if_match, _encoded(state, reference))
        skip = state.skips[reference]
        context.apply(DeleteSkip(reference))
        concern = concerns.of_skip(state, skip, context.now, "the end of the skip")
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
