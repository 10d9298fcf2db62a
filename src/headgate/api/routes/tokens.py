"""API tokens of a workspace. Nobody gives away more than they have."""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.api import (
    access,
    bodies,
    lists,
    objects,
    pages,
    permissions,
    recording,
    refusals,
    replies,
    shapes,
    tokens,
)
from headgate.api.calls import Answer, Call, Refusal, Route
from headgate.api.schemas import Page as PageSchema
from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected
from headgate.store.port import Token

KIND = "Token"


def document(token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "workspace": token.workspace,
        "role": token.role,
        "permissions": list(token.permissions),
        "agents": list(token.agents),
        "createdAt": objects.shown(token.created_at),
        "createdBy": token.created_by,
        "expiresAt": objects.shown_or_none(token.expires_at),
    }


async def _visible(call: Call) -> list[Token]:
    """Those of the workspace; those that are good everywhere for who manages all workspaces."""
    if not call.principal.allows("token:write", "*"):
        return await replies.in_thread(call.service.store.tokens, call.workspace)
    found = await replies.in_thread(call.service.store.tokens, None)
    return [token for token in found if token.workspace in (None, call.workspace)]


async def list_tokens(call: Call) -> Answer:
    async def rows() -> list[tuple[str, int, dict[str, Any]]]:
        return [
            (f"{token.name}\n{token.id}", token.created_at, document(token)) for token in await _visible(call)
        ]

    return await lists.answer(call, lists.of_rows("token", rows))


async def create_token(call: Call) -> Answer:
    given = documents.read(bodies.TokenInput, call.body)
    _check(call, given)
    _check_giving(call, given)
    if any(token.name == given.name for token in await _visible(call)):
        raise refusals.conflict(
            "The token exists already", f"there is a token {given.name!r} already; its secret was shown once"
        )
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
    await replies.in_thread(_store, call, token)
    return Answer(201, {**document(token), "secret": secret})


def _check(call: Call, given: bodies.TokenInput) -> None:
    problems = [
        Problem(
            documents.item_path("permissions", index),
            f"is {one[:60]!r}; allowed are {', '.join(sorted(permissions.ALL))}",
        )
        for index, one in enumerate(given.permissions)
        if one not in permissions.ALL
    ]
    if given.role is None and not given.permissions:
        problems.append(Problem("role", "is required unless permissions are given"))
    if given.expires_at is not None and given.expires_at <= call.service.clock():
        problems.append(Problem("expiresAt", f"is {objects.shown(given.expires_at)}, which is over already"))
    if problems:
        raise Rejected(problems)


def _check_giving(call: Call, given: bodies.TokenInput) -> None:
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


def _store(call: Call, token: Token) -> None:
    call.service.store.add_token(token)
    after = msgspec.json.encode(document(token))
    recording.record(call, call.workspace, recording.entry(call, "created", KIND, token.name, None, after))


async def delete_token(call: Call) -> Answer:
    reference = call.path["token"]
    visible = await _visible(call)
    by_id = [token for token in visible if token.id == reference.lower()]
    found = by_id or [token for token in visible if token.name == reference]
    if not found:
        raise refusals.not_found("token", reference, {token.name for token in visible})
    if len(found) > 1:
        raise refusals.conflict("Several tokens have this name", f"name one of {reference!r} by its id")
    await replies.in_thread(_remove, call, found[0])
    return Answer(204)


def _remove(call: Call, token: Token) -> None:
    if call.service.store.remove_token(token.id):
        call.service.tokens_changed()
        before = msgspec.json.encode(document(token))
        recording.record(call, call.workspace, recording.entry(call, "deleted", KIND, token.name, before))


async def who_am_i(call: Call) -> Answer:
    grants = {workspace: sorted(granted) for workspace, granted in sorted(call.principal.grants.items())}
    return Answer(200, {"user": call.principal.user, "workspaces": grants})


ROUTES = (
    Route(
        "GET", "/v1/tokens", "listTokens", "List tokens, without their secrets",
        list_tokens, "token:write", "tokens", {200: PageSchema(shapes.Token)},
        query=pages.parameters("token"), problems=(422,),
    ),
    Route(
        "POST", "/v1/tokens", "createToken", "Create a token",
        create_token, "token:write", "tokens", {201: shapes.NewToken},
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
        who_am_i, access.ANY_TOKEN, "tokens", {200: shapes.WhoAmI}, scope="service",
    ),
)  # fmt: skip
