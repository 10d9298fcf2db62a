"""Bodies that take long to read are read aside; small ones where they arrive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from headgate.api.http import problems, reading
from headgate.api.http.calls import Answer, Request
from headgate.api.http.reading import BodyLimits

LARGE_BYTES = 16 * 1024
PART = 200
"""Objects that are handed over at once."""


class RefusedAside(problems.RefusalWithHeaders):
    """What was refused there, to be answered here as it is."""

    def __init__(self, answer: Answer) -> None:
        problem = msgspec.json.decode(answer.document, type=problems.ProblemView)
        super().__init__(answer.status, problem.title, problem.detail, answer.headers)
        self.errors = tuple((one.path, one.message) for one in problem.errors)


def is_large(call: Request) -> bool:
    return call.service.aside is not None and len(call.raw_body) > LARGE_BYTES


def is_json(call: Request) -> bool:
    essence = dict(call.headers).get("content-type", "").partition(";")[0].strip().lower()
    return reading.is_json(essence)


def decoded(call: Request) -> Any:
    """None where it is no JSON, and for an empty body."""
    if call.body is not None or not call.raw_body or not is_json(call):
        return call.body
    return reading.parse_document(call.raw_body, BodyLimits())


async def parts(call: Request, work: str) -> AsyncIterator[bytes]:
    assert call.service.aside is not None
    async for part in call.service.aside.parts("bodies", work, call):
        if not part.is_last:
            yield part.body
        elif part.status >= 400:
            raise RefusedAside(Answer(part.status, part.body))
