"""Sessions of browsers: what a cookie can do, and what nobody can do with it from elsewhere."""

import gzip
from typing import Any

import pytest

from .client import Answer, Client
from .server import Server

RESOURCE = {"name": "by-session", "kind": "Node", "identifier": "by-session"}


def begin(client: Client, body: object) -> Answer:
    return Client(client.address, None).call("POST", "/v1/session", body)


def cookie_of(answer: Answer) -> str:
    return answer.headers["set-cookie"].partition(";")[0]


def as_browser(
    client: Client, answer: Answer, method: str, path: str, body: Any = None, **headers: str
) -> Answer:
    workspace = None if path.startswith("/v1/session") else client.workspace
    browser = Client(client.address, None, workspace)
    return browser.call(method, path, body, {"Cookie": cookie_of(answer), **headers})


def test_a_token_begins_a_session_that_no_script_can_read(client: Client) -> None:
    answer = begin(client, {"token": client.token})
    assert answer.status == 201
    attributes = answer.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(attributes)
    assert str(client.token) not in answer.body.decode()
    seen = as_browser(client, answer, "GET", "/v1/session").json
    assert seen["user"] == "admin"
    assert seen["csrf"] == answer.json["csrf"]
    assert as_browser(client, answer, "GET", "/v1/resources").status == 200


def test_a_change_needs_the_proof_of_the_page(client: Client) -> None:
    answer = begin(client, {"token": client.token})
    for wrong in ({}, {"Headgate-Csrf": ""}, {"Headgate-Csrf": "0" * 64}, {"Headgate-Csrf": "ä"}):
        refused = as_browser(client, answer, "POST", "/v1/resources", RESOURCE, **wrong)
        assert refused.status == 403
        assert "Headgate-Csrf" in refused.sentences
    assert client.get("/v1/resources")["items"] == []
    proof = {"Headgate-Csrf": answer.json["csrf"]}
    assert as_browser(client, answer, "POST", "/v1/resources", RESOURCE, **proof).status == 201


def test_a_session_can_do_what_its_token_can(client: Client) -> None:
    viewer = client.token_with("looker", role="viewer")
    answer = begin(client, {"token": viewer.token})
    refused = as_browser(
        client, answer, "POST", "/v1/resources", RESOURCE, **{"Headgate-Csrf": answer.json["csrf"]}
    )
    assert refused.status == 403
    assert "resource:write" in refused.sentences
    client.expect(204, "DELETE", "/v1/tokens/looker")
    assert as_browser(client, answer, "GET", "/v1/resources").status == 401


def test_a_link_logs_in_once_and_as_who_made_it(client: Client) -> None:
    viewer = client.token_with("guest", role="viewer")
    made = Client(client.address, viewer.token).expect(201, "POST", "/v1/session/codes").json
    assert made["link"].endswith(f"/#login={made['code']}")
    answer = begin(client, {"code": made["code"]})
    assert answer.status == 201
    assert answer.json["user"] == "guest"
    again = begin(client, {"code": made["code"]})
    assert again.status == 401
    assert "once" in again.sentences


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"token": "hg_x", "code": "y"}, 422),
        ({"token": ""}, 422),
        ({"token": "hg_" + "a" * 43}, 401),
        ({"token": "x" * 17_000}, 422),
        ({"code": "unknown"}, 401),
        ({"password": "x"}, 422),
    ],
)
def test_what_begins_no_session_sets_no_cookie(client: Client, body: object, status: int) -> None:
    answer = begin(client, body)
    assert answer.status == status
    assert "set-cookie" not in answer.headers


def test_a_form_of_another_site_begins_no_session(client: Client) -> None:
    """It can send only what needs no leave of this server: no JSON."""
    body = f'{{"token": "{client.token}"}}'.encode()
    answer = Client(client.address, None).call("POST", "/v1/session", body, {"Content-Type": "text/plain"})
    assert answer.status == 415
    assert "set-cookie" not in answer.headers


def test_whoever_leaves_is_out(client: Client) -> None:
    answer = begin(client, {"token": client.token})
    left = as_browser(client, answer, "DELETE", "/v1/session", **{"Headgate-Csrf": answer.json["csrf"]})
    assert left.status == 204
    assert "Max-Age=0" in left.headers["set-cookie"]


def test_the_console_is_served_to_anybody_and_trusts_nobody(server: Server) -> None:
    anybody = server.anybody()
    page = anybody.expect(200, "GET", "/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["cache-control"] == "no-cache"
    script = page.body.decode().partition('src="/assets/')[2].partition('"')[0]
    asset = anybody.expect(200, "GET", f"/assets/{script}")
    assert asset.headers["content-type"].startswith("text/javascript")
    assert "immutable" in asset.headers["cache-control"]
    assert anybody.call("GET", "/targets/a/b/c", None, {"Accept": "text/html"}).body == page.body
    assert anybody.call("GET", "/targets/a/b/c").status == 404
    for path in ("/assets/none.js", "/assets/..%2f..%2fapp.py", "/assets/../app.py"):
        assert anybody.call("GET", path).body != asset.body
        assert b"import " not in anybody.call("GET", path).body
    assert anybody.call("POST", "/").status == 405
    assert anybody.call("GET", "/v1/none").status == 404


def test_files_of_the_console_come_packed_to_who_can_unpack_them(server: Server) -> None:
    anybody = server.anybody()
    plain = anybody.expect(200, "GET", "/icon.svg")
    packed = anybody.call("GET", "/icon.svg", None, {"Accept-Encoding": "br, gzip"})
    assert gzip.decompress(packed.body) == plain.body
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert "content-encoding" not in plain.headers
