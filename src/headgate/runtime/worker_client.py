"""The worker as coroutines see it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import TypeVar

from headgate.runtime.commands import Caller, Command, Idempotency, Question
from headgate.runtime.worker import Worker

Result = TypeVar("Result")
_LONGEST_NAP = 0.5
"""Other processes are not heard of here; whoever waits looks again after this."""


class WorkerClient:
    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._lock = threading.Lock()
        self._newest: dict[str, int] = {}
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    async def submit(
        self,
        workspace: str,
        command: Command[Result],
        caller: Caller,
        *,
        idempotency: Idempotency | None = None,
        alone: bool = False,
    ) -> Result:
        return await asyncio.wrap_future(
            self._worker.submit(workspace, command, caller, idempotency=idempotency, alone=alone)
        )

    async def ask(self, workspace: str, question: Question[Result]) -> Result:
        return await asyncio.wrap_future(self._worker.ask(workspace, question))

    def committed(self, workspace: str, newest_event: int) -> None:
        """Wakes whoever waits for events. Called from the worker's thread."""
        with self._lock:
            self._newest[workspace] = newest_event
            waiting = tuple(self._waiting)
        for loop, event in waiting:
            with contextlib.suppress(RuntimeError):  # its loop has ended, and with it whoever waited
                loop.call_soon_threadsafe(event.set)

    async def wait_for_events(self, workspace: str, seq: int, seconds: float) -> bool:
        event = asyncio.Event()
        entry = (asyncio.get_running_loop(), event)
        with self._lock:
            if self._newest.get(workspace, 0) > seq:
                return True
            self._waiting.add(entry)
        begin = time.monotonic()
        try:
            await asyncio.wait_for(event.wait(), min(seconds, _LONGEST_NAP))
        except TimeoutError:
            return time.monotonic() - begin < seconds
        finally:
            with self._lock:
                self._waiting.discard(entry)
        return True
