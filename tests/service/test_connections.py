"""Connections that say nothing, too little or too much: they end, and nobody else waits for them."""

import contextlib
import http.client
import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from . import waiting
from .client import Client
from .server import Server


def answer_of(connection: socket.socket) -> bytes:
    """All that comes until the other side hangs up; b"" if it does so without a word."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65_536):
            found += piece
    return found


def is_hung_up(connection: socket.socket) -> bool:
    connection.settimeout(0.01)
    try:
        return connection.recv(65_536) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 2_000_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: a\r\n" * 200_000 + b"\r\n",
        b"GET /" + b"a" * 2_000_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /?cel=" + b"a" * 2_000_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"A" * 2_000_000,
    ],
    ids=["value", "headers", "path", "query", "method"],
)
def test_a_head_that_is_too_long_is_refused(server: Server, head: bytes) -> None:
    with server.anybody().raw() as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(head)
        said = answer_of(connection)
    assert said == b"" or said.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 ", b"HTTP/1.1 414 ")), said[:200]


def test_a_head_without_end_is_not_kept(server: Server) -> None:
    """Neither its bytes nor its connection."""
    before = server.resident_megabytes()
    piece = b"X-Header: " + b"a" * 10_000 + b"\r\n"
    with server.anybody().raw() as connection:
        connection.sendall(b"GET /v1/resources HTTP/1.1\r\nHost: x\r\n")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):  # noqa: PT012 - one of them fails
            for _ in range(20_000):
                connection.sendall(piece)
    assert server.resident_megabytes() < before + 50


@pytest.mark.parametrize(
    "head",
    [
        b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /v1/\xff\xfe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET //etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /v1/resources\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"CONNECT evil:443 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /v1/events HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    ],
    ids=lambda head: repr(head[:60]),
)  # fmt: skip
def test_what_is_no_request_is_refused_or_hung_up_on(server: Server, head: bytes) -> None:
    with server.anybody().raw() as connection:
        connection.sendall(head)
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(5)
        try:
            said = answer_of(connection)
        except TimeoutError:
            said = b""
    status = said[9:12]
    assert said == b"" or status[:1] == b"4", said[:200]
    assert server.is_healthy()


@contextlib.contextmanager
def many(server: Server, count: int, words: bytes = b"") -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as stack:
        found = []
        for _ in range(count):
            connection = stack.enter_context(server.anybody().raw())
            if words:
                connection.sendall(words)
            found.append(connection)
        yield found


def test_many_who_say_nothing_keep_nobody_waiting(server: Server, client: Client) -> None:
    begun = b"GET /v1/resources HTTP/1.1\r\nHost: x\r\nX: "
    with many(server, 300), many(server, 300, begun):
        begin = time.monotonic()
        client.expect(201, "PUT", "/v1/resources/thing", {})
        assert time.monotonic() - begin < waiting.MOST_SECONDS


def test_who_does_not_finish_a_request_is_hung_up_on(server: Server) -> None:
    """Also one who adds a byte now and then."""
    begun = b"GET /v1/resources HTTP/1.1\r\nHost: x\r\nX: "
    with many(server, 1) as silent, many(server, 1, begun) as stuck, many(server, 1, begun) as slow:

        def are_gone() -> bool:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                slow[0].sendall(b"a")
            return all(is_hung_up(one) for one in (*silent, *stuck, *slow))

        waiting.until(are_gone)


def test_a_connection_may_be_used_again(client: Client) -> None:
    connection = http.client.HTTPConnection(urlsplit(client.address).netloc)
    with contextlib.closing(connection):
        for path, status in (("/healthz", 200), ("/v1/resources", 401), ("/healthz", 200)):
            connection.request("GET", path)
            answer = connection.getresponse()
            assert answer.status == status
            answer.read()


def test_requests_that_are_sent_in_one_go_are_answered_in_turn(client: Client) -> None:
    with client.raw() as connection:
        connection.sendall(
            b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 50
            + b"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )
        said = answer_of(connection)
    assert said.count(b"HTTP/1.1 200 ") == 50
    assert said.count(b"HTTP/1.1 404 ") == 1


def test_a_body_that_never_comes_is_not_waited_for_by_others(client: Client) -> None:
    head = (
        f"PUT /v1/resources/thing?workspace={client.workspace} HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {client.token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    )
    with client.raw() as connection:
        connection.sendall(head.encode())
        client.expect(201, "PUT", "/v1/resources/thing", {})
    assert [one["name"] for one in client.get("/v1/resources")["items"]] == ["thing"]


def test_a_stranger_is_refused_before_the_body_is_read(client: Client) -> None:
    with client.raw() as connection:
        connection.sendall(
            b"PUT /v1/resources/thing HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: 1000000\r\n\r\n"
        )
        assert connection.recv(65_536).startswith(b"HTTP/1.1 401 ")
