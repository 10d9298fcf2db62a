import json

import pytest

from headgate.api.http.reading import BodyLimits

from .machinery import app_of, post_json, route, send

APP = app_of(
    route("POST", "/v1/things", body={"type": "object"}),
    route("POST", "/v1/maybe", body={"type": "object"}, body_required=False),
    route("POST", "/v1/yaml", body={}, body_media_types=("application/json", "application/yaml")),
    route("PATCH", "/v1/things", body={}),
    route("POST", "/v1/actions"),
    limits=BodyLimits(body_bytes=1_000),
)


def refused(text: str | bytes) -> tuple[int, str]:
    answer = post_json(APP, "/v1/things", text)
    return answer.status, answer.json["detail"]


def test_a_body_reaches_the_handler_decoded() -> None:
    answer = post_json(APP, "/v1/things", '{"a": [1, 2.5, null, true, "\\u00e9\\ud83d\\ude00"]}')
    assert answer.json["body"] == {"a": [1, 2.5, None, True, "é😀"]}


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('{"a": 1,\n "b": }', "it is not JSON at line 2, column 7: Expecting value"),
        ("{} x", "it is not JSON at line 1, column 4: Extra data"),
        (b'{"a": "\xff"}', "it is not UTF-8 at byte 8"),
        ("[NaN]", "NaN is not a JSON number"),
        ("[-Infinity]", "-Infinity is not a JSON number"),
        ("[1e999]", "1e999 is too large for a number"),
        ("[" + "9" * 500 + "]", "a number has 500 digits; allowed are 400"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', 'an object has the key "b" twice'),
        ('{"\\ud800": 1, "\\ud800": 2}', 'an object has the key "\\ud800" twice'),
        ("[" * 101 + "]" * 101, "it is nested more than 100 levels deep"),
        ('{"a":' * 150 + "1" + "}" * 150, "it is nested more than 100 levels deep"),
        ("", "a body is required"),
    ],
)
def test_what_is_not_strict_json_is_refused_with_its_place(text: str | bytes, detail: str) -> None:
    assert refused(text) == (400, detail)


def test_json_may_be_nested_as_deeply_as_allowed() -> None:
    assert post_json(APP, "/v1/things", "[" * 100 + "]" * 100).status == 200


def test_nesting_beyond_what_python_can_follow_is_refused_too() -> None:
    app = app_of(route("POST", "/v1/things", body={}))
    answer = post_json(app, "/v1/things", "[" * 200_000)
    assert (answer.status, answer.json["detail"]) == (400, "it is nested more than 100 levels deep")


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ('{"a": ["x\\u0000"]}', "a[0]", "must not contain the character NUL"),
        ('{"a": "\\udc00"}', "a", "must be valid Unicode text; it contains half of a surrogate pair"),
        ('{"a": 9223372036854775808}', "a", "is too large; allowed are 64-bit integers"),
    ],
)
def test_what_cannot_be_stored_is_named(text: str, path: str, message: str) -> None:
    answer = post_json(APP, "/v1/things", text)
    assert (answer.status, answer.json["errors"]) == (422, [{"path": path, "message": message}])


def test_a_declared_length_beyond_the_limit_is_refused_before_it_is_read() -> None:
    answer = post_json(APP, "/v1/things", "{}", **{"Content-Length": "1001"})
    assert (answer.status, answer.json["detail"]) == (413, "allowed are 1000 bytes")


def test_a_chunked_body_is_refused_once_it_is_too_long() -> None:
    chunks = (b" " * 100 for _ in range(50))
    answer = send(APP, "POST", "/v1/things", chunks, {"Content-Type": "application/json"})
    assert answer.status == 413


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
)
def test_another_media_type_is_refused(headers: dict[str, str]) -> None:
    assert send(APP, "POST", "/v1/things", b"{}", headers).status == 415


def test_a_media_type_may_have_parameters() -> None:
    headers = {"Content-Type": 'Application/JSON; charset="UTF-8"'}
    assert send(APP, "POST", "/v1/things", b"{}", headers).status == 200


def test_a_patch_may_be_sent_under_the_name_of_its_format() -> None:
    headers = {"Content-Type": "application/merge-patch+json"}
    assert send(APP, "PATCH", "/v1/things", b'{"a": null}', headers).json["body"] == {"a": None}


def test_a_body_that_is_not_json_is_left_to_the_handler() -> None:
    headers = {"Content-Type": "application/yaml"}
    assert send(APP, "POST", "/v1/yaml", b"a: 1", headers).json["body"] is None


def test_an_optional_body_may_be_missing() -> None:
    assert send(APP, "POST", "/v1/maybe").json["body"] is None


def test_a_body_that_nobody_asked_for_is_not_read() -> None:
    assert send(APP, "POST", "/v1/actions", b"garbage").status == 200


def test_a_client_that_hangs_up_gets_no_answer() -> None:
    with pytest.raises(ValueError, match="not enough values"):
        send(APP, "POST", "/v1/things", [], {"Content-Type": "application/json"})


def test_a_large_body_is_decoded_too() -> None:
    app = app_of(route("POST", "/v1/things", body={}))
    value = [{"name": f"node-{index}"} for index in range(20_000)]
    assert post_json(app, "/v1/things", json.dumps(value)).json["body"] == value
