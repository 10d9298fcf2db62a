"""Changes that are too many for one transaction, in steps between which others are served."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from headgate.api.http import problems
from headgate.api.http.calls import Refusal, Request
from headgate.kernel.problems import Rejected
from headgate.runtime import holders
from headgate.runtime.commands import Command, CommandContext, Reply
from headgate.store.leases import Lease, Leases

Item = TypeVar("Item")
Result = TypeVar("Result")

LEASE_SECONDS = 30.0
STEP = 50
"""Changes of one step at most."""
SMALLEST_STEP = 5
STEP_SECONDS = 0.015
"""How long the changes of a step may take to be applied; to decide and to write them takes about as long again."""


def steps(things: Sequence[Item], size: int = STEP) -> Iterator[Sequence[Item]]:
    for first in range(0, len(things), size):
        yield things[first : first + size]


class Pace:
    """How many changes a step has, by how long the last one took: on a machine with much to do, steps are smaller."""

    def __init__(self) -> None:
        self._size = STEP

    def steps(self, things: Sequence[Item]) -> Iterator[Sequence[Item]]:
        first = 0
        while first < len(things):
            some = things[first : first + self._size]
            first += len(some)
            yield some

    def timed(self, command: Command[Result]) -> Command[Result]:
        def run(context: CommandContext) -> Result:
            begin = time.perf_counter()
            result = command(context)
            self._took(time.perf_counter() - begin)
            return result

        return run

    def _took(self, seconds: float) -> None:
        wanted = self._size * STEP_SECONDS / max(seconds, 1e-6)
        self._size = int(min(max(wanted, self._size / 2, SMALLEST_STEP), self._size * 1.5 + 1, STEP))


class Held:
    """The right to do alone what takes many steps, which a crash gives back by itself."""

    def __init__(self, store: Leases, lease: Lease, busy: str) -> None:
        self._store = store
        self._lease = lease
        self._busy = busy

    async def keep(self) -> None:
        if not await asyncio.to_thread(self._store.renew_lease, self._lease, LEASE_SECONDS):
            raise problems.unavailable(f"{self._busy} by another server now")


_HERE: set[str] = set()
"""What is done in this process; the lease tells processes apart."""


@asynccontextmanager
async def alone(call: Request, name: str, busy: str) -> AsyncIterator[Held]:
    """Two of this name at once would end as neither of them."""
    store, lease = call.service.store, None
    if name not in _HERE:
        _HERE.add(name)
        try:
            lease = await asyncio.to_thread(_taken, store, name)
            if lease is not None:
                yield Held(store, lease, busy)
        finally:
            _HERE.discard(name)
            if lease is not None:
                await asyncio.to_thread(store.release_lease, lease)
    if lease is None:
        raise problems.unavailable(f"{busy}; try again in a moment")


async def keep(held: Sequence[Held]) -> None:
    for held_claim in held:
        await held_claim.keep()


def _taken(store: Leases, name: str) -> Lease | None:
    for lease, _ in store.leases():
        if lease.name == name and holders.has_ended(lease.holder):
            store.release_lease(lease)
    return store.take_lease(name, holders.this_process(), LEASE_SECONDS)


@asynccontextmanager
async def keyed(call: Request) -> AsyncIterator[Held | None]:
    """Of two requests with one key at once the second waits for the answer of the first, also where that takes many steps."""
    if call.idempotency is None:
        yield None
        return
    who = hashlib.sha256(f"{call.principal.user}/{call.idempotency.key}".encode()).hexdigest()
    name, busy = f"key/{call.workspace}/{who}", "a request with this Idempotency-Key is being carried out"
    async with alone(call, name, busy) as held:
        yield held


class _UnknownError(Exception):
    """Under its key nothing was answered before."""


async def known_answer(call: Request) -> Reply | None:
    """What the same request was answered before: its steps are not done again."""

    def refuse(context: CommandContext) -> Reply:
        raise _UnknownError

    try:
        return await last(call, refuse) if call.idempotency is not None else None
    except _UnknownError:
        return None


async def last(call: Request, command: Command[Reply]) -> Reply:
    """The step whose answer is kept under the request's key."""
    return await call.service.worker_client.submit(
        call.workspace, command, call.caller, idempotency=call.idempotency, alone=True
    )


def interrupted(error: Rejected | Refusal, what: str, done: int, count: int) -> Refusal:
    """Something that was right when all was checked is not any more."""
    refusal = problems.refusal_for(error)
    assert refusal is not None
    detail = f"{done} of {count} {what} are as was asked; ask again for all of them. {refusal.detail}"
    return Refusal(409, "It was done in part", detail, refusal.errors)
