"""Between handlers and the worker: commands whose replies can be given again, and what the replies become.

A caller whose answer got lost asks again with the same key, and is to get the same answer without a second deed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import msgspec

from headgate.api import etags
from headgate.api.calls import Answer, Request
from headgate.runtime.commands import Command, Question, Reply

Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")

NOTHING = Reply(204, b"")


def reply(status: int, document: Any) -> Reply:
    return Reply(status, document if isinstance(document, bytes) else msgspec.json.encode(document))


def object_reply(status: int, body: bytes) -> Reply:
    return Reply(status, body, etags.of(body))


def answer(given: Reply) -> Answer:
    headers = {"ETag": given.etag} if given.etag is not None else {}
    return Answer(given.status, given.body if given.body else None, headers)


def object_answer(document: Any, status: int = 200) -> Answer:
    body = document if isinstance(document, bytes) else msgspec.json.encode(document)
    return Answer(status, body, {"ETag": etags.of(body)})


async def submit(call: Request, command: Command[Reply], *, alone: bool = False) -> Answer:
    given = await call.service.worker_client.submit_once(
        call.workspace, command, call.caller, call.idempotency, alone=alone
    )
    return answer(given)


async def ask(call: Request, question: Question[Result]) -> Result:
    return await call.service.worker_client.ask(call.workspace, question)


async def in_thread(
    function: Callable[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs
) -> Result:
    """For the store, which blocks, and for work that would hold up other requests."""
    return await asyncio.to_thread(function, *arguments, **named)
