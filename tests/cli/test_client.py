"""The client: what is sent, what is tried again, and what answers mean."""

import socket
from collections.abc import Iterator

import pytest

from headgate.cli import exit_codes, refusals
from headgate.cli.client import ApiClient, path
from headgate.cli.contexts import Connection
from headgate.cli.failures import CommandFailure

from .fake_api import FakeApi, Reply, problem


@pytest.fixture
def client(api: FakeApi) -> Iterator[ApiClient]:
    with ApiClient(Connection(api.url, "hg_secret", "staging")) as opened:
        yield opened


def refusal(client: ApiClient) -> CommandFailure:
    with pytest.raises(CommandFailure) as caught:
        client.get(path("x"))
    return caught.value


def test_a_call_carries_the_token_and_the_workspace(api: FakeApi, client: ApiClient) -> None:
    api.on("GET", "x", {})
    client.get(path("x"))
    assert api.last.headers["authorization"] == "Bearer hg_secret"
    assert api.last.query == {"workspace": "staging"}


def test_what_is_above_workspaces_names_none(api: FakeApi, client: ApiClient) -> None:
    api.on("GET", "whoami", {})
    client.get(path("whoami"), scoped=False)
    assert api.last.query == {}


def test_a_name_with_a_slash_is_one_segment(api: FakeApi, client: ApiClient) -> None:
    api.on("GET", "release-targets api/prod/node 1? explain", {"state": "waiting"})
    assert client.get(path("release-targets", "api/prod/node 1?", "explain")) == {"state": "waiting"}


def test_a_server_below_a_path_is_found(api: FakeApi) -> None:
    api.on("GET", "/gate/v1/x", {"here": True})
    with ApiClient(Connection(f"{api.url}/gate")) as client:
        assert client.get(path("x")) == {"here": True}


def test_a_mutation_whose_answer_is_lost_is_made_again_under_the_same_key(
    api: FakeApi, client: ApiClient
) -> None:
    replies = [Reply(hang_up=True), Reply(hang_up=True), Reply({"done": True}, 201)]
    api.on("POST", "x", lambda _: replies.pop(0))
    assert client.send("POST", path("x"), {"a": 1}) == {"done": True}
    keys = {request.headers["idempotency-key"] for request in api.requests}
    assert len(api.requests) == 3
    assert len(keys) == 1


def test_two_mutations_have_different_keys(api: FakeApi, client: ApiClient) -> None:
    api.on("POST", "x", {})
    client.send("POST", path("x"), {})
    client.send("POST", path("x"), {})
    assert len({request.headers["idempotency-key"] for request in api.requests}) == 2


def test_a_server_that_is_busy_is_asked_again(api: FakeApi, client: ApiClient) -> None:
    replies = [problem(503, "the store cannot be reached"), Reply({})]
    api.on("GET", "x", lambda _: replies.pop(0))
    assert client.get(path("x")) == {}


def test_a_server_that_stays_busy_counts_as_not_reached(api: FakeApi, client: ApiClient) -> None:
    api.on("GET", "x", problem(503, "the store cannot be reached"))
    failure = refusal(client)
    assert failure.code == exit_codes.UNREACHABLE
    assert len(api.requests) == 4
    assert "the store cannot be reached" in failure.sentences[0]


def test_a_refusal_is_not_tried_again(api: FakeApi, client: ApiClient) -> None:
    api.on("GET", "x", problem(422, "invalid", ("spec.tag", "is required"), ("spec", "is wrong")))
    failure = refusal(client)
    assert failure.code == exit_codes.FAILED
    assert failure.sentences == ["spec.tag: is required", "spec: is wrong"]
    assert len(api.requests) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_not_allowed_has_its_own_code_and_says_what_to_do(
    api: FakeApi, client: ApiClient, status: int
) -> None:
    api.on("GET", "x", problem(status, "version:write is missing"))
    failure = refusal(client)
    assert failure.code == exit_codes.NOT_ALLOWED
    assert "version:write is missing" in failure.sentences[0]
    assert "headgate" in failure.sentences[0]


def test_a_failure_of_the_server_names_the_request(api: FakeApi, client: ApiClient) -> None:
    reply = problem(500, "internal error")
    reply.headers = {"Headgate-Request-Id": "r-17"}
    api.on("GET", "x", reply)
    assert "request r-17" in refusal(client).sentences[0]


def test_something_else_than_headgate_is_recognised(api: FakeApi, client: ApiClient) -> None:
    api.on("GET", "x", Reply(raw=b"<html>", media_type="text/html"))
    failure = refusal(client)
    assert failure.code == exit_codes.UNREACHABLE
    assert "does not answer like a Headgate server" in failure.sentences[0]


def test_a_redirect_is_not_followed_with_the_token(api: FakeApi, client: ApiClient) -> None:
    api.on("GET", "x", Reply(status=302, headers={"Location": "https://elsewhere.example.com"}, raw=b"go"))
    assert "redirects to https://elsewhere.example.com" in refusal(client).sentences[0]


def test_nobody_there_says_how_to_choose_another_server() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with ApiClient(Connection(f"http://127.0.0.1:{port}")) as client:
            failure = refusal(client)
    assert failure.code == exit_codes.UNREACHABLE
    assert "Connection refused" in failure.sentences[0]
    assert "--server" in failure.sentences[0]


def test_a_server_that_does_not_answer_is_given_up(api: FakeApi) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with ApiClient(Connection(url), timeout_seconds=0.05, attempts=1) as client:
            assert "does not answer in time" in refusal(client).sentences[0]


def test_all_pages_are_followed(api: FakeApi, client: ApiClient) -> None:
    api.lists("x", [{"n": number} for number in range(7)], page_size=3)
    assert [item["n"] for item in client.pages(path("x"))] == list(range(7))
    assert len(api.requests) == 3


def test_a_limit_is_for_all_pages_together(api: FakeApi, client: ApiClient) -> None:
    api.lists("x", [{"n": number} for number in range(7)], page_size=3)
    assert len(list(client.pages(path("x"), {"limit": 5}))) == 5


def test_an_empty_page_in_the_middle_does_not_end_the_list(api: FakeApi, client: ApiClient) -> None:
    pages = [{"items": [], "next": "a"}, {"items": [{"n": 1}], "next": None}]
    api.on("GET", "x", lambda _: Reply(pages.pop(0)))
    assert list(client.pages(path("x"))) == [{"n": 1}]


def test_problem_details_that_are_no_problem_details_are_survived() -> None:
    from email.message import Message

    headers = Message()
    headers["Content-Type"] = "application/problem+json"
    for body in (b"", b"[]", b"{", b'{"errors": 3}', b'{"errors": [1, {"path": null}]}'):
        assert refusals.from_answer("http://x", 422, headers, body).sentences
