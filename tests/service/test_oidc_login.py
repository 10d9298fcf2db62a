"""Logging in at a provider: what a browser gets, and what an attacker does not."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote_plus, urlsplit

import pytest

from .client import Answer, Client
from .identity_provider import CLIENT, SECRET, IdentityProvider, running, settings
from .server import Server

CALLBACK = "/v1/session/callback"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, IdentityProvider]]:
    folder = tmp_path_factory.mktemp("oidc")
    with running() as provider:
        file = folder / "oidc.yaml"
        file.write_text(settings(provider))
        server = Server(folder, "--oidc", str(file), environment={"HEADGATE_TEST_CLIENT_SECRET": SECRET})
        server.start()
        yield server, provider
        server.stop()
        assert "Traceback" not in server.log.read_text()


@pytest.fixture
def provider(machine: tuple[Server, IdentityProvider]) -> Iterator[IdentityProvider]:
    found = machine[1]
    kept = dict(vars(found))
    yield found
    vars(found).update(kept)


@pytest.fixture
def anybody(machine: tuple[Server, IdentityProvider]) -> Client:
    return machine[0].anybody()


def cookies(answer: Answer) -> dict[str, str]:
    """By name; the client joins headers of one name with a comma at most, so it is asked for one by one."""
    found = {}
    for line in answer.cookies:
        name, _, value = line.partition(";")[0].partition("=")
        found[name] = value
    return found


class Browser:
    """As much of one as a login needs: it keeps cookies and follows what it is told."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.jar: dict[str, str] = {}

    def call(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.jar.items()), **headers}
        answer = self._client.call(method, path, body, sent)
        for name, value in cookies(answer).items():
            self.jar[name] = value
            if not value:
                del self.jar[name]
        return answer

    def begin(self, return_to: str = "/fleet?view=grid") -> dict[str, str]:
        answer = self.call("POST", "/v1/session/oidc", {"returnTo": return_to})
        assert answer.status == 201, answer
        return {name: values[0] for name, values in parse_qs(urlsplit(answer.json["address"]).query).items()}

    def come_back(self, provider: IdentityProvider, asked: dict[str, str]) -> Answer:
        parts = urlsplit(provider.authorize(asked))
        return self.call("GET", f"{parts.path}?{parts.query}")


@pytest.fixture
def browser(anybody: Client) -> Browser:
    return Browser(anybody)


def written(attempt: bytes) -> str:
    return base64.urlsafe_b64encode(attempt).decode()


def failure(answer: Answer) -> str:
    assert answer.status == 303, answer
    page, _, why = answer.headers["location"].partition("#login-failed=")
    assert page == "/"
    return why


def test_whoever_the_provider_knows_is_logged_in(browser: Browser, provider: IdentityProvider) -> None:
    asked = browser.begin()
    assert asked["response_type"] == "code"
    assert asked["code_challenge_method"] == "S256"
    assert "openid" in asked["scope"].split()
    assert asked["tenant"] == "1"
    answer = browser.come_back(provider, asked)
    assert answer.status == 303
    assert answer.headers["location"] == "/fleet?view=grid"
    assert "headgate_login" not in browser.jar
    session = browser.call("GET", "/v1/session").json
    assert session["user"] == "ada@example.com"
    assert session["expiresAt"] is not None
    assert "freeze:write" in session["workspaces"]["*"]
    freeze = {"name": "by-ada", "reason": "seen in a browser"}
    assert browser.call("POST", "/v1/freezes", freeze).status == 403
    assert browser.call("POST", "/v1/freezes", freeze, **{"Headgate-Csrf": session["csrf"]}).status == 201
    assert browser.call("DELETE", "/v1/freezes/by-ada", **{"Headgate-Csrf": session["csrf"]}).status == 200
    assert browser.call("DELETE", "/v1/session", **{"Headgate-Csrf": session["csrf"]}).status == 204
    assert browser.call("GET", "/v1/session").status == 401


