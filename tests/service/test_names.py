"""Names that are paths, scripts or tricks: refused with a sentence, or kept so that they are found again by that name."""

import html
import re

import pytest

from headgate.fleet.model import kinds

from . import fleet, operations
from .client import Answer, Client, segment
from .server import Server

STORABLE = [
    "..", ".", "...", "../../etc/passwd", "..\\..\\windows", "a/b", "/", "//", "a/", "/a", "%2e%2e", "%2F", "%", "%00",
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'; DROP TABLE resource; --", "${7*7}", "{{7*7}}",
    "аdmin", "ａｄｍｉｎ", "é", "e\u0301", "İ", "ß", "日本語", "😀", "a b", "?", "#", "&", "=", "+", "*", "~", "a" * 253,
    "set", "null", "true", "0", "-1", "1e9", "00000000-0000-4000-8000-000000000000", "constructor", "__proto__", "a:b", "@",
    ";", "\\", "|", "$(true)", "`true`", "CON", "NUL", "a.json", "variables", "versions",
]  # fmt: skip
TOKEN_NAME = re.compile(r"[a-zA-Z0-9]([a-zA-Z0-9._:/+-]| (?! ))*(?<! )")
"""Narrower than the others: people read them in the audit log, and must not take one for somebody else."""
TELLING = {"deployments", "policies", "freezes"}
"""Their deletion says whom it concerned."""
REFUSED = [
    "", " ", " a", "a ", "a\nb", "a\rb", "a\tb", "\x1b[31m", "\x7f", "a\u202eb", "\u200b", "\ufeff", "a\u2028b", "\ue000",
    "a" * 254, "😀" * 254, "\ufffe", "👨\u200d👩\u200d👧",
]  # fmt: skip
WITHOUT_SLASH = {"resources", "environments", "deployments"}


def assert_refused(answer: Answer) -> None:
    assert answer.status in (400, 404, 422), answer
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["detail"]


def is_refused(name: str, collection: str) -> bool:
    return "/" in name and collection in WITHOUT_SLASH


@pytest.mark.parametrize("collection", operations.COLLECTIONS)
def test_what_is_stored_is_found_changed_and_deleted_by_its_name(client: Client, collection: str) -> None:
    for name in STORABLE:
        body = operations.NEEDED[collection]
        created = client.call("POST", f"/v1/{collection}", {"name": name, **body})
        if is_refused(name, collection):
            assert_refused(created)
            continue
        assert created.status == 201, f"{name!r}: {created!r}"
        path = f"/v1/{collection}/{segment(name)}"
        assert client.get(path)["name"] == name
        assert client.get(f"/v1/{collection}/{created.json['id']}")["name"] == name
        client.expect(200, "PATCH", path, {"metadata": {"a": "b"}})
        if (collection, name) != ("resources", "set"):
            client.expect(200, "PUT", path, body) if name.count("-") != 4 else None
        client.expect(200 if collection in TELLING else 204, "DELETE", path)
        assert client.call("GET", path).status == 404
    assert client.get(f"/v1/{collection}")["items"] == []


@pytest.mark.parametrize("collection", operations.COLLECTIONS)
def test_a_name_that_nobody_could_read_is_refused(client: Client, collection: str) -> None:
    kind = next(one.name for one in kinds.NAMED if one.collection == collection)
    for name in REFUSED:
        body = operations.NEEDED[collection]
        assert_refused(client.call("POST", f"/v1/{collection}", {"name": name, **body}))
        assert_refused(client.call("PUT", f"/v1/{collection}/{segment(name)}", body))
        assert_refused(client.call("POST", "/v1/apply", {"manifests": [fleet.manifest(kind, name, **body)]}))
    assert client.get("/v1/export")["manifests"] == []


def test_systems_variables_versions_and_tokens_keep_any_name_they_take(client: Client) -> None:
    client.apply(fleet.manifest("Deployment", "api"), fleet.resource("node"))
    for name in STORABLE:
        encoded = segment(name)
        client.expect(201, "PUT", f"/v1/systems/{encoded}", {})
        assert client.get(f"/v1/systems/{encoded}")["name"] == name
        client.expect(204, "DELETE", f"/v1/systems/{encoded}")
        for owner in ("resources/node", "deployments/api"):
            client.expect(200, "PUT", f"/v1/{owner}/variables/{encoded}", {"value": name})
            assert name in client.get(f"/v1/{owner}")["variables"]
            client.expect(204, "DELETE", f"/v1/{owner}/variables/{encoded}")
        client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": name, "name": "n"})
        assert client.get(f"/v1/deployments/api/versions/{encoded}")["tag"] == name
        by_both = f"/v1/versions/{segment(f'api/{name}')}"
        assert client.get(by_both)["tag"] == name
        client.expect(204, "DELETE", by_both)
        if not TOKEN_NAME.fullmatch(name):
            assert_refused(client.call("POST", "/v1/tokens", {"name": name, "role": "viewer"}))
            continue
        client.expect(201, "POST", "/v1/tokens", {"name": name, "role": "viewer"})
        client.expect(204, "DELETE", f"/v1/tokens/{encoded}")
    assert client.get("/v1/versions")["items"] == []


