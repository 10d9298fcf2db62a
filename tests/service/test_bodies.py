"""Bodies that are too much, too little or something else: refused with a sentence, and nothing is stored."""

import gzip
import itertools
import json

import pytest

from .client import Answer, Client

LIMIT = 32 * 1024 * 1024
JSON = "application/json"


def put(client: Client, body: bytes, content_type: str = JSON, **headers: str) -> Answer:
    return client.call("PUT", "/v1/resources/thing", body, {"Content-Type": content_type, **headers})


def assert_refused(client: Client, answer: Answer, *statuses: int) -> None:
    assert answer.status in statuses, answer
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["status"] == answer.status
    assert answer.json["detail"]
    assert client.get("/v1/resources")["items"] == []


def test_a_body_that_is_declared_too_large_is_refused_before_it_is_sent(client: Client) -> None:
    with client.raw() as connection:
        connection.sendall(head(client, "PUT", "/v1/resources/thing", f"Content-Length: {LIMIT + 1}"))
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_body_that_comes_in_pieces_is_refused_once_it_is_too_large(client: Client) -> None:
    with client.raw() as connection:
        connection.sendall(head(client, "PUT", "/v1/resources/thing", "Transfer-Encoding: chunked"))
        piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
        try:
            for _ in range(64):
                connection.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def head(client: Client, method: str, path: str, *headers: str) -> bytes:
    lines = [
        f"{method} {path}?workspace={client.workspace} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {client.token}",
        f"Content-Type: {JSON}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.mark.parametrize(
    ("body", "statuses"),
    [
        (b"", (400,)),
        (b" ", (400,)),
        (b"{", (400,)),
        (b'{"kind": "No', (400,)),
        (b'{"kind": "Node"}}', (400,)),
        (b"{'kind': 'Node'}", (400,)),
        (b"[" * 200_000, (400,)),
        (b'{"config": ' * 1_000 + b"1" + b"}" * 1_000, (400,)),
        (b'{"config": ' + b"[" * 90 + b"]" * 90 + b"}", (422,)),
        (b'{"kind": "Node", "kind": "Pod"}', (400,)),
        (b'{"metadata": {"a": "1", "a": "2"}}', (400,)),
        (b'{"config": NaN}', (400,)),
        (b'{"config": Infinity}', (400,)),
        (b'{"config": -Infinity}', (400,)),
        (b'{"config": 1e999}', (400,)),
        (b'{"config": ' + b"9" * 5_000 + b"}", (400,)),
        (b'{"config": 123456789012345678901234567890}', (422,)),
        (b'{"kind": "a\\u0000b"}', (422,)),
        (b'{"metadata": {"a\\u0000b": "c"}}', (422,)),
        (b'{"kind": "\\ud800"}', (422,)),
        (b'{"\\udfff": 1}', (422,)),
        (b'{"kind": "a\x00b"}', (400,)),
        (b'{"kind": "\xff"}', (400,)),
        (b'{"kind": "caf\xe9"}', (400,)),
        ('{"kind": "ä"}'.encode("utf-16"), (400,)),
        ('{"kind": "ä"}'.encode("utf-16-le"), (400,)),
        ('{"kind": "ä"}'.encode("utf-32"), (400,)),
        (b'\xef\xbb\xbf{"kind": "Node"}', (400,)),
        (b"null", (422,)),
        (b"[]", (422,)),
        (b'"text"', (422,)),
        (b"0", (422,)),
        (b'{"unknown": 1}', (422,)),
        (b'{"kind": 1}', (422,)),
        (b'{"metadata": {"a": 1}}', (422,)),
        (b'{"metadata": []}', (422,)),
        (b'{"createdAt": "yesterday"}', (422,)),
        (b'{"createdAt": "9999-12-31T23:59:60Z"}', (422,)),
        (b'{"id": "../../etc/passwd"}', (422,)),
        (b'{"__proto__": {}}', (422,)),
    ],
    ids=lambda given: repr(given)[:40],
)  # fmt: skip
def test_what_is_no_document_is_refused(client: Client, body: bytes, statuses: tuple[int, ...]) -> None:
    assert_refused(client, put(client, body), *statuses)


@pytest.mark.parametrize(
    ("content_type", "headers"),
    [
        ("text/plain", {}),
        ("application/xml", {}),
        ("application/x-www-form-urlencoded", {}),
        ("multipart/form-data; boundary=x", {}),
        ("application/json; charset=latin-1", {}),
        ("application/json; charset=utf-16", {}),
        ("application/yaml", {}),
        ("", {}),
        ("json", {}),
        ("application/json, text/plain", {}),
        ("application/merge-patch+json", {}),
        (JSON, {"Content-Encoding": "br"}),
        (JSON, {"Content-Encoding": "deflate"}),
    ],
)
def test_another_type_of_body_is_refused(client: Client, content_type: str, headers: dict[str, str]) -> None:
    assert_refused(client, put(client, b"{}", content_type, **headers), 415)


