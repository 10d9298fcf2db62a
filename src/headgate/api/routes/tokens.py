"""API tokens of a workspace. Nobody gives away more than they have."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any

import msgspec

from headgate.api import recording
from headgate.api.documents import bodies, views
from headgate.api.http import access, authentication, lists, pages, permissions, refusals, replies, tokens
from headgate.api.http.calls import Answer, Principal, Refusal, Request, Route
from headgate.api.http.schemas import PageSchema
from headgate.kernel import documents, rendering
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import Reply
from headgate.store.log import AuditEntry
from headgate.store.port import Token, Transaction

KIND = "Token"


def document(token: Token, last_used_at: Instant | None = None) -> dict[str, Any]:
    return rendering.built(views.TokenView, token, last_used_at=last_used_at)


def _visible(call: Request, tokens: Iterable[Token]) -> list[Token]:
    """Those of the workspace; those that are good everywhere for who manages all workspaces."""
    workspaces = {call.workspace, None} if call.principal.allows("token:write", "*") else {call.workspace}
    return [token for token in tokens if token.workspace in workspaces]


async def list_tokens(call: Request) -> Answer:
    async def rows() -> list[tuple[str, int, dict[str, Any]]]:
        visible_tokens = _visible(call, await asyncio.to_thread(call.service.store.tokens, None))
        uses = await asyncio.to_thread(authentication.last_uses, call.service.store)
        return [
            (f"{token.name}\n{token.id}", token.created_at, document(token, uses.get(token.id)))
            for token in visible_tokens
        ]

    return await lists.answer(call, lists.of_rows("token", rows))


async def create_token(call: Request) -> Answer:
    given = documents.read(bodies.TokenInput, call.body)
    _check(call, given)
    _check_giving(call, given)
    _check_lifetime(call, given)
    secret, token = tokens.issue(
        name=given.name,
        workspace=None if given.all_workspaces else call.workspace,
        role=given.role,
        now=call.service.clock(),
        permissions=given.permissions,
        agents=given.agents,
        created_by=call.caller.user,
        expires_at=given.expires_at,
    )
    reply = replies.reply(201, {**document(token), "secret": secret})
    store = partial(_store, token, reply, call)
    return replies.answer(
        await asyncio.to_thread(partial(recording.once, call, call.workspace, store, keeps_reply=False))
    )


def _check(call: Request, given: bodies.TokenInput) -> None:
    problems = [
        Problem(
            documents.item_path("permissions", index),
            f"is {one[:60]!r}; allowed are {', '.join(sorted(permissions.ALL))}",
        )
        for index, one in enumerate(given.permissions)
        if one not in permissions.ALL
    ]
    problem = tokens.name_problem(given.name)
    if problem is not None:
        problems.append(Problem("name", problem))
    if given.role is None and not given.permissions:
        problems.append(Problem("role", "is required unless permissions are given"))
    if given.expires_at is not None and given.expires_at <= call.service.clock():
        problems.append(
            Problem("expiresAt", f"is {rendering.render(given.expires_at)}, which is over already")
        )
    if problems:
        raise Rejected(problems)


def _check_giving(call: Request, given: bodies.TokenInput) -> None:
    where = "*" if given.all_workspaces else call.workspace
    wanted = permissions.granted(given.role, given.permissions)
    missing = sorted(one for one in wanted if not call.principal.allows(one, where))
    if given.all_workspaces and not call.principal.allows("token:write", where):
        missing.insert(0, "token:write")
    if missing:
        place = "all workspaces" if given.all_workspaces else f"the workspace {call.workspace}"
        raise Refusal(
            403, "Not allowed", f"a token cannot give away what it has not: {', '.join(missing)} in {place}"
        )
    if call.principal.agents and not (given.agents and set(given.agents) <= call.principal.agents):
        names = ", ".join(sorted(call.principal.agents))
        raise Refusal(
            403, "Not allowed", f"this token is for the agents {names}; another one may not be for more"
        )


def _check_lifetime(call: Request, given: bodies.TokenInput) -> None:
    """Otherwise a token that ends would make itself another one in time, for ever."""
    ends = call.principal.expires_at
    if ends is not None and (given.expires_at is None or given.expires_at > ends):
        lifetime = "never" if given.expires_at is None else rendering.render(given.expires_at)
        raise Refusal(
            403,
            "Not allowed",
            f"expiresAt is {lifetime}; this token ends at {rendering.render(ends)}, what it makes too",
        )


def _store(token: Token, reply: Reply, call: Request, transaction: Transaction) -> tuple[Reply, AuditEntry]:
    named = tokens.sounds_like(token.name)
    if any(tokens.sounds_like(one.name) == named and _meet(one, token) for one in transaction.tokens()):
        raise refusals.conflict(
            "The token exists already", f"there is a token {token.name!r} already; its secret was shown once"
        )
    transaction.add_token(token)
    after = msgspec.json.encode(document(token))
    return reply, recording.entry(call, "created", KIND, token.name, None, after)


def _meet(token: Token, other: Token) -> bool:
    """Whether the two can act in the same workspace."""
    return token.workspace is None or other.workspace is None or token.workspace == other.workspace


async def delete_token(call: Request) -> Answer:
    removed: list[str] = []
    reply = await asyncio.to_thread(recording.once, call, call.workspace, partial(_remove, call, removed))
    call.service.tokens_changed()
    for token in removed:
        await asyncio.to_thread(authentication.forget_use, call.service.store, token)
    return replies.answer(reply)


def _keep_the_last_master(call: Request, everybody: Iterable[Token], token: Token) -> None:
    """Without one nobody could make another."""
    now = call.service.clock()
    masters = [one.id for one in everybody if _is_master(one) and not tokens.has_expired(one, now)]
    if masters == [token.id]:
        raise refusals.conflict(
            "The token is needed",
            f"{token.name} is the last one that can make tokens; make another one first",
        )


def _is_master(token: Token) -> bool:
    return token.workspace is None and "token:write" in permissions.granted(token.role, token.permissions)


def _remove(call: Request, removed: list[str], transaction: Transaction) -> tuple[Reply, AuditEntry]:
    reference = call.path["token"]
    visible = _visible(call, transaction.tokens())
    by_id = [token for token in visible if token.id == reference.lower()]
    named = by_id or [token for token in visible if token.name == reference]
    if not named:
        raise refusals.not_found("token", reference, {token.name for token in visible})
    if len(named) > 1:
        raise refusals.conflict("Several tokens have this name", f"name one of {reference!r} by its id")
    token = named[0]
    _keep_the_last_master(call, transaction.tokens(), token)
    transaction.remove_token(token.id)
    removed.append(token.id)
    before = msgspec.json.encode(document(token))
    return replies.NOTHING, recording.entry(call, "deleted", KIND, token.name, before)


async def who_am_i(call: Request) -> Answer:
    return Answer(200, {"user": call.principal.user, "workspaces": grants(call.principal)})


def grants(principal: Principal) -> dict[str, list[str]]:
    return {workspace: sorted(granted) for workspace, granted in sorted(principal.grants.items())}


ROUTES = (
    Route(
        "GET", "/v1/tokens", "listTokens", "List tokens, without their secrets",
        list_tokens, "token:write", "tokens", {200: PageSchema(views.TokenView)},
        query=pages.parameters("token"), problems=(422,),
    ),
    Route(
        "POST", "/v1/tokens", "createToken", "Create a token",
        create_token, "token:write", "tokens", {201: views.NewToken},
        body=bodies.TokenInput, mutates=True, problems=(409,),
        description=(
            "The secret is answered this once, and is not kept for a second answer either: the same request again is "
            "refused because the name is taken."
        ),
    ),
    Route(
        "DELETE", "/v1/tokens/{token}", "deleteToken", "Delete a token, by id or name",
        delete_token, "token:write", "tokens", {204: None}, mutates=True, problems=(409,),
        description="It may still be accepted for a few seconds.",
    ),
    Route(
        "GET", "/v1/whoami", "whoAmI", "Who the token belongs to, and what it may do",
        who_am_i, access.ANY_TOKEN, "tokens", {200: views.WhoAmI}, scope="service",
    ),
)  # fmt: skip
