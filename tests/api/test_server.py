"""The same application behind the real server, over a real connection."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import uvicorn
from yarl import URL

from headgate.api.http.app import Application
from headgate.api.http.calls import Answer, Request
from headgate.api.http.reading import BodyLimits

from .machinery import app_of, route


async def ticks(call: Request) -> Answer:
    async def stream() -> AsyncIterator[bytes]:
        yield b"data: one\n\n"
        await asyncio.Event().wait()

    return Answer(200, stream=stream(), media_type="text/event-stream")


APP_ROUTES = (
    route("GET", "/v1/things/{name}"),
    route("POST", "/v1/things", body={"type": "object"}),
    route("GET", "/v1/events", ticks),
)
Test = Callable[[aiohttp.ClientSession, str], Awaitable[None]]


def serve(test: Test) -> None:
    asyncio.run(_serve(test))


async def _serve(test: Test) -> None:
    app: Application = app_of(*APP_ROUTES, limits=BodyLimits(body_bytes=100_000))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=5)
        server = uvicorn.Server(config)
        server.capture_signals = contextlib.nullcontext  # type: ignore[assignment,method-assign]
        task = asyncio.create_task(server.serve([listening]))
        try:
            async with asyncio.timeout(20), aiohttp.ClientSession() as session:
                while not server.started:
                    await asyncio.sleep(0.005)
                await test(session, f"http://127.0.0.1:{listening.getsockname()[1]}")
        finally:
            app.close()
            server.should_exit = True
            await task


def test_an_encoded_slash_stays_in_its_segment() -> None:
    async def test(session: aiohttp.ClientSession, base: str) -> None:
        async with session.get(URL(f"{base}/v1/things/a%2Fb%20%C3%A9", encoded=True)) as answer:
            assert (await answer.json())["path"] == {"name": "a/b é"}

    serve(test)


def test_a_chunked_body_that_is_too_large_is_refused() -> None:
    async def body() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 10_000

    async def test(session: aiohttp.ClientSession, base: str) -> None:
        headers = {"Content-Type": "application/json"}
        async with session.post(f"{base}/v1/things", data=body(), headers=headers) as answer:
            assert (answer.status, answer.content_type) == (413, "application/problem+json")

    serve(test)


def test_head_has_no_body() -> None:
    async def test(session: aiohttp.ClientSession, base: str) -> None:
        async with session.head(f"{base}/v1/things/a") as answer:
            assert (answer.status, await answer.read()) == (200, b"")
            assert int(answer.headers["Content-Length"]) > 0

    serve(test)


def test_a_stream_arrives_piece_by_piece_and_ends_with_the_service() -> None:
    async def test(session: aiohttp.ClientSession, base: str) -> None:
        async with session.get(f"{base}/v1/events") as answer:
            assert await answer.content.readuntil(b"\n\n") == b"data: one\n\n"

    serve(test)
