"""Whatever comes, it is answered, as JSON, and never as a failure of the service."""

from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.api.http.calls import Parameter

from .machinery import app_of, route, send

APP = app_of(
    route("GET", "/v1/things"),
    route(
        "PUT", "/v1/things/{thing}", body={"type": "object"}, mutates=True, conditional=True,
        query=(Parameter("limit", {"type": "integer"}), Parameter("cel", {"type": "string"})),
    ),
)  # fmt: skip

HEADERS = st.dictionaries(
    st.sampled_from(["Content-Type", "Idempotency-Key", "If-Match", "Content-Length", "traceparent"]),
    st.text(max_size=30) | st.sampled_from(["application/json", "application/json; charset=x", "*", "12"]),
)
PATHS = st.sampled_from(["/v1/things", "/v1/things/", "/v1/things/%", ""]) | st.text(
    st.characters(max_codepoint=255, exclude_characters="?"), max_size=20
).map(lambda text: f"/v1/things/{text}")
QUERIES = st.text(st.characters(max_codepoint=255), max_size=30) | st.sampled_from(
    ["limit=1", "limit=x", "cel=%", "workspace=", "limit=1&limit=1", "workspace=a%00b"]
)
BODIES = st.binary(max_size=40) | st.sampled_from(
    [b"{}", b"[" * 5_000, b'{"a":1,"a":2}', b'"\\ud800"', b"NaN", b"1e400", b"\xef\xbb\xbf{}"]
)


@settings(max_examples=300)
@given(st.sampled_from(["GET", "PUT", "HEAD", "DELETE", "BREW"]), PATHS, QUERIES, HEADERS, BODIES)
def test_every_request_has_an_answer(
    method: str, path: str, query: str, headers: dict[str, str], body: bytes
) -> None:
    answer = send(APP, method, f"{path}?{query}", body, headers)
    assert answer.status in (200, 400, 404, 405, 413, 415, 422)
    if method != "HEAD":
        assert isinstance(answer.json, dict)
    if answer.status != 200:
        assert answer.headers["content-type"] == "application/problem+json"
