"""What a cluster holds is told when it is otherwise, and only then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from api.routes.server import Client
from headgate.api.http.calls import Answer, Refusal, Request
from headgate.api.routes import following

CALL = cast(Request, SimpleNamespace(service=SimpleNamespace(aside=None)))


class Cluster:
    """Answers one after the other; the last one stays."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.looks = 0

    async def look(self, call: Request) -> Answer:
        self.looks += 1
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(found, Exception):
            raise found
        return Answer(200, found)


def told(cluster: Cluster, count: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """So many messages, after the one that says when to come back."""
    monkeypatch.setattr(following, "POLL_SECONDS", 0)

    async def read() -> list[str]:
        stream: AsyncIterator[bytes] = following._stream(CALL, "listWorkloads", cluster.look)
        assert (await anext(stream)).startswith(b"retry")
        return [(await anext(stream)).decode() for _ in range(count)]

    return asyncio.run(read())


def test_the_same_answer_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster({"items": [1]}, {"items": [1]}, {"items": [1]}, {"items": [2]})
    first, second = told(cluster, 2, monkeypatch)
    assert first == 'id: 1\nevent: seen\ndata: {"items":[1]}\n\n'
    assert second == 'id: 2\nevent: seen\ndata: {"items":[2]}\n\n'
    assert cluster.looks == 4


def test_a_cluster_that_is_away_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    away = Refusal(502, "The cluster does not answer", "east is away")
    found = told(Cluster({"items": []}, away, away, {"items": []}), 3, monkeypatch)
    assert [message.split("\n")[1] for message in found] == ["event: seen", "event: trouble", "event: seen"]
    assert "east is away" in found[1]


def test_one_thing_is_followed(client: Client) -> None:
    answer = client.get("/v1/clusters/follow", list="graphs", graph="x")
    assert answer.status == 422
    assert "allowed is one of them" in str(answer.json)


def test_whoever_wants_it_once_gets_it_once(client: Client) -> None:
    answer = client.get("/v1/clusters/follow", {"Accept": "application/json"}, list="workloads")
    assert answer.json == {"items": [], "next": None}
