"""What the tests of agents share: orders, a store, listeners, and servers on a free port."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web

from headgate.agents.port import Assignment, DispatchDocument, State
from headgate.fleet.model.changes import JobReported
from headgate.kernel import instants
from headgate.kernel.backoffs import Backoff
from headgate.store import Dispatch, Store, Workspace
from headgate.store.schema import TABLES
from headgate.store.sql.opening import open_store

HOME = "home"
QUICK = Backoff(first_seconds=0.01, most_seconds=0.05, chance=lambda: 1.0)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def clock() -> int:
    return time.time_ns() // 1_000


def play(coroutine: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(coroutine, 60)

    asyncio.run(bounded())


async def until(condition: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        await asyncio.sleep(0.005)


def document(job: str = "job-1", config: Mapping[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    return {
        "job": {
            "id": job,
            "deployment": "api",
            "environment": "prod",
            "resource": "node-1",
            "version": "v2",
            "versionId": "version-2",
            "attempt": 1,
            "kind": "deploy",
            "group": None,
            "createdAt": "2026-03-01T09:00:00Z",
        },
        "agent": {"name": "runner", "type": "fake"},
        "config": dict(config or {}),
        "variables": {"replicas": 3},
        "version": {"tag": "v2"},
        "resource": {"name": "node-1"},
        "environment": {"name": "prod"},
        "deployment": {"name": "api"},
        "traceParent": None,
        **given,
    }


class Shelf:
    """Keeps the state of an assignment, as the store does, and every value it had."""

    def __init__(self) -> None:
        self.state: State = {}
        self.history: list[State] = []
        self.lines: list[str] = []
        self.takes_lines = 1_000_000

    async def print(self, lines: Sequence[str], offset: int) -> bool:
        """As the store does: what was printed before is passed over."""
        self.lines += lines[len(self.lines) - offset :]
        return len(self.lines) < self.takes_lines

    async def keep(self, state: State) -> None:
        self.state = json.loads(json.dumps(state))
        self.history.append(self.state)

    def assignment(self, config: Mapping[str, Any], job: str = "job-1", **given: Any) -> Assignment:
        """As after a restart: nothing but the kept state is known."""
        content = document(job, config, **given)
        order = msgspec.convert(content, DispatchDocument)
        return Assignment(HOME, order, state=self.state, keep=self.keep, print_lines=self.print)


def order(
    job: str = "job-1", type: str = "fake", config: Mapping[str, Any] | None = None, **given: Any
) -> Dispatch:
    now = clock()
    fields: dict[str, Any] = {
        "workspace": HOME,
        "job": job,
        "agent": "runner",
        "type": type,
        "document": json.dumps(document(job, config)).encode(),
        "created_at": now,
        "not_before": now,
        "deadline_at": now + instants.hours(1),
    }
    return Dispatch(**fields | given)


def opened(url: str = "memory:") -> Store:
    store = open_store(url)
    store.migrate()
    store.add_workspace(Workspace("id", HOME))
    return store


def put(store: Store, *orders: Dispatch) -> None:
    names = TABLES["job_dispatch"].column_names
    with store.begin(HOME) as transaction:
        transaction.put("job_dispatch", [[getattr(one, name) for name in names] for one in orders])


def cancel(store: Store, job: str) -> None:
    with store.begin(HOME) as transaction:
        transaction.cancel_dispatches([job])


class Reports:
    """Listens to reports; the first `failing` of them are not taken."""

    def __init__(self, failing: int = 0) -> None:
        self.failing = failing
        self.taken: list[JobReported] = []

    async def __call__(self, workspace: str, change: JobReported) -> None:
        assert workspace == HOME
        if self.failing > 0:
            self.failing -= 1
            raise ConnectionError("nobody listens")
        self.taken.append(change)

    def statuses(self, job: str = "job-1") -> list[str]:
        return [change.status for change in self.taken if change.job == job]

    def last(self, job: str = "job-1") -> JobReported:
        return [change for change in self.taken if change.job == job][-1]


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """One handler for every path, on a free port."""
    server = web.Server(handler)
    runner = web.ServerRunner(server, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert runner.addresses
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def drop(request: web.BaseRequest) -> web.Response:
    """The request was taken, and the connection breaks before an answer is sent."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def free_port() -> int:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return port
