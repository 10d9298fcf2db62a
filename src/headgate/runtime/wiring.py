"""What follows a commit: streams and agents are woken, measurements taken, jobs that ended told of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from typing import Any, Protocol

from headgate.fleet.model.changes import Measured
from headgate.fleet.model.records import Job
from headgate.fleet.rules.verification import Metric
from headgate.fleet.state.state import MeasurementDue
from headgate.runtime.commands import ENGINE, CommandContext
from headgate.runtime.worker_client import WorkerClient
from headgate.runtime.workspace_engine import AfterCommit


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
        self.wake_agents: Callable[[Collection[str]], None] = lambda types: None
        """Those of these types."""

    def start(self, measure: Measure) -> None:
        self._loop, self._measure = asyncio.get_running_loop(), measure

    def committed(self, workspace: str, outcome: AfterCommit) -> None:
        """After every commit that wrote something."""
        self._worker_client.committed(workspace, outcome.newest_event)
        for job in outcome.ended:
            self._tell_of_job(job, outcome.traces.get(job.version))
        if self._loop is None or self._loop.is_closed():
            return
        if outcome.agent_types:
            self.wake_agents(outcome.agent_types)
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