def test_a_compressed_body_is_refused_however_large_it_would_become(client: Client) -> None:
    bomb = gzip.compress(b" " * 100_000_000)
    assert_refused(client, put(client, bomb, **{"Content-Encoding": "gzip"}), 415)


def test_numbers_and_texts_come_back_as_they_were_sent(client: Client) -> None:
    config = {
        "whole": 9_007_199_254_740_993,
        "small": -(2**63),
        "fraction": 0.1,
        "tiny": 5e-324,
        "text": 'ä€😀\u2028\\"</script>',
        "": {"nested": [None, True, False, [], {}]},
    }
    client.expect(201, "PUT", "/v1/resources/thing", {"config": config})
    assert client.get("/v1/resources/thing")["config"] == config


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/apply"),
        ("POST", "/v1/diff"),
        ("POST", "/v1/plan"),
        ("POST", "/v1/job-agents/any/claim"),
        ("POST", "/v1/groups/any/abort"),
        ("PATCH", "/v1/resources/any"),
    ],
)
def test_null_is_not_the_same_as_nothing(client: Client, method: str, path: str) -> None:
    assert_refused(client, client.call(method, path, b" null "), 422)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("0079-05-05T14:34:46.565Z", "0079-05-05T14:34:46.565Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("2026-03-01T09:00:00+01:00", "2026-03-01T08:00:00Z"),
    ],
)
def test_moments_come_back_as_moments(client: Client, given: str, kept: str) -> None:
    client.expect(201, "PUT", "/v1/resources/thing", {"createdAt": given})
    assert client.get("/v1/resources/thing")["createdAt"] == kept
    assert client.get("/v1/resources", sort="-createdAt")["items"][0]["createdAt"] == kept


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/resources/set", b'{"provider": "p", "resources": [' + b"0," * 100_000 + b"0]}"),
        (
            "/v1/resources/x",
            b'{"metadata": {' + b", ".join(b'"%d": 0' % one for one in range(100_000)) + b"}}",
        ),
        ("/v1/resources/x", b"{" + b", ".join(b'"%d": 0' % one for one in range(100_000)) + b"}"),
        ("/v1/resources/x", b'{"config": [' + b'"\\u0000",' * 100_000 + b"0]}"),
    ],
    ids=["items", "values", "keys", "texts"],
)
def test_many_problems_are_named_at_once_but_not_without_end(client: Client, path: str, body: bytes) -> None:
    answer = client.call("PUT", path, body)
    assert_refused(client, answer, 422)
    assert 100 <= len(answer.json["errors"]) <= 1_000
    assert len(answer.body) < 200_000


def test_yaml_that_unfolds_is_refused(client: Client) -> None:
    """Nine anchors of nine references each are a billion texts."""
    names = "abcdefghi"
    lines = ["a: &a [" + ", ".join(["x"] * 9) + "]"]
    lines += [
        f"{name}: &{name} [" + ", ".join([f"*{before}"] * 9) + "]"
        for before, name in itertools.pairwise(names)
    ]
    text = "apiVersion: headgate.dev/v1\nkind: Resource\nmetadata: {name: thing}\nspec:\n  config:\n"
    body = text + "".join(f"    {line}\n" for line in lines)
    answer = client.call("POST", "/v1/apply", body.encode(), {"Content-Type": "application/yaml"}, seconds=10)
    assert_refused(client, answer, 400, 422)


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.system ['true']",
        "kind: !!binary aGVsbG8=",
        "&a [*a]",
        "a: b: c",
        "{" * 5_000,
        "- " * 5_000,
        "? " * 5_000,
        "\x00",
        "%YAML 9.9\n---\na",
        "--- !<tag:yaml.org,2002:python/name:os.system> x",
        "kind: Resource\nkind: Policy",
        "a: .nan",
        "a: 0o" + "7" * 5_000,
        "a: " + "9" * 5_000,
        "a: 1:" + "59:" * 3_000 + "59",
    ],
    ids=lambda text: repr(text[:30]),
)
def test_yaml_that_is_no_manifest_is_refused(client: Client, text: str) -> None:
    answer = client.call("POST", "/v1/apply", text.encode(), {"Content-Type": "application/yaml"}, seconds=10)
    assert_refused(client, answer, 400, 422)


def test_a_body_just_below_the_limit_is_read(client: Client) -> None:
    """What is in it has bounds of its own."""
    body = json.dumps({"config": ["x" * 100] * 250_000}).encode()
    assert LIMIT - 8 * 1024 * 1024 < len(body) < LIMIT
    answer = put(client, body)
    assert (answer.status, answer.json["errors"][0]["path"]) == (422, "config")
