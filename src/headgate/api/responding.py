"""Answers on the wire: bodies at once, streams until one of the two sides has had enough."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Iterable
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from headgate.api import problems
from headgate.api.calls import Answer, Refusal
from headgate.kernel import documents

_LOGGER = logging.getLogger("headgate.api")
_ENCODER = msgspec.json.Encoder()


def encoded(answer: Answer) -> Answer:
    """With bytes for a document. A Struct is written as documents are, so that its moments are readable."""
    if answer.stream is not None or isinstance(answer.document, bytes):
        return answer
    if answer.document is None:
        return msgspec.structs.replace(answer, document=b"")
    document = answer.document
    if isinstance(document, msgspec.Struct):
        document = documents.write(document, omit_defaults=False)
    return msgspec.structs.replace(answer, document=_ENCODER.encode(document))


def of_refusal(refusal: Refusal, request_id: str) -> Answer:
    return encoded(
        Answer(
            refusal.status,
            problems.document(refusal, request_id),
            problems.headers(refusal),
            problems.MEDIA_TYPE,
        )
    )


async def send_body(
    answer: Answer, headers: dict[str, str], scope: Scope, receive: Receive, send: Send
) -> None:
    body: bytes = answer.document
    response = Response(body, answer.status, headers, answer.media_type if body else None)
    for cookie in answer.cookies:
        response.headers.append("set-cookie", cookie)
    if scope["method"] == "HEAD":
        response.body = b""
    await response(scope, receive, send)


async def send_stream(
    answer: Answer,
    headers: dict[str, str],
    scope: Scope,
    receive: Receive,
    send: Send,
    ends: Iterable[Coroutine[Any, Any, object]],
) -> None:
    """Until it is over, the client hangs up, or one of `ends` comes."""
    stream = answer.stream
    assert stream is not None
    start = Response(None, answer.status, {**headers, "X-Accel-Buffering": "no"}, answer.media_type)
    raw = [(name, value) for name, value in start.raw_headers if name != b"content-length"]
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})
    if scope["method"] == "HEAD":
        for end in ends:
            end.close()
    else:
        await _run(stream, receive, send, ends)
    await _close(stream)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _run(
    stream: AsyncIterator[bytes], receive: Receive, send: Send, ends: Iterable[Coroutine[Any, Any, object]]
) -> None:
    pump = asyncio.create_task(_pump(stream, send))
    others = [asyncio.create_task(end) for end in (until_gone(receive), *ends)]
    try:
        await asyncio.wait({pump, *others}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (pump, *others):
            task.cancel()
        outcomes = await asyncio.gather(pump, *others, return_exceptions=True)
    failure = outcomes[0]
    if isinstance(failure, Exception) and not isinstance(failure, OSError):
        _LOGGER.error("a stream ended early", exc_info=failure)


async def _pump(stream: AsyncIterator[bytes], send: Send) -> None:
    async for chunk in stream:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _close(stream: Any) -> None:
    close = getattr(stream, "aclose", None)
    if close is not None:
        await close()
