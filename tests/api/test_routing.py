import pytest

from headgate.api.http.calls import Refusal
from headgate.api.http.problems import headers
from headgate.api.http.routing import Router

from .machinery import route


def router() -> Router:
    return Router(
        [
            route("GET", "/v1/resources"),
            route("GET", "/v1/resources/{resource}"),
            route("DELETE", "/v1/resources/{resource}"),
            route("PUT", "/v1/resources/set"),
            route("GET", "/v1/release-targets/{target}/explain"),
            route("GET", "/v1/release-targets/{deployment}/{environment}/{resource}"),
        ]
    )


def refused(method: str, path: bytes) -> Refusal:
    with pytest.raises(Refusal) as caught:
        router().match(method, path)
    return caught.value


def test_a_parameter_is_decoded_after_the_path_is_split() -> None:
    match = router().match("GET", b"/v1/release-targets/api%2Fprod%2Fnode%201/explain")
    assert match.parameters == {"target": "api/prod/node 1"}


def test_a_name_may_be_any_unicode_text() -> None:
    assert router().match("GET", "/v1/resources/żółw".encode()).parameters == {"resource": "żółw"}
    assert router().match("GET", b"/v1/resources/%C5%BC").parameters == {"resource": "ż"}


def test_a_literal_segment_wins_over_a_parameter() -> None:
    assert router().match("PUT", b"/v1/resources/set").route.path == "/v1/resources/set"


def test_a_parameter_is_taken_where_the_literal_has_not_the_method() -> None:
    match = router().match("DELETE", b"/v1/resources/set")
    assert (match.route.path, match.parameters) == ("/v1/resources/{resource}", {"resource": "set"})


def test_paths_of_different_lengths_do_not_mix() -> None:
    match = router().match("GET", b"/v1/release-targets/api/prod/node-1")
    assert match.parameters == {"deployment": "api", "environment": "prod", "resource": "node-1"}


def test_head_is_answered_by_get() -> None:
    assert router().match("HEAD", b"/v1/resources").route.method == "GET"


def test_a_wrong_method_says_which_are_allowed() -> None:
    refusal = refused("PATCH", b"/v1/resources/set")
    assert (refusal.status, headers(refusal)) == (405, {"Allow": "DELETE, GET, HEAD, PUT"})


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (b"/v1/nothing", 404),
        (b"/v1/resources/", 404),
        (b"/v1//resources", 404),
        (b"", 404),
        (b"*", 404),
        (b"/v1/resources/%", 400),
        (b"/v1/resources/%zz", 400),
        (b"/v1/resources/%ff", 400),
        (b"/v1/resources/\xff", 400),
        (b"/v1/resources/a%00b", 400),
        (b"/v1/resources/%ed%a0%80", 400),
        (b"/v1/resources/" + b"a" * 9_000, 414),
    ],
)
def test_a_path_that_means_nothing_is_refused(path: bytes, status: int) -> None:
    assert refused("GET", path).status == status


def test_two_routes_for_the_same_requests_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="is taken by"):
        Router([route("GET", "/v1/a/{x}"), route("GET", "/v1/a/{y}")])
