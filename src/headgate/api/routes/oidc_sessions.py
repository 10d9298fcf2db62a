"""Sessions of browsers that are begun at an OIDC provider."""

from __future__ import annotations

from typing import Any

from headgate.api.documents import bodies, views
from headgate.api.http import oidc_login, sessions
from headgate.api.http.calls import Answer, LoginFlow, Parameter, Refusal, Request, Route
from headgate.api.http.oidc_login import ATTEMPT_SECONDS, LoginAttempt, LoginFailedError
from headgate.api.http.problems import unavailable
from headgate.api.routes.sessions import seconds_of
from headgate.kernel import documents

_TEXT: dict[str, Any] = {"type": "string", "maxLength": 4_000, "pattern": "^[ -~]*$"}
"""As OAuth has it: printable ASCII, so that all of them together fit the head of a request."""


async def show_ways(call: Request) -> Answer:
    flow = call.service.login
    return Answer(200, {"oidc": None if flow is None else {"title": flow.title}})


def _flow(call: Request) -> LoginFlow:
    if call.service.login is None:
        raise Refusal(404, "There is no single sign-on here", "log in with a token, or with a link")
    return call.service.login


async def begin(call: Request) -> Answer:
    flow = _flow(call)
    given = documents.read(bodies.OidcLoginInput, call.body)
    attempt = LoginAttempt.begun(given.return_to)
    try:
        address = await flow.address(attempt, call.service.public_url)
    except LoginFailedError as error:
        oidc_login.note(error)
        raise unavailable(
            "the provider does not answer as it should; the log of the server says how"
        ) from None
    cookie = sessions.attempt_opening(attempt.written(), call.service.public_url, ATTEMPT_SECONDS)
    return Answer(201, {"address": address}, cookies=(cookie,))


async def finish(call: Request) -> Answer:
    """Whatever happened, the browser goes to a page of this server, and the attempt is over."""
    flow = _flow(call)
    public_url = call.service.public_url
    over = sessions.attempt_closing(public_url)
    attempt = LoginAttempt.read(sessions.attempt_of(call.headers, public_url) or "")
    try:
        credential, principal = await flow.finish(attempt, call.query, public_url)
    except LoginFailedError as error:
        oidc_login.note(error)
        return Answer(303, None, {"Location": f"/#login-failed={error.failure}"}, cookies=(over,))
    assert attempt is not None
    target = attempt.return_to if oidc_login.is_own_path(attempt.return_to) else "/"
    cookie = sessions.opening(credential, public_url, seconds_of(call, principal))
    return Answer(303, None, {"Location": target}, cookies=(over, cookie))


ROUTES = (
    Route(
        "GET", "/v1/session/ways", "listLoginWays", "How one can log in to the console",
        show_ways, None, "sessions", {200: views.LoginWays}, scope="service",
        description="A token or a link always; `oidc` where the server knows a provider to log in at.",
    ),
    Route(
        "POST", "/v1/session/oidc", "beginOidcLogin", "Begin to log in at the OIDC provider",
        begin, None, "sessions", {201: views.OidcLoginBegun},
        body=bodies.OidcLoginInput, scope="service", problems=(404, 422, 503),
        description=(
            "The browser goes to `address` and comes back to `/v1/session/callback`. What binds the two is in a cookie of "
            f"this answer, for {ATTEMPT_SECONDS // 60} minutes."
        ),
    ),
    Route(
        "GET", oidc_login.CALLBACK, "finishOidcLogin", "Where the OIDC provider sends the browser back to",
        finish, None, "sessions", {303: None}, scope="service", problems=(404,), takes_other_query=True,
        query=(
            Parameter("code", _TEXT), Parameter("state", _TEXT), Parameter("error", _TEXT), Parameter("iss", _TEXT),
        ),
        description=(
            "Sends the browser on: to the page it came from, with the cookie of a session, or to the page that says why "
            "not."
        ),
    ),
)  # fmt: skip
