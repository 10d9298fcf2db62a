"""The same request twice is done once, and answered twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headgate.fleet.model.changes import Change
from headgate.kernel.problems import Rejected
from headgate.runtime.commands import CommandContext, Idempotency, KeyReusedError, Reply
from headgate.store import Store, UnavailableError

from .fleet import ONE_NODE, resource, version
from .stage import ANA, HOME, PATIENCE, Stage, workspace
from .workspace_engines import failing

KEY = Idempotency("key-1", "POST /v1/resources {b}")


class Request:
    """Counts how often it is carried out."""

    def __init__(self, change: Change, body: bytes = '{"name":"b","ä":"✓"}'.encode()) -> None:
        self.change = change
        self.body = body
        self.count = 0

    def __call__(self, context: CommandContext) -> Reply:
        self.count += 1
        context.apply(self.change)
        return Reply(201, self.body, '"etag-1"')


def send(stage: Stage, request: Any, key: Idempotency = KEY) -> Reply:
    return stage.worker.submit(HOME, request, ANA, idempotency=key).result(PATIENCE)


def test_the_same_key_gives_the_same_answer_without_doing_it_again(stage: Stage) -> None:
    stage.each(*ONE_NODE)
    first = Request(resource("b"))
    answer = send(stage, first)
    again = Request(resource("b"), b"{}")
    assert send(stage, again) == answer
    assert (first.count, again.count) == (1, 0)


def test_two_with_the_same_key_in_one_batch_are_done_once(stage: Stage) -> None:
    stage.each(*ONE_NODE)
    one, other = Request(resource("b")), Request(resource("b"))
    with stage.held():
        futures = [stage.worker.submit(HOME, each, ANA, idempotency=KEY) for each in (one, other)]
    assert futures[0].result(PATIENCE) == futures[1].result(PATIENCE)
    assert one.count + other.count == 1


def test_the_answer_is_known_after_a_restart(
    prepared: Callable[[str], Store], staged: Callable[[Store], Stage], store_url: str
) -> None:
    store = prepared(store_url)
    first = staged(store)
    answer = send(first, Request(resource("b")))
    first.worker.stop()
    again = Request(resource("b"))
    assert send(staged(store), again) == answer
    assert again.count == 0


def test_a_key_that_was_used_for_another_request_is_refused(stage: Stage) -> None:
    send(stage, Request(resource("b")))
    other = Request(resource("c"))
    with pytest.raises(KeyReusedError, match="key-1"):
        send(stage, other, Idempotency(KEY.key, "POST /v1/resources {c}"))
    assert other.count == 0


def test_a_refused_request_may_be_sent_again_with_its_key(stage: Stage) -> None:
    with pytest.raises(Rejected):
        send(stage, Request(version("api", "v1")))
    stage.each(*ONE_NODE)
    assert send(stage, Request(version("api", "v1"))).status == 201


def test_a_request_whose_acknowledgement_was_lost_is_not_done_twice(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.each(*ONE_NODE)
    first, again = Request(version("api", "v1")), Request(version("api", "v1"))
    with failing(stage.store, monkeypatch, is_stored=True), pytest.raises(UnavailableError):
        send(stage, first)
    assert send(stage, again) == Reply(201, first.body, '"etag-1"')
    assert again.count == 0


def test_a_request_that_was_not_stored_is_done_with_the_same_key(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.each(*ONE_NODE)
    with failing(stage.store, monkeypatch, is_stored=False), pytest.raises(UnavailableError):
        send(stage, Request(version("api", "v1")))
    again = Request(version("api", "v1"))
    assert send(stage, again).status == 201
    assert stage.picture().jobs == ["api/prod/a v1"]


def test_keys_belong_to_their_workspace(stage: Stage) -> None:
    stage.store.add_workspace(workspace("other"))
    send(stage, Request(resource("b")))
    other = Request(resource("b"))
    stage.worker.submit("other", other, ANA, idempotency=KEY).result(PATIENCE)
    assert other.count == 1
