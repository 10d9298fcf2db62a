"""Between handlers and the worker: commands whose replies can be given again, and what the replies become.

A caller whose answer got lost asks again with the same key, and is to get the same answer without a second deed. ETags are
of the bytes that are answered, so whoever read an object can say which one was meant.
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

import msgspec

from headgate.api.calls import Answer, Refusal, Request
from headgate.runtime.commands import Command, Question, Reply

Result = TypeVar("Result")

NOTHING = Reply(204, b"")


def reply(status: int, document: Any) -> Reply:
    return Reply(status, document if isinstance(document, bytes) else msgspec.json.encode(document))


def object_reply(status: int, body: bytes) -> Reply:
    return Reply(status, body, etag_of(body))


def answer(given: Reply) -> Answer:
    headers = {"ETag": given.etag} if given.etag is not None else {}
    return Answer(given.status, given.body if given.body else None, headers)


def object_answer(document: Any, status: int = 200) -> Answer:
    body = document if isinstance(document, bytes) else msgspec.json.encode(document)
    return Answer(status, body, {"ETag": etag_of(body)})


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
    found = "there is nothing of that name"
    if current is not None:
        etag = etag_of(current)
        wanted = [one.strip() for one in if_match.split(",")]
        if "*" in wanted or etag in wanted:
            return
        found = f"its ETag is {etag}"
    raise Refusal(
        412,
        "The object has changed",
        f"If-Match is {if_match[:100]}, but {found}; read it again before changing it",
    )
