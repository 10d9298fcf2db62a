"""From a handler's command to the answer on the wire: replies that can be given again, bodies at once, streams until one
of the two sides has had enough.

A caller whose answer got lost asks again with the same key, and is to get the same answer without a second deed. ETags are
of the bytes that are answered, so whoever read an object can say which one was meant.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Coroutine, Iterable
from typing import Any, TypeVar

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from headgate.api.http import problems
from headgate.api.http.calls import Answer, Refusal, Request
from headgate.fleet.engine.concerns import Concern
from headgate.kernel import documents
from headgate.runtime.commands import Command, Question, Reply

Result = TypeVar("Result")
_LOGGER = logging.getLogger("headgate.api")
_ENCODER = msgspec.json.Encoder()

NOTHING = Reply(204, b"")


def reply(status: int, document: Any) -> Reply:
    return Reply(status, document if isinstance(document, bytes) else msgspec.json.encode(document))


def object_reply(status: int, body: bytes) -> Reply:
    return Reply(status, body, etag_of(body))


def reply_with(status: int, written: dict[str, Any], concern: Concern | None) -> Reply:
    """An object, and whom it concerns. The ETag is the object's own: whom it concerns may change without it."""
    etag = etag_of(msgspec.json.encode(written))
    if concern is not None:
        written = {**written, "concerns": concern}
    return Reply(status, msgspec.json.encode(written), etag)


def answer(given: Reply) -> Answer:
    headers = {"ETag": given.etag} if given.etag is not None else {}
    return Answer(given.status, given.body if given.body else None, headers)


def object_answer(document: Any) -> Answer:
    body = document if isinstance(document, bytes) else msgspec.json.encode(document)
    return Answer(200, body, {"ETag": etag_of(body)})


async def submit(call: Request, command: Command[Reply], *, alone: bool = False) -> Answer:
    given = await call.service.worker_client.submit(
        call.workspace, command, call.caller, idempotency=call.idempotency, alone=alone
    )
    return answer(given)


async def ask(call: Request, question: Question[Result]) -> Result:
    return await call.service.worker_client.ask(call.workspace, question)


def etag_of(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def check_etag(if_match: str | None, current: bytes | None) -> None:
    """`current` is None where there is nothing; then no condition can hold."""
    if if_match is None:
        return
    what_is_there = "there is nothing of that name"
    if current is not None:
        etag = etag_of(current)
        wanted = [one.strip() for one in if_match.split(",")]
        if "*" in wanted or etag in wanted:
            return
        what_is_there = f"its ETag is {etag}"
    raise Refusal(
        412,
        "The object has changed",
        f"If-Match is {if_match[:100]}, but {what_is_there}; read it again before changing it",
    )


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
