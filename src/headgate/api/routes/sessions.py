"""Sessions of browsers: begun with a token or with the code of a link, ended by who has them."""

from __future__ import annotations

from typing import Any

from headgate.api.documents import bodies, views
from headgate.api.http import access, login_codes, sessions
from headgate.api.http.calls import Answer, Principal, Refusal, Request, Route
from headgate.api.http.login_codes import CODE_SECONDS
from headgate.api.http.sessions import SECONDS
from headgate.api.routes import tokens
from headgate.kernel import documents, instants, rendering
from headgate.kernel.instants import MICROSECONDS_PER_SECOND
from headgate.kernel.problems import Problem, Rejected


async def begin(call: Request) -> Answer:
    given = documents.read(bodies.SessionInput, call.body)
    if (given.token is None) == (given.code is None):
        raise Rejected([Problem("token", "is required, or code; one of the two")])
    if given.token is not None:
        credential = given.token.strip()
    else:
        redeemed = call.service.login_codes.redeem(given.code or "")
        if redeemed is None:
            raise Refusal(
                401,
                "The link is not valid",
                "it works once, for ten minutes, at the server that made it; `headgate console` makes another one, or log in "
                "with a token",
            )
        credential = redeemed
    authenticate = call.service.authenticate
    assert authenticate is not None
    principal = await authenticate(f"Bearer {credential}")
    cookie = sessions.opening(credential, call.service.public_url, seconds_of(call, principal))
    return Answer(201, _view(principal, credential), cookies=(cookie,))


def seconds_of(call: Request, principal: Principal) -> int:
    """No longer than what it stands for."""
    ends = principal.known_until
    if ends is None:
        return SECONDS
    return max(1, min(SECONDS, (ends - call.service.clock()) // MICROSECONDS_PER_SECOND))


async def show(call: Request) -> Answer:
    return Answer(200, _view(call.principal, sessions.of_cookie(call.headers, call.service.public_url)))


def _view(principal: Principal, credential: str | None) -> dict[str, Any]:
    proof = None if credential is None else sessions.proof(credential)
    return rendering.built(
        views.ConsoleSession,
        principal,
        workspaces=tokens.grants(principal),
        csrf=proof,
        expires_at=principal.known_until,
    )


async def end(call: Request) -> Answer:
    return Answer(204, None, cookies=(sessions.closing(call.service.public_url),))


async def make_code(call: Request) -> Answer:
    """For the caller's own credential, so nobody gets more than they have."""
    header = sessions.authorization("GET", call.headers, call.service.public_url) or ""
    code = call.service.login_codes.issue(header.partition(" ")[2].strip())
    until = call.service.clock() + instants.seconds(CODE_SECONDS)
    link = login_codes.link(call.service.public_url, code)
    return Answer(201, rendering.built(views.LoginCode, None, code=code, link=link, expires_at=until))


ROUTES = (
    Route(
        "POST", "/v1/session", "beginSession", "Begin a session of a browser",
        begin, None, "sessions", {201: views.ConsoleSession},
        body=bodies.SessionInput, scope="service", problems=(401, 422),
        description=(
            "Answers with a cookie that no script can read. Changes that are made with it need the header "
            "`Headgate-Csrf` with the `csrf` of this answer."
        ),
    ),
    Route(
        "GET", "/v1/session", "getSession", "Who is logged in, and what they may do",
        show, access.ANY_TOKEN, "sessions", {200: views.ConsoleSession}, scope="service",
        description="`csrf` is null for a caller with the header Authorization.",
    ),
    Route(
        "DELETE", "/v1/session", "endSession", "End the session of this browser",
        end, None, "sessions", {204: None}, scope="service",
    ),
    Route(
        "POST", "/v1/session/codes", "createLoginCode", "Make a link that logs in once",
        make_code, access.ANY_TOKEN, "sessions", {201: views.LoginCode}, scope="service",
        description="It logs in as the caller, once, within ten minutes, at the server that made it.",
    ),
)  # fmt: skip