def test_cookies_tell_nobody_and_end_with_what_they_stand_for(
    browser: Browser, provider: IdentityProvider
) -> None:
    provider.seconds = 120
    asked = browser.begin()
    answer = browser.come_back(provider, asked)
    (session,) = (line for line in answer.cookies if line.startswith("headgate_session"))
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(session.split("; "))
    age = next(int(part[8:]) for part in session.split("; ") if part.startswith("Max-Age="))
    assert 60 < age <= 120
    provider.seconds = 0
    assert failure(browser.come_back(provider, browser.begin())) == "refused"


def test_the_client_proves_itself_to_the_provider(browser: Browser, provider: IdentityProvider) -> None:
    browser.come_back(provider, browser.begin())
    proof = base64.b64decode(str(provider.proofs[-1]).removeprefix("Basic ")).decode()
    assert [unquote_plus(part) for part in proof.split(":")] == [CLIENT, SECRET]
    assert provider.forms[-1]["grant_type"] == "authorization_code"


def test_an_answer_for_another_browser_is_not_taken(
    anybody: Client, browser: Browser, provider: IdentityProvider
) -> None:
    """The attacker begins, and sends the victim the address that ends it: the victim would work as the attacker."""
    asked = Browser(anybody).begin()
    assert failure(browser.come_back(provider, asked)) == "stale"
    browser.begin()
    assert failure(browser.come_back(provider, asked)) == "stale"
    assert browser.call("GET", "/v1/session").status == 401


def test_what_is_over_is_over(browser: Browser, provider: IdentityProvider) -> None:
    asked = browser.begin()
    kept = dict(browser.jar)
    parts = urlsplit(provider.authorize(asked))
    assert browser.call("GET", f"{parts.path}?{parts.query}").headers["location"] == "/fleet?view=grid"
    browser.jar = kept
    assert failure(browser.call("GET", f"{parts.path}?{parts.query}")) == "away"


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"nonce": "of another attempt"}, "refused"),
        ({"nonce": None}, "refused"),
        ({"aud": "another-client"}, "refused"),
        ({"aud": "headgate"}, "refused"),
        ({"aud": [CLIENT, "other"], "azp": "other"}, "refused"),
        ({"iss": "https://evil.example.com"}, "refused"),
        ({"exp": 1}, "refused"),
        ({"exp": None}, "refused"),
        ({"email": None}, "refused"),
        ({"email_verified": False}, "refused"),
        ({"groups": []}, "no-role"),
        ({"groups": ["strangers"]}, "no-role"),
        ({"groups": ["sre"], "more": "x" * 4000}, "too-long"),
    ],
)
def test_a_token_that_proves_nothing_begins_no_session(
    browser: Browser, provider: IdentityProvider, claims: dict[str, object], why: str
) -> None:
    provider.claims = {**provider.claims, **claims}
    assert failure(browser.come_back(provider, browser.begin())) == why
    assert "headgate_session" not in browser.jar


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example.com/",
        "//evil.example.com/",
        "/\\evil.example.com",
        "\\\\evil.example.com",
        "/\t/evil.example.com",
        "/x\r\nSet-Cookie: a=b",
        "javascript:alert(1)",
        "",
        "/" + "x" * 1999 + " ",
    ],
)
def test_nobody_is_sent_elsewhere(browser: Browser, provider: IdentityProvider, target: str) -> None:
    answer = browser.call("POST", "/v1/session/oidc", {"returnTo": target})
    if answer.status == 422:
        return
    query = parse_qs(urlsplit(answer.json["address"]).query)
    back = browser.come_back(provider, {name: values[0] for name, values in query.items()})
    assert back.headers["location"] == "/"


