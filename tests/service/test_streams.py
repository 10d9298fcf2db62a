"""Server-sent events: nothing is missed, nothing comes twice, and nobody waits for a reader."""

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .client import Client
from .conftest import new_workspace
from .server import Server
from .streams import Stream
from .waiting import MOST_SECONDS


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """To be stopped."""
    found = Server(tmp_path / "own")
    found.start()
    yield found
    found.stop()


def make_events(client: Client, count: int, begin: int = 0) -> None:
    for number in range(begin, begin + count):
        client.expect(201, "PUT", f"/v1/signals/s{number}", {"value": number})


def newest(client: Client) -> int:
    accept = {"Accept": "application/json"}
    answer = client.expect(200, "GET", "/v1/events", headers=accept, sort="-seq", limit=1)
    return int(answer.json["items"][0]["seq"])


def test_a_reader_who_comes_back_misses_nothing_and_hears_nothing_twice(own_server: Server) -> None:
    """Across a restart of the server, and from the middle of what was sent."""
    client = new_workspace(own_server)
    make_events(client, 20)
    heard = hear(client, [], 11)
    make_events(client, 10, begin=20)
    own_server.stop()
    own_server.start()
    client = own_server.admin(client.workspace)
    make_events(client, 10, begin=30)
    last = newest(client)
    while heard[-1] < last:
        heard = hear(client, heard, min(heard[-1] + 7, last))
    assert heard == list(range(1, last + 1))


def hear(client: Client, heard: list[int], until: int) -> list[int]:
    """Up to this event; what was sent beyond it is lost with the connection."""
    last = heard[-1] if heard else None
    with Stream(client, after=0 if last is None else None, last_event_id=last) as stream:
        stream.read_until(until)
    return heard + [seq for seq in stream.ids if seq <= until]


def test_streams_end_promptly_with_the_server(own_server: Server) -> None:
    client = new_workspace(own_server)
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(Stream(client)).open() for _ in range(50)]
        assert own_server.stop() < 8
        for stream in streams:
            stream.read_to_end()


def test_two_hundred_idle_streams_keep_nobody_waiting(client: Client) -> None:
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(Stream(client)).open() for _ in range(200)]
        begin = time.monotonic()
        make_events(client, 3)
        assert time.monotonic() - begin < MOST_SECONDS
        last = newest(client)
        for stream in streams:
            stream.read_until(last)
        assert {tuple(stream.ids) for stream in streams} == {tuple(streams[0].ids)}
        assert streams[0].ids == sorted(set(streams[0].ids))


def test_a_reader_who_does_not_read_holds_up_nobody(server: Server, client: Client) -> None:
    with contextlib.ExitStack() as stack:
        sleepers = [stack.enter_context(Stream(client, after=0)) for _ in range(10)]
        for sleeper in sleepers:
            sleeper.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        before = server.resident_megabytes()
        text = "x" * 50_000
        begin = time.monotonic()
        for number in range(60):
            client.expect(201, "PUT", f"/v1/freezes/f{number}", {"reason": text, "selector": "false"})
        assert time.monotonic() - begin < MOST_SECONDS
        with Stream(client, after=0) as reader:
            reader.read_until(newest(client))
        assert server.resident_megabytes() < before + 150


@pytest.mark.parametrize("given", ["x", "-1", "1.5", "9" * 30, "1 2", "٣", "1,2"])
def test_a_number_that_no_event_has_is_refused(client: Client, given: str) -> None:
    headers = {"Last-Event-ID": given.encode().decode("latin-1")}
    assert client.call("GET", "/v1/events", headers=headers).status == 400
    assert client.call("GET", "/v1/events", after=given).status == 400


def test_a_reader_from_the_future_is_told_that_there_is_a_gap(client: Client) -> None:
    make_events(client, 2)
    with Stream(client, last_event_id=1_000_000) as stream:
        stream.open()
        make_events(client, 1, begin=2)
        while "gap" not in stream.kinds or len(stream.kinds) < 2:
            stream.read_until((stream.ids or [0])[-1] + 1)
    assert stream.kinds[0] == "gap"


def test_a_removed_workspace_ends_its_streams(server: Server, client: Client) -> None:
    with Stream(client) as stream:
        stream.open()
        server.admin().expect(204, "DELETE", f"/v1/workspaces/{client.workspace}")
        stream.read_to_end()


def test_a_stream_ends_soon_after_its_token_was_removed(server: Server, client: Client) -> None:
    reader = client.token_with("reader", role="viewer")
    with Stream(reader) as stream:
        stream.open()
        client.expect(204, "DELETE", "/v1/tokens/reader")
        make_events(client, 3)
        stream.read_to_end()
