"""Large sets and large applies: checked whole, put in steps, safe to repeat, and nobody waits for them."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from . import fleet, waiting
from .client import Answer, Client
from .server import Server

COUNT = 1_500


def resources(count: int, **more: Any) -> list[dict[str, Any]]:
    padding = {"note": "x" * 100}
    return [{"name": f"n{number:05}", "kind": "Node", "metadata": padding, **more} for number in range(count)]


def put(client: Client, given: list[dict[str, Any]], **options: Any) -> Answer:
    return client.call(
        "PUT", "/v1/resources/set", {"provider": "cloud", "resources": given}, seconds=120, **options
    )


def names(client: Client) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = client.get("/v1/resources", limit=1000, cursor=cursor)
        found += [one["name"] for one in page["items"]]
        cursor = page["next"]
        if cursor is None:
            return found


def test_a_large_set_replaces_the_one_before(client: Client) -> None:
    first = put(client, resources(COUNT))
    assert first.status == 200, first
    assert len(first.json["created"]) == COUNT
    assert names(client) == [f"n{number:05}" for number in range(COUNT)]
    second = put(client, resources(COUNT // 2, version="2")).json
    assert [len(second[key]) for key in ("created", "updated", "deleted")] == [0, COUNT // 2, COUNT // 2]
    third = put(client, resources(COUNT // 2, version="2")).json
    assert len(third["unchanged"]) == COUNT // 2
    emptied = put(client, [])
    assert len(emptied.json["deleted"]) == COUNT // 2
    assert names(client) == []


def test_a_flaw_anywhere_in_a_large_set_stores_nothing(client: Client) -> None:
    client.expect(200, "PUT", "/v1/resources/set", {"provider": "other", "resources": [{"name": "theirs"}]})
    good = resources(COUNT)
    for problem, path in (
        ({"name": "theirs"}, f"resources[{COUNT}].name"),
        ({"name": "colour", "colour": 1}, f"resources[{COUNT}].colour"),
        ({"name": "copy", "identifier": "n00003"}, f"resources[{COUNT}].identifier"),
        ({"name": "copy", "identifier": "theirs"}, f"resources[{COUNT}].identifier"),
        ({"name": "n00000"}, f"resources[{COUNT}].name"),
        ({"name": "runs", "current": {"nothing": "v1"}}, f"resources[{COUNT}].current.nothing"),
    ):
        answer = put(client, [*good, problem])
        assert answer.status == 422, answer
        assert [one["path"] for one in answer.json["errors"]] == [path]
        assert names(client) == ["theirs"]


def test_an_identifier_moves_within_a_large_set(client: Client) -> None:
    put(client, [*resources(COUNT), {"name": "old", "identifier": "machine-7"}])
    answer = put(client, [*resources(COUNT), {"name": "new", "identifier": "machine-7"}])
    assert answer.status == 200, answer
    assert (answer.json["created"], answer.json["deleted"]) == (["new"], ["old"])


def test_the_same_key_gives_the_same_answer_and_does_nothing_again(client: Client) -> None:
    headers = {"Idempotency-Key": "once"}
    first = put(client, resources(COUNT), headers=headers)
    client.expect(204, "DELETE", "/v1/resources/n00000")
    again = put(client, resources(COUNT), headers=headers)
    assert again.json == first.json
    assert "n00000" not in names(client)


def test_others_are_served_while_a_large_set_is_put_and_a_second_one_has_to_wait(client: Client) -> None:
    answers: list[Answer] = []
    putting = threading.Thread(target=lambda: answers.append(put(client, resources(4 * COUNT))))
    putting.start()
    waiting.until(lambda: bool(client.get("/v1/resources", limit=1)["items"]))
    waits = []
    refused = None
    while putting.is_alive():
        begin = time.monotonic()
        client.expect(201 if not waits else 200, "PUT", "/v1/signals/probe", {"value": len(waits)})
        waits.append(time.monotonic() - begin)
        if refused is None:
            refused = put(client, [])
    putting.join()
    assert answers[0].status == 200
    assert len(waits) > 3
    assert sorted(waits)[len(waits) // 2] < 1.0
    assert refused is not None
    assert refused.status == 503
    assert "is being put" in refused.sentences
    assert len(names(client)) == 4 * COUNT


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_set_that_a_crash_interrupted_is_put_again(
    database: str, tmp_path: Any, request: pytest.FixtureRequest
) -> None:
    options = () if database == "sqlite" else ("--database", str(request.getfixturevalue("postgres_url")))
    server = Server(tmp_path, *options)
    server.start()
    try:
        client = server.admin()
        failed: list[Exception] = []

        def put_and_lose() -> None:
            try:
                put(client, resources(4 * COUNT))
            except OSError as error:
                failed.append(error)

        putting = threading.Thread(target=put_and_lose)
        putting.start()
        waiting.until(lambda: bool(client.get("/v1/resources", limit=1)["items"]))
        server.kill()
        putting.join()
        assert failed
        server.start()
        answers: list[Answer] = []
        waiting.until(
            lambda: answers.append(put(client, resources(4 * COUNT))) or answers[-1].status == 200, 60
        )
        said = answers[-1].json
        assert 0 < len(said["unchanged"]) < 4 * COUNT
        assert len(names(client)) == 4 * COUNT
    finally:
        server.stop()


def test_a_large_apply_is_tried_whole_before_anything_is_stored(client: Client) -> None:
    given = [fleet.resource(f"n{number:05}", metadata={"note": "x" * 200}) for number in range(COUNT)]
    broken = fleet.manifest("Version", "v", deployment="nothing", tag="v1")
    refused = client.call("POST", "/v1/apply", {"manifests": [*given, broken]}, seconds=120)
    assert refused.status == 422, refused
    assert names(client) == []
    tried = client.call("POST", "/v1/apply", {"manifests": given, "dryRun": True}, seconds=120)
    assert tried.status == 200, tried
    assert names(client) == []
    applied = client.call("POST", "/v1/apply", {"manifests": given[::-1]}, seconds=120)
    assert applied.status == 200, applied
    said = applied.json["results"]
    assert [one["name"] for one in said] == [f"n{number:05}" for number in reversed(range(COUNT))]
    assert {one["action"] for one in said} == {"created"}
    assert len(names(client)) == COUNT


def test_a_large_apply_in_yaml(client: Client) -> None:
    text = "\n---\n".join(
        f"apiVersion: headgate.dev/v1\nkind: Resource\nmetadata: {{name: n{number:05}}}\nspec: {{kind: {'x' * 200}}}"
        for number in range(700)
    )
    answer = client.call(
        "POST", "/v1/apply", text.encode(), {"Content-Type": "application/yaml"}, seconds=120
    )
    assert answer.status == 200, answer
    assert len(names(client)) == 700
