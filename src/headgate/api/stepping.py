"""Changes that are too many for one transaction, in steps between which others are served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from headgate.api import problems
from headgate.api.calls import Call, Refusal
from headgate.kernel.problems import Rejected
from headgate.runtime.commands import Command, Context, Reply

Thing = TypeVar("Thing")

STEP = 50
"""Changes of one step: some hundredths of a second."""


def steps(things: Sequence[Thing], size: int = STEP) -> Iterator[Sequence[Thing]]:
    for first in range(0, len(things), size):
        yield things[first : first + size]


class _UnknownError(Exception):
    """Under its key nothing was answered before."""


async def known_answer(call: Call) -> Reply | None:
    """What the same request was answered before: its steps are not done again."""

    def refuse(context: Context) -> Reply:
        raise _UnknownError

    try:
        return await last(call, refuse) if call.idempotency is not None else None
    except _UnknownError:
        return None


async def last(call: Call, command: Command[Reply]) -> Reply:
    """The step whose answer is kept under the request's key."""
    return await call.service.desk.submit_once(
        call.workspace, command, call.caller, call.idempotency, alone=True
    )


def interrupted(error: Rejected | Refusal, what: str, done: int, count: int) -> Refusal:
    """Something that was right when all was checked is not any more."""
    refusal = problems.refusal_for(error)
    assert refusal is not None
    detail = f"{done} of {count} {what} are as was asked; ask again for all of them. {refusal.detail}"
    return Refusal(409, "It was done in part", detail, refusal.errors)
