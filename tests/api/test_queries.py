import pytest

from headgate.api.http.calls import Answer, Parameter, Request

from .machinery import app_of, post_json, route, send

DECLARED = (
    Parameter("limit", {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}),
    Parameter("share", {"type": "number", "maximum": 1}),
    Parameter("deep", {"type": "boolean"}),
    Parameter("sort", {"type": "string", "enum": ["name", "-name"]}),
    Parameter("after", {"type": "string", "format": "date-time"}),
    Parameter("short", {"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^[a-z]*$"}),
    Parameter("status", {"type": "array", "items": {"type": "string", "enum": ["open", "closed"]}}),
)


async def headers_of(call: Request) -> Answer:
    key = call.idempotency.key if call.idempotency else None
    fingerprint = call.idempotency.fingerprint if call.idempotency else None
    return Answer(200, {"key": key, "fingerprint": fingerprint, "ifMatch": call.if_match})


APP = app_of(
    route("GET", "/v1/list", query=DECLARED, scope="service"),
    route("GET", "/v1/needs", query=(Parameter("name", {"type": "string"}, required=True),), scope="service"),
    route("GET", "/v1/plain", scope="service"),
    route("POST", "/v1/change/{x}", headers_of, body={}, mutates=True, conditional=True),
    route("GET", "/v1/look", headers_of),
)


def query(text: str) -> object:
    answer = send(APP, "GET", f"/v1/list?{text}")
    assert answer.status == 200, answer.body
    return answer.json["query"]


def errors(path: str) -> object:
    answer = send(APP, "GET", path)
    assert answer.status == 400, answer.body
    return answer.json["errors"]


def test_parameters_have_their_types_and_defaults() -> None:
    text = "share=0.5&deep=true&sort=-name&after=2026-03-01T09:00:00Z&short=ab&status=open&status=closed"
    assert query(text) == {
        "limit": 100,
        "share": 0.5,
        "deep": True,
        "sort": "-name",
        "after": "2026-03-01T09:00:00Z",
        "short": "ab",
        "status": ["open", "closed"],
    }


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("limit=0", "limit", "must be at least 1, not 0"),
        ("limit=1001", "limit", "must be at most 1000, not 1001"),
        ("limit=ten", "limit", 'must be a whole number, not "ten"'),
        ("limit=", "limit", 'must be a whole number, not ""'),
        ("limit=99999999999999999999", "limit", 'must be a whole number, not "99999999999999999999"'),
        ("limit=1&limit=2", "limit", "is given 2 times; allowed is once"),
        ("share=nan", "share", 'must be a number, not "nan"'),
        ("share=2", "share", "must be at most 1, not 2.0"),
        ("deep=yes", "deep", 'must be true or false, not "yes"'),
        ("sort=size", "sort", 'is "size"; allowed are name, -name'),
        ("short=a", "short", "needs at least 2 characters"),
        ("short=abcd", "short", "is too long: 4, allowed are 3 characters"),
        ("short=A1", "short", 'is "A1"; allowed is what matches ^[a-z]*$'),
        ("status=lost", "status", 'is "lost"; allowed are open, closed'),
        ("short=a%00", "short", "must not contain the character NUL"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(text: str, name: str, message: str) -> None:
    assert errors(f"/v1/list?{text}") == [{"path": name, "message": message}]


def test_an_unknown_parameter_is_refused_with_those_that_are_known() -> None:
    known = "limit, share, deep, sort, after, short, status"
    message = f"is not a known query parameter; allowed are {known}"
    assert errors("/v1/list?colour=red") == [{"path": "colour", "message": message}]
    message = "is not a known query parameter; allowed are none here"
    assert errors("/v1/plain?colour=red") == [{"path": "colour", "message": message}]


def test_all_flaws_are_said_at_once() -> None:
    assert len(errors("/v1/list?limit=0&deep=no&x=1")) == 3  # type: ignore[arg-type]


def test_a_required_parameter_must_be_there() -> None:
    assert errors("/v1/needs") == [{"path": "name", "message": "is required"}]


@pytest.mark.parametrize("text", ["sort=%ff", "sort=%", "sort=\xff", "a=1&" * 200])
def test_a_query_that_cannot_be_read_is_refused(text: str) -> None:
    assert send(APP, "GET", f"/v1/list?{text}").status == 400


@pytest.mark.parametrize("key", ["", "k" * 256, "a\tb", "clé"])
def test_an_unusable_idempotency_key_is_refused(key: str) -> None:
    assert post_json(APP, "/v1/change/a", "{}", **{"Idempotency-Key": key}).status == 400


def test_the_same_request_has_the_same_fingerprint() -> None:
    first = fingerprint("/v1/change/a", "{}")
    assert first == fingerprint("/v1/change/a", "{}")
    assert first is not None


@pytest.mark.parametrize(
    ("target", "body"), [("/v1/change/a", "{ }"), ("/v1/change/b", "{}"), ("/v1/change/a?workspace=x", "{}")]
)
def test_another_request_has_another_fingerprint(target: str, body: str) -> None:
    assert fingerprint(target, body) != fingerprint("/v1/change/a", "{}")


def fingerprint(target: str, body: str) -> object:
    return post_json(APP, target, body, **{"Idempotency-Key": "k"}).json["fingerprint"]


@pytest.mark.parametrize("value", ["*", '"abc"', 'W/"abc"', '"a", "b"'])
def test_if_match_reaches_the_handler(value: str) -> None:
    assert post_json(APP, "/v1/change/a", "{}", **{"If-Match": value}).json["ifMatch"] == value


@pytest.mark.parametrize("value", ["abc", '"abc', ""])
def test_a_malformed_if_match_is_refused(value: str) -> None:
    assert post_json(APP, "/v1/change/a", "{}", **{"If-Match": value}).status == 400


def test_routes_that_only_look_ignore_both_headers() -> None:
    answer = send(APP, "GET", "/v1/look", headers={"If-Match": "abc", "Idempotency-Key": ""})
    assert answer.json == {"key": None, "fingerprint": None, "ifMatch": None}
