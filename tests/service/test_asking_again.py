"""Requests that are sent again, or that were overtaken: one effect, one winner."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from . import fleet, operations
from .client import Answer, Client
from .operations import Request
from .server import Server

KEYED = {"Idempotency-Key": "the same"}
WITHOUT_A_SECOND_ANSWER = {"createToken": 409, "deleteWorkspace": 404}
"""A secret is shown once, and the keys of a workspace go with it."""


def audited(client: Client) -> int:
    found = client.get("/v1/audit", limit=1)["items"]
    return int(found[0]["seq"]) if found else 0


def events(client: Client) -> int:
    accept = {"Accept": "application/json"}
    found = client.expect(200, "GET", "/v1/events", headers=accept, sort="-seq", limit=1).json["items"]
    return int(found[0]["seq"]) if found else 0


def caller_of(client: Client, request: Request) -> Client:
    return Client(client.address, client.token) if "/v1/workspaces" in request.path else client


def test_every_mutation_with_the_same_key_has_one_effect_and_one_answer(busy: Client) -> None:
    described = operations.described(busy)
    for request in operations.changing(operations.known(busy)):
        takes_key = any(
            one["name"] == "Idempotency-Key" for one in described[request.operation][2]["parameters"]
        )
        if not takes_key:
            assert request.operation in ("claimJobs", "heartbeatJob", "appendJobLog", "callbackJob"), (
                request.operation
            )
            continue
        caller = caller_of(busy, request)
        headers = {"Idempotency-Key": request.operation}
        first = request.send(caller, headers)
        assert first.status == request.status, f"{request}: {first!r}"
        is_counted = request.operation != "deleteWorkspace"
        count = audited(busy) if is_counted else 0
        second = request.send(caller, headers)
        if request.operation in WITHOUT_A_SECOND_ANSWER:
            assert second.status == WITHOUT_A_SECOND_ANSWER[request.operation], second
        else:
            assert (second.status, _message(second)) == (first.status, _message(first)), request
            assert second.headers.get("etag") == first.headers.get("etag"), request
        assert not is_counted or audited(busy) == count, request


def _message(answer: Answer) -> Any:
    """Without the number of the request, which each has of its own."""
    if not answer.body:
        return None
    return {key: value for key, value in answer.json.items() if key != "instance"}


def test_the_same_key_for_something_else_is_refused(client: Client) -> None:
    client.expect(201, "PUT", "/v1/resources/one", {}, headers=KEYED)
    for method, path, body in (
        ("PUT", "/v1/resources/one", {"kind": "Node"}),
        ("PUT", "/v1/resources/two", {}),
        ("DELETE", "/v1/resources/one", None),
        ("PUT", "/v1/systems/one", {}),
        ("POST", "/v1/apply", {"manifests": []}),
    ):
        answer = client.call(method, path, body, KEYED)
        assert answer.status == 422, f"{method} {path}: {answer!r}"
        assert "Idempotency-Key" in answer.json["title"]
    assert [one["name"] for one in client.get("/v1/resources")["items"]] == ["one"]


def test_the_same_key_belongs_to_its_workspace(client: Client) -> None:
    client.expect(201, "PUT", "/v1/resources/one", {}, headers=KEYED)
    default = Client(client.address, client.token, "default")
    answer = default.call("PUT", "/v1/signals/from-default", {"value": 1}, KEYED)
    assert answer.status in (200, 201)


def test_the_same_key_belongs_to_its_caller(client: Client) -> None:
    """Nobody is answered with what somebody else was told, nor kept from a change by a key that was guessed."""
    first, second = (client.token_with(name, role="deployer") for name in ("one", "two"))
    viewer = client.token_with("looks", role="viewer")
    mine = first.expect(201, "PUT", "/v1/resources/node", {"kind": "Node"}, headers=KEYED)
    assert viewer.call("PUT", "/v1/resources/node", {"kind": "Node"}, KEYED).status == 403
    assert second.call("PUT", "/v1/resources/node", {"kind": "Node"}, KEYED).status == 200
    second.expect(201, "PUT", "/v1/resources/other", {}, headers={"Idempotency-Key": "guessed"})
    first.expect(201, "PUT", "/v1/resources/another", {}, headers={"Idempotency-Key": "guessed"})
    again = first.expect(201, "PUT", "/v1/resources/node", {"kind": "Node"}, headers=KEYED)
    assert (again.json, again.etag) == (mine.json, mine.etag)


def test_a_request_that_was_refused_may_be_sent_again_with_its_key(client: Client) -> None:
    body = {"tag": "v1"}
    client.expect(404, "POST", "/v1/deployments/api/versions", body, headers=KEYED)
    client.apply(fleet.manifest("Deployment", "api"))
    client.expect(201, "POST", "/v1/deployments/api/versions", body, headers=KEYED)


@pytest.mark.parametrize("key", ["", " ", "a" * 256, "tab\there", "caf\xe9"])
def test_a_key_that_cannot_be_kept_is_refused(client: Client, key: str) -> None:
    answer = client.call("PUT", "/v1/resources/one", {}, {"Idempotency-Key": key})
    assert answer.status == 400
    assert client.get("/v1/resources")["items"] == []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/v1/resources/one", {}),
        ("POST", "/v1/resources", {"name": "one"}),
        ("PUT", "/v1/systems/one", {}),
        ("POST", "/v1/apply", {"manifests": [fleet.resource("one")]}),
    ],
)
def test_the_same_request_at_the_same_time_has_one_effect(
    client: Client, method: str, path: str, body: object
) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: client.call(method, path, body, KEYED), range(8)))
    assert len({(answer.status, answer.body) for answer in answers}) == 1, answers
    assert (
        len(client.get("/v1/audit")["items"])
        == len([one for one in client.get("/v1/audit")["items"] if one["kind"] == "Workspace"]) + 1
    )


def test_a_workspace_or_a_token_that_many_want_at_once_is_made_once(client: Client) -> None:
    service = Client(client.address, client.token)
    workspace, token = {"name": f"{client.workspace}-wanted"}, {"name": "wanted", "role": "viewer"}
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: service.call("POST", "/v1/workspaces", workspace).status, range(8)))
        tokens = list(threads.map(lambda _: client.call("POST", "/v1/tokens", token).status, range(8)))
    assert sorted(made) == [201] + [409] * 7
    assert sorted(tokens) == [201] + [409] * 7
    service.expect(204, "DELETE", f"/v1/workspaces/{workspace['name']}")


def test_every_conditional_operation_refuses_a_stale_etag_and_changes_nothing(busy: Client) -> None:
    described = operations.described(busy)
    tried = 0
    known = operations.known(busy)
    before = busy.get("/v1/export"), audited(busy)
    for request in operations.changing(known):
        takes_etag = any(one["name"] == "If-Match" for one in described[request.operation][2]["parameters"])
        if not takes_etag:
            continue
        tried += 1
        for stale in ('"0123456789abcdef0123456789abcdef"', 'W/"x"', '"a", "b"'):
            answer = request.send(busy, {"If-Match": stale})
            assert answer.status == 412, f"{request}: {answer!r}"
        assert request.send(busy, {"If-Match": "no quotes"}).status == 400, request
    assert tried == 33
    assert (busy.get("/v1/export"), audited(busy)) == before


def test_every_conditional_operation_takes_the_current_etag(busy: Client) -> None:
    described = operations.described(busy)
    for request in operations.changing(operations.known(busy)):
        if any(one["name"] == "If-Match" for one in described[request.operation][2]["parameters"]):
            etag = busy.expect(200, "GET", request.path).etag
            answer = request.send(busy, {"If-Match": etag})
            assert answer.status == request.status, f"{request}: {answer!r}"
            if request.method != "DELETE":
                assert busy.expect(200, "GET", request.path).etag == answer.etag != etag


@pytest.mark.parametrize(
    ("path", "field"), [("/v1/resources/one", "kind"), ("/v1/systems/one", "description")]
)
def test_of_those_who_change_the_same_state_one_wins(client: Client, path: str, field: str) -> None:
    etag = client.expect(201, "PUT", path, {field: "first"}).etag

    def put(number: int) -> Answer:
        return client.call("PUT", path, {field: f"by {number}"}, {"If-Match": etag})

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(put, range(8)))
    assert sorted(answer.status for answer in answers) == [200] + [412] * 7
    winner = next(answer for answer in answers if answer.status == 200)
    assert client.get(path) == winner.json


def test_a_conditional_request_that_is_sent_again_with_its_key_gets_its_first_answer(client: Client) -> None:
    """Its own change made the ETag stale."""
    for path, field in (("/v1/resources/one", "kind"), ("/v1/systems/one", "description")):
        etag = client.expect(201, "PUT", path, {field: "first"}).etag
        headers = {"Idempotency-Key": path, "If-Match": etag}
        first = client.expect(200, "PUT", path, {field: "second"}, headers=headers)
        second = client.expect(200, "PUT", path, {field: "second"}, headers=headers)
        assert second.body == first.body
        headers = {"Idempotency-Key": f"delete {path}", "If-Match": first.etag}
        client.expect(204, "DELETE", path, headers=headers)
        client.expect(204, "DELETE", path, headers=headers)


def test_workspaces_that_go_disturb_nobody(server: Server, client: Client) -> None:
    """The engine may be looking at one of them just then; the log would have an error."""
    service = Client(client.address, client.token)

    def make_and_remove(number: int) -> None:
        name = f"{client.workspace}-passing-{number}"
        service.expect(201, "POST", "/v1/workspaces", {"name": name})
        Client(client.address, client.token, name).expect(201, "PUT", "/v1/resources/thing", {})
        service.expect(204, "DELETE", f"/v1/workspaces/{name}")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(make_and_remove, range(60)))
    client.expect(201, "PUT", "/v1/resources/thing", {})
    assert "Traceback" not in server.log.read_text()


def test_of_two_large_requests_with_one_key_one_is_carried_out(client: Client) -> None:
    def send(name: str) -> Answer:
        manifests = [
            {"apiVersion": "headgate.dev/v1", "kind": "Resource", "metadata": {"name": f"{name}-{number}"}}
            for number in range(300)
        ]
        return client.call("POST", "/v1/apply", {"manifests": manifests}, headers=KEYED)

    with ThreadPoolExecutor(2) as pool:
        answers = dict(zip("ab", pool.map(send, "ab")))
    stored = {
        one["name"][0] for one in client.get("/v1/resources", limit=1000)["items"] if "-" in one["name"]
    }
    done = {name for name, answer in answers.items() if answer.status == 200}
    assert len(done) == 1
    assert stored == done
    assert {answer.status for answer in answers.values()} <= {200, 422, 503}


def test_a_workspace_that_is_made_anew_is_told_nothing_of_the_one_before(client: Client) -> None:
    everywhere = Client(client.address, client.token)
    everywhere.expect(201, "POST", "/v1/workspaces", {"name": "reborn"})
    before = Client(client.address, client.token, workspace="reborn")
    fleet.fill(before)
    before.get("/v1/forecast")
    before.get("/v1/future")
    everywhere.expect(204, "DELETE", "/v1/workspaces/reborn")
    everywhere.expect(201, "POST", "/v1/workspaces", {"name": "reborn"})
    after = Client(client.address, client.token, workspace="reborn")
    assert after.get("/v1/future")["changes"] == []
    assert after.get("/v1/forecast")["rollouts"] == []
