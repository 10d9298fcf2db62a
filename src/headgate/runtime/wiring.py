"""Between the worker's thread and coroutines: how they ask it, and what follows a commit.

Streams and agents are woken, measurements taken, jobs that ended told of.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

from headgate.fleet.model.changes import Measured
from headgate.fleet.model.records import Job
from headgate.fleet.rules.verification import Metric
from headgate.fleet.state.state import MeasurementDue
from headgate.runtime.commands import ENGINE, Caller, Command, CommandContext, Idempotency, Question
from headgate.runtime.worker import Worker
from headgate.runtime.workspace_engine import AfterCommit

Result = TypeVar("Result")
_LONGEST_NAP = 0.5
"""Other processes are not heard of here; whoever waits looks again after this."""


class WorkerClient:
    """The worker as coroutines see it."""

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


class ProviderAnswer(Protocol):
    """What a provider answered, or why it did not."""

    @property
    def result(self) -> object: ...
    @property
    def error(self) -> str | None: ...


Measure = Callable[[Metric, Mapping[str, object]], Awaitable[ProviderAnswer]]


class Wiring:
    """Told of commits in the worker's thread; what takes time runs as tasks in the loop that it is started in."""

    def __init__(self, worker_client: WorkerClient, tell_of_job: Callable[[Job, str | None], None]) -> None:
        self._worker_client = worker_client
        self._tell_of_job = tell_of_job
        self._loop: asyncio.AbstractEventLoop | None = None
        self._measure: Measure | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.agent_types: Collection[str] = ()
        """Those that run here; whoever runs the others fetches their jobs."""
        self.wake_agents: Callable[[], None] = lambda: None

    def start(self, measure: Measure) -> None:
        self._loop, self._measure = asyncio.get_running_loop(), measure

    def committed(self, workspace: str, outcome: AfterCommit) -> None:
        """After every commit that wrote something."""
        self._worker_client.committed(workspace, outcome.newest_event)
        for job in outcome.ended:
            self._tell_of_job(job, outcome.traces.get(job.version))
        if self._loop is None or self._loop.is_closed():
            return
        if not outcome.agent_types.isdisjoint(self.agent_types):
            self.wake_agents()
        for due, bindings in outcome.measurements:
            self._loop.call_soon_threadsafe(self._begin_measuring, workspace, due, bindings)

    def _begin_measuring(self, workspace: str, due: MeasurementDue, bindings: dict[str, object]) -> None:
        self.begin(self._measured(workspace, due, bindings))

    async def _measured(self, workspace: str, due: MeasurementDue, bindings: dict[str, object]) -> None:
        assert self._measure is not None
        answer = await self._measure(due.metric, bindings)
        change = Measured(due.job.id, due.rule, due.metric.name, answer.result, answer.error)

        def command(context: CommandContext) -> None:
            context.apply(change)

        await self._worker_client.submit(workspace, command, ENGINE)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs beside the server, and ends with it at the latest."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
