import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate.api.http.app import Application
from headgate.api.http.calls import Answer, Request

from .machinery import app_of, route, send


class Ticker:
    """Says something, then waits; knows whether it was told to stop."""

    def __init__(self, *, fails: bool = False) -> None:
        self.is_closed = False
        self.fails = fails

    async def handler(self, call: Request) -> Answer:
        return Answer(200, stream=self.ticks(), media_type="text/event-stream")

    async def ticks(self) -> AsyncIterator[bytes]:
        try:
            yield b"data: one\n\n"
            if self.fails:
                raise RuntimeError("out of ticks")
            await asyncio.Event().wait()
        finally:
            self.is_closed = True


class Listener:
    """A client that stays until it has heard something, or hangs up then."""

    def __init__(self, app: Application, *, hangs_up: bool) -> None:
        self.messages: list[Any] = []
        self.heard = asyncio.Event()
        self._asked = False
        self._hangs_up = hangs_up
        self.task = asyncio.create_task(app(self._scope(), self._receive, self._send))

    def _scope(self) -> dict[str, Any]:
        return {
            "type": "http",
            "method": "GET",
            "path": "/v1/events",
            "raw_path": b"/v1/events",
            "query_string": b"",
            "headers": [],
        }

    async def _receive(self) -> Any:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await (self.heard.wait() if self._hangs_up else asyncio.Event().wait())
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self.messages.append(message)
        if message.get("body"):
            self.heard.set()


def listen(ticker: Ticker, *, hangs_up: bool = False, closes: bool = False) -> tuple[Listener, Application]:
    app = app_of(route("GET", "/v1/events", ticker.handler))

    async def run() -> Listener:
        listener = Listener(app, hangs_up=hangs_up)
        async with asyncio.timeout(10):
            await listener.heard.wait()
            if closes:
                app.close()
            await listener.task
        return listener

    return asyncio.run(run()), app


def test_a_stream_ends_when_the_client_hangs_up() -> None:
    ticker = Ticker()
    listen(ticker, hangs_up=True)
    assert ticker.is_closed


def test_a_stream_ends_when_the_service_stops() -> None:
    ticker = Ticker()
    listener, _ = listen(ticker, closes=True)
    assert ticker.is_closed
    assert listener.messages[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


def test_a_stream_that_fails_ends_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    ticker = Ticker(fails=True)
    listener, _ = listen(ticker)
    assert ticker.is_closed
    assert "out of ticks" in caplog.text
    assert listener.messages[-1]["more_body"] is False


def test_a_stream_has_a_type_and_no_length() -> None:
    listener, _ = listen(Ticker(), hangs_up=True)
    headers = dict(listener.messages[0]["headers"])
    assert headers[b"content-type"] == b"text/event-stream; charset=utf-8"
    assert headers[b"cache-control"] == b"no-store"
    assert b"content-length" not in headers


def test_open_streams_are_counted() -> None:
    _, app = listen(Ticker(), hangs_up=True)
    assert b"headgate_http_streams 0.0" in app.metrics.render()


def test_head_of_a_stream_does_not_wait() -> None:
    ticker = Ticker()
    answer = send(app_of(route("GET", "/v1/events", ticker.handler)), "HEAD", "/v1/events")
    assert (answer.status, answer.body) == (200, b"")


def test_the_server_may_start_and_stop_the_application() -> None:
    async def run() -> list[Any]:
        incoming = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
        outgoing: list[Any] = []

        async def receive() -> Any:
            return incoming.pop(0)

        async def collect(message: Any) -> None:
            outgoing.append(message["type"])

        with contextlib.suppress(IndexError):
            await app_of()({"type": "lifespan"}, receive, collect)
        return outgoing

    assert asyncio.run(run()) == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
