from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client, Server
from headgate.api.http import sse
from headgate.api.http.calls import Principal, Refusal, Request
from headgate.api.routes import events
from headgate.store.log import Event

JSON = {"Accept": "application/json"}
ANA = Principal("ana", {"*": frozenset({"read"})})


def _call(server: Server, headers: dict[str, str] | None = None, **query: Any) -> Request:
    return Request(server.service, ANA, "default", {}, query, headers=headers or {})


async def _open(call: Request) -> AsyncIterator[bytes]:
    stream = (await events.list_events(call)).stream
    assert stream is not None
    assert (await anext(stream)).startswith(b"retry:")
    return stream


def _parsed(text: bytes) -> list[dict[str, Any]]:
    """The events of a piece of the stream, in order."""
    found = []
    for block in text.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if line)
        if "event" in lines:
            found.append({"id": int(lines["id"]), "event": lines["event"], "data": json.loads(lines["data"])})
    return found


def test_a_stream_brings_what_happens_from_now_on(server: Server, client: Client) -> None:
    fleet.put(client, "resources", "before")

    async def scene() -> list[dict[str, Any]]:
        stream = await _open(_call(server))
        await client.sending("PUT", "/v1/resources/after", {})
        return _parsed(await anext(stream))

    event = asyncio.run(scene())[0]
    assert event["event"] == "resource.applied"
    assert event["data"] == {
        "seq": event["id"],
        "at": "2026-03-01T09:00:00Z",
        "type": "resource.applied",
        "kind": "Resource",
        "name": "after",
        "message": "after applied by ana",
        "data": {"user": "ana"},
    }


def test_a_stream_goes_on_after_the_last_event_that_came(server: Server, client: Client) -> None:
    for name in ("a", "b", "c"):
        fleet.put(client, "resources", name)

    async def scene(call: Request) -> list[str]:
        return [event["data"]["name"] for event in _parsed(await anext(await _open(call)))]

    assert asyncio.run(scene(_call(server, after=0))) == ["a", "b", "c"]
    assert asyncio.run(scene(_call(server, {"Last-Event-ID": "2"}, after=0))) == ["c"]


def test_streams_that_catch_up_keep_nobody_else_waiting(
    server: Server, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of them than there are threads for everything else, all held up by the store."""
    fleet.put(client, "resources", "a")
    events_after, may_go = server.service.store.events_after, threading.Event()

    def slowly(*wanted: Any) -> list[Event]:
        may_go.wait(60)
        return events_after(*wanted)

    monkeypatch.setattr(server.service.store, "events_after", slowly)

    async def scene() -> tuple[int, list[bytes]]:
        streams = [await _open(_call(server, after=0)) for _ in range(50)]
        catching_up = [asyncio.ensure_future(anext(stream)) for stream in streams]
        try:
            answer = await asyncio.wait_for(client.sending("PUT", "/v1/resources/b", {}), 20)
        finally:
            may_go.set()
        return answer.status, await asyncio.gather(*catching_up)

    status, told = asyncio.run(scene())
    assert status == 201
    assert {_parsed(text)[0]["data"]["name"] for text in told} == {"a"}


def test_events_that_are_gone_leave_a_gap(server: Server, client: Client) -> None:
    for name in ("a", "b"):
        fleet.put(client, "resources", name)
    server.store.prune("default", "events", before=server.clock() + 1, keep=0, limit=1_000)
    fleet.put(client, "resources", "c")

    async def scene() -> list[dict[str, Any]]:
        return _parsed(await anext(await _open(_call(server, after=0))))

    gap, event = asyncio.run(scene())
    assert (gap["event"], gap["data"]) == ("gap", {"after": 0, "until": 2})
    assert event["data"]["name"] == "c"


def test_a_gap_without_any_event_behind_it_is_told_at_once(server: Server, client: Client) -> None:
    fleet.put(client, "resources", "a")
    server.store.prune("default", "events", before=server.clock() + 1, keep=0, limit=1_000)

    async def scene() -> list[dict[str, Any]]:
        return _parsed(await anext(await _open(_call(server, after=0))))

    assert asyncio.run(scene())[0]["data"] == {"after": 0, "until": 1}


def test_a_client_from_another_time_is_told_of_a_gap(server: Server, client: Client) -> None:
    fleet.put(client, "resources", "a")

    async def scene() -> list[dict[str, Any]]:
        return _parsed(await anext(await _open(_call(server, after=900))))

    assert asyncio.run(scene())[0]["data"] == {"after": 900, "until": 1}


def test_a_silent_stream_says_that_it_is_still_there(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0.01)

    async def scene() -> bytes:
        return await anext(await _open(_call(server)))

    assert asyncio.run(scene()).startswith(b": ")


def test_a_stream_ends_so_that_the_token_is_looked_at_again(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "LONGEST_STREAM_SECONDS", 0.0)

    async def scene() -> list[bytes]:
        return [part async for part in await _open(_call(server))]

    assert asyncio.run(scene()) == []


def test_an_event_never_breaks_out_of_its_lines() -> None:
    event = Event(1, 0, "a\nid: 9", "K", "n\n\nevent: x", "m\r\n", b'{"a": "b\\n"}')
    lines = events._written(event).decode().splitlines()
    assert [line.split(":")[0] for line in lines] == ["id", "event", "data", ""]
    assert lines[0] == "id: 1"


@pytest.mark.parametrize("given", ["x", "-1", "1.5", "9" * 30, "²"])
def test_a_last_event_id_that_is_none_is_refused(server: Server, given: str) -> None:
    with pytest.raises(Refusal) as refused:
        asyncio.run(events.list_events(_call(server, {"Last-Event-ID": given})))
    assert refused.value.status == 400


def test_events_come_in_pages_too(client: Client) -> None:
    for name in ("a", "b", "c"):
        fleet.put(client, "resources", name)
    first = client.get("/v1/events", JSON, limit=2).json
    second = client.get("/v1/events", JSON, limit=2, after=first["next"]).json
    assert [event["name"] for event in (*first["items"], *second["items"])] == ["a", "b", "c"]
    assert second["next"] is None


def test_the_newest_events_may_come_first(client: Client) -> None:
    for name in ("a", "b", "c"):
        fleet.put(client, "resources", name)
    first = client.get("/v1/events", JSON, limit=2, sort="-seq").json
    second = client.get("/v1/events", JSON, limit=2, sort="-seq", after=first["next"]).json
    assert [event["name"] for event in (*first["items"], *second["items"])] == ["c", "b", "a"]
    assert second["next"] is None


def test_events_are_found_by_an_expression(client: Client) -> None:
    for name in ("a", "b"):
        fleet.put(client, "resources", name)
    for sort in ("seq", "-seq"):
        text = "event.name == 'a' && event.data.user == 'ana'"
        found = client.get("/v1/events", JSON, cel=text, sort=sort).json
        assert ([event["name"] for event in found["items"]], found["next"]) == (["a"], None)
    assert client.get("/v1/events", JSON, cel="event.name ==").status == 422


def test_jobs_show_in_events(client: Client) -> None:
    fleet.make(client, nodes=1)
    fleet.publish(client, "v1")
    fleet.finish(client, fleet.jobs(client)[0])
    types = [event["type"] for event in client.get("/v1/events", JSON).json["items"]]
    assert types[-2:] == ["job.created", "job.successful"]
