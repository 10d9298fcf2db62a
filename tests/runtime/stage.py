"""A worker that looks at nothing by itself, a clock that stands still, and what can be seen of a workspace."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from headgate.fleet.model.changes import Change, JobReported
from headgate.fleet.model.objects import JOB_LIVE
from headgate.kernel import identifiers, instants
from headgate.runtime.commands import Caller, CommandContext, EngineView, Question
from headgate.runtime.worker import Worker, WorkerSettings
from headgate.store import Store, Workspace

from .fleet import START

HOME = "default"
ANA = Caller("ana", "request-1")
HOUR = 3_600.0
PATIENCE = 60.0
"""Only reached when something hangs."""

Result = TypeVar("Result")


def workspace(name: str) -> Workspace:
    return Workspace(identifiers.derive("workspace", name), name, "", START)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += instants.seconds(seconds)


class Picture(msgspec.Struct):
    """What can be seen at one moment: live jobs as `target tag`, and for every target what explain says."""

    jobs: list[str]
    says: dict[str, str]


def picture(view: EngineView) -> Picture:
    engine = view.engine
    jobs = sorted(f"{job.target} {job.tag}" for job in engine.jobs.values() if job.status in JOB_LIVE)
    return Picture(jobs, {name: _message(view, name) for name in engine.state.targets})


def _message(view: EngineView, target: str) -> str:
    found = view.engine.explain(target, view.now)
    rules = "; ".join(line.message for line in found.rules)
    group = found.group.message if found.group is not None else ""
    return f"{found.state}: {found.message} | {rules} | {group}"


def command(*changes: Change) -> Callable[[CommandContext], None]:
    def apply(context: CommandContext) -> None:
        for change in changes:
            context.apply(change)

    return apply


def eventually(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.005)


class Stage:
    def __init__(self, store: Store, **settings: Any) -> None:
        self.store = store
        self.clock = Clock()
        given: dict[str, Any] = {
            "holder": "stage",
            "lease_seconds": 3 * HOUR,
            "poll_seconds": HOUR,
            "recheck_seconds": HOUR,
        }
        self.worker = Worker(store, WorkerSettings(**{**given, **settings}), clock=self.clock)
        self.worker.start()
        eventually(lambda: self.has_lease)

    @property
    def has_lease(self) -> bool:
        return any(ends_at > 0 for _, ends_at in self.store.leases())

    def submit(self, *changes: Change, caller: Caller = ANA) -> None:
        """All of them in one commit."""
        future = self.worker.submit(HOME, command(*changes), caller, alone=True)
        future.result(PATIENCE)

    def each(self, *changes: Change) -> None:
        for change in changes:
            self.submit(change)

    def ask(self, question: Question[Result]) -> Result:
        return self.worker.ask(HOME, question).result(PATIENCE)

    def picture(self) -> Picture:
        return self.ask(picture)

    def picture_with(self, change: Change) -> Picture:
        """What is seen right after the commit of this change: the worker cannot do anything in between, because both
        are in its queue before it gets to the first of them."""
        with self.held():
            done = self.worker.submit(HOME, command(change), ANA)
            seen = self.worker.ask(HOME, picture)
        done.result(PATIENCE)
        return seen.result(PATIENCE)

    def held(self) -> Held:
        return Held(self.worker)

    def look(self) -> Picture:
        """Wakes the worker. One answer is not enough: it can come before the look that it shares a turn with."""
        self.worker.wake()
        for _ in range(3):
            seen = self.picture()
        return seen

    def job(self, target: str) -> str:
        """The id of its live job."""

        def find(view: EngineView) -> str:
            record = view.engine.state.targets[target].record
            assert record.job is not None, f"{target} has no live job"
            return record.job

        return self.ask(find)

    def report(self, target: str, status: str = "successful", **given: Any) -> None:
        self.submit(JobReported(self.job(target), status, **given))


class Held:
    """Keeps the worker from running for as long as the block lasts."""

    def __init__(self, worker: Worker, name: str = HOME) -> None:
        self._worker = worker
        self._name = name
        self._is_held = threading.Event()
        self._may_go_on = threading.Event()

    def __enter__(self) -> Held:
        def wait(view: EngineView) -> None:
            self._is_held.set()
            assert self._may_go_on.wait(PATIENCE)

        self._asked = self._worker.ask(self._name, wait)
        assert self._is_held.wait(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._may_go_on.set()
        self._asked.result(PATIENCE)
