"""Work on copies of a workspace, which takes time: few at once, the others wait, and too many are turned away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import msgspec

from headgate.api.http import problems, replies
from headgate.api.http.calls import Request
from headgate.fleet.engine.engine import Engine
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.runtime.commands import EngineView

Result = TypeVar("Result")

AT_ONCE = 1
MOST_WAITING = 16

_THREADS = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="headgate-rehearsal")
_waiting = 0


class Copy(msgspec.Struct, frozen=True):
    """A workspace as it was at a moment. Its ids come from where the workspace's own come from: rollout orders follow
    from ids, and a rehearsal shall have the order that the performance has."""

    document: bytes
    now: Instant
    ids: IdSource

    def load(self) -> Engine:
        return Engine.load(self.document, self.ids)


async def copy_of(call: Request) -> Copy:
    return await replies.ask(call, taken)


def taken(view: EngineView) -> Copy:
    return Copy(view.engine.dump(), view.now, view.engine.ids)


async def run(work: Callable[[], Result]) -> Result:
    global _waiting
    if _waiting >= MOST_WAITING:
        raise problems.unavailable(f"{_waiting} futures are being played already; try again in a moment")
    _waiting += 1
    try:
        return await asyncio.get_running_loop().run_in_executor(_THREADS, work)
    finally:
        _waiting -= 1