def test_workspaces_keep_any_name_they_take(server: Server, client: Client) -> None:
    service = server.admin()
    for name in STORABLE:
        name = f"{client.workspace}{name}" if len(name) < 100 else name
        made = service.call("POST", "/v1/workspaces", {"name": name})
        if is_refused(name, "resources"):
            assert_refused(made)
            continue
        assert made.status == 201, f"{name!r}: {made!r}"
        assert service.get(f"/v1/workspaces/{segment(name)}")["name"] == name
        inside = Client(server.address, server.token, name)
        inside.expect(201, "PUT", "/v1/resources/thing", {})
        assert inside.get("/v1/status")["deployments"] == []
        service.expect(204, "DELETE", f"/v1/workspaces/{segment(name)}")
        assert inside.call("GET", "/v1/resources").status == 404


def test_every_path_and_filter_takes_any_text(shared: Client) -> None:
    """Nothing is found by such names, and nothing breaks."""
    operations_ = operations.described(shared)
    for path, method, described in operations_.values():
        if not path.startswith("/v1") or method != "GET":
            continue
        for name in (
            "../../etc/passwd",
            "<script>",
            "%2e%2e",
            "a\u202eb",
            "a\nb",
            "x" * 2_000,
            "\ufffe",
            "' OR 1=1 --",
        ):
            parts = [segment(name) if part.startswith("{") else part for part in path.split("/")]
            if "{" in path:
                answer = shared.call("GET", "/".join(parts), workspace=None)
                assert answer.status in (400, 404), f"{path} {name!r}: {answer!r}"
            for parameter in described["parameters"]:
                if parameter["in"] == "query" and "{" not in path:
                    answer = shared.call("GET", path, **{parameter["name"]: name})
                    assert answer.status in (200, 400, 404, 422), (
                        f"{path} {parameter['name']} {name!r}: {answer!r}"
                    )
                    assert answer.headers["content-type"].startswith("application/")


@pytest.mark.parametrize(
    "path", ["/v1/resources/%00", "/v1/resources/a%00b", "/v1/%00", "/v1/resources/%ff", "/v1/resources/%"]
)
def test_a_path_that_is_no_text_is_refused(client: Client, path: str) -> None:
    assert client.call("GET", path).status == 400


def test_names_that_look_alike_are_different_names(client: Client) -> None:
    names = ["admin", "аdmin", "Admin", "ａｄｍｉｎ", "é", "e\u0301"]
    for name in names:
        client.expect(201, "POST", "/v1/resources", {"name": name})
    assert {one["name"] for one in client.get("/v1/resources")["items"]} == set(names)


SCRIPT = "<script>alert(1)</script>"


def test_no_answer_shows_a_script_as_html(client: Client) -> None:
    client.expect(201, "POST", "/v1/signals", {"name": SCRIPT, "value": SCRIPT})
    encoded = segment(SCRIPT)
    for method, path, body in (
        ("GET", f"/v1/signals/{encoded}", None),
        ("GET", f"/v1/resources/{encoded}", None),
        ("GET", f"/{encoded}", None),
        ("GET", f"/docs/{encoded}", None),
        ("GET", f"/v1/resources?workspace=w&{encoded}=1", None),
        ("GET", f"/v1/resources?workspace={encoded}", None),
        ("GET", f"/v1/resources?workspace=w&cel={encoded}", None),
        ("POST", "/v1/resources", {"name": SCRIPT + "\n"}),
        ("POST", "/v1/resources", {SCRIPT: 1}),
        ("BREW", f"/v1/resources/{encoded}", None),
    ):
        answer = client.call(method, path, body, workspace=None)
        assert answer.headers.get("content-type", "").split(";")[0] in (
            "application/json",
            "application/problem+json",
            "text/plain",
        ), answer
        assert answer.headers.get("x-content-type-options") == "nosniff" or answer.status == 400, answer


def test_the_docs_allow_no_script_and_show_none(server: Server) -> None:
    answer = server.anybody().expect(200, "GET", "/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    text = answer.body.decode()
    assert "<script" not in text.lower()
    assert " onerror=" not in html.unescape(text).lower()


def test_what_people_type_breaks_no_event(client: Client) -> None:
    """Neither the lines of the stream, nor the JSON of its data."""
    name = "a\u0085b" if "a\u0085b".isprintable() else "data: x"
    client.expect(
        201, "POST", "/v1/freezes", {"name": name, "reason": "one\n\ndata: two\r\nevent: three\n\n"}
    )
    with client.raw() as connection:
        connection.sendall(
            f"GET /v1/events?after=0&workspace={client.workspace} HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {client.token}\r\n\r\n".encode()
        )
        said = b""
        while b"Freeze" not in said:
            said += connection.recv(65_536)
    assert b"\nevent: three" not in said
    assert b"\ndata: two" not in said