def test_a_cookie_that_somebody_wrote_sends_nobody_elsewhere(
    browser: Browser, provider: IdentityProvider
) -> None:
    asked = browser.begin()
    padded = browser.jar["headgate_login"] + "=" * (-len(browser.jar["headgate_login"]) % 4)
    attempt = json.loads(base64.urlsafe_b64decode(padded))
    forged = json.dumps({**attempt, "return_to": "//evil.example.com"}).encode()
    browser.jar["headgate_login"] = base64.urlsafe_b64encode(forged).decode()
    assert browser.come_back(provider, asked).headers["location"] == "/"
    nested = b'{"more": ' + b"[" * 9_000 + b"]" * 9_000 + b"}"
    for broken in ("x", "eyJ9", "%00", *map(written, (b'{"state": 1}', nested))):
        asked = browser.begin()
        browser.jar["headgate_login"] = broken
        assert failure(browser.come_back(provider, asked)) == "stale"


def test_what_the_provider_refuses_is_said_in_our_words(browser: Browser, provider: IdentityProvider) -> None:
    provider.error = "access_denied"
    assert failure(browser.come_back(provider, browser.begin())) == "denied"
    provider.error = "<script>alert(1)</script>"
    answer = browser.come_back(provider, browser.begin())
    assert failure(answer) == "refused"
    assert b"script" not in answer.body
    asked = browser.begin()
    assert failure(browser.call("GET", f"{CALLBACK}?state={asked['state']}")) == "refused"
    asked = browser.begin()
    evil = f"{CALLBACK}?state={asked['state']}&code=x&iss=https%3A%2F%2Fevil.example.com"
    assert failure(browser.call("GET", evil)) == "refused"


def test_a_provider_that_is_away_is_said_to_be(browser: Browser, provider: IdentityProvider) -> None:
    """Where its page is stays known for a while: whoever goes there sees for themselves that it is away."""
    browser.begin()
    provider.is_away = True
    asked = browser.begin()
    parts = urlsplit(provider.authorize(asked))
    assert failure(browser.call("GET", f"{parts.path}?{parts.query}")) == "away"


def test_what_it_says_of_itself_is_not_asked_for_at_every_login(
    browser: Browser, provider: IdentityProvider
) -> None:
    browser.come_back(provider, browser.begin())
    before = provider.discoveries
    for _ in range(3):
        assert browser.come_back(provider, browser.begin()).status == 303
    assert provider.discoveries == before


def test_another_site_can_begin_nothing(anybody: Client) -> None:
    answer = anybody.call("POST", "/v1/session/oidc", b"{}", {"Content-Type": "text/plain"})
    assert answer.status == 415
    assert not answer.cookies


def test_the_ways_in_are_told(anybody: Client, server: Server) -> None:
    assert anybody.get("/v1/session/ways") == {"oidc": {"title": "Example SSO"}}
    without = server.anybody()
    assert without.get("/v1/session/ways") == {"oidc": None}
    assert without.call("POST", "/v1/session/oidc", {}).status == 404
    assert without.call("GET", f"{CALLBACK}?code=x&state=y").status == 404


def test_over_https_a_neighbour_under_the_same_domain_logs_nobody_in(tmp_path: Path) -> None:
    """It can set cookies for the domain, but none of a name that begins with __Host-: with another one, whoever has no
    session yet would go on as the neighbour."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with running() as provider:
        file = tmp_path / "oidc.yaml"
        file.write_text(settings(provider))
        options = ("--oidc", str(file), "--public-url", "https://headgate.example.com")
        server = Server(tmp_path, *options, environment={"HEADGATE_TEST_CLIENT_SECRET": SECRET})
        server.address = f"http://127.0.0.1:{port}"
        server.start()
        server.address = f"http://127.0.0.1:{port}"
        try:
            neighbour, victim = Browser(server.anybody()), Browser(server.anybody())
            asked = neighbour.begin()
            assert list(neighbour.jar) == ["__Host-headgate_login"]
            victim.jar = {"headgate_login": neighbour.jar["__Host-headgate_login"]}
            assert failure(victim.come_back(provider, asked)) == "stale"
            victim.jar = {"headgate_session": server.token}
            assert victim.call("GET", "/v1/session").status == 401
            assert neighbour.come_back(provider, neighbour.begin()).headers["location"] == "/fleet?view=grid"
            assert neighbour.call("GET", "/v1/session").json["user"] == "ada@example.com"
        finally:
            server.stop()
