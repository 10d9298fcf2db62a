"""The thread in which all workspaces of a process are kept: submissions in, batches out, timers as data.

Whatever arrives while one batch is committed goes into the next, so many commands share a commit under load.
"""

from __future__ import annotations

import itertools
import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import msgspec

from headgate.fleet.model.changes import JobReported
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.runtime import claims, retention
from headgate.runtime.clocks import BOUND_SECONDS, ClockWatch, wall_clock
from headgate.runtime.commands import (
    ENGINE,
    BusyError,
    Caller,
    Command,
    CommandContext,
    Idempotency,
    Question,
)
from headgate.runtime.health import Health
from headgate.runtime.items import WaitingLine, WorkItem, in_turn
from headgate.runtime.meters import Unmetered, WorkerMeter
from headgate.runtime.workspace_engine import AfterCommit, WorkspaceEngine
from headgate.store.port import Store, UnavailableError, UnknownWorkspaceError

_log = logging.getLogger("headgate.worker")
Result = TypeVar("Result")
_PRUNING_SECONDS = 3_600.0
_FORGETTING_SECONDS = 0.02
"""Between two steps, for whoever else wants to write."""
_METERING_SECONDS = 5.0
_REST_SECONDS = 0.2
_LISTENING_SECONDS = 0.2
"""How long a stop may have to wait for the one who listens."""


class WorkerSettings(msgspec.Struct, frozen=True):
    """`decides` says whether this process may hold leases at all."""

    holder: str
    decides: bool = True
    lease_seconds: float = 15.0
    poll_seconds: float = 0.5
    recheck_seconds: float = 600.0
    most_items_a_batch: int = 100
    """Of one workspace, after which the others have their turn."""
    most_items_waiting: int = 2_000
    """Of one workspace; what comes beyond is refused. What the engine itself has to say is always taken."""
    clock_bound_seconds: float = BOUND_SECONDS
    """By how much a workspace's time may be ahead of this machine's."""
    stuck_seconds: float = 30.0
    """A worker that is at one turn for longer is said to be stuck."""


class Worker:
    """`after_commit` is called in the worker's thread with the workspace and what its batch left to do."""

    def __init__(
        self,
        store: Store,
        settings: WorkerSettings,
        *,
        clock: Callable[[], Instant] = wall_clock,
        meter: WorkerMeter | None = None,
        health: Health | None = None,
        watch: ClockWatch | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._meter: WorkerMeter = meter if meter is not None else Unmetered()
        self._watch = watch
        self.health = health if health is not None else Health(clock)
        self._queue: queue.SimpleQueue[WorkItem | None] = queue.SimpleQueue()
        self._line = WaitingLine(settings.most_items_waiting)
        self._engines: dict[str, WorkspaceEngine] = {}
        self._door = threading.Lock()
        """Nothing is queued once it has been closed, so nothing waits for an answer for ever."""
        self._is_stopping = threading.Event()
        self._has_hint = threading.Event()
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)
        self._hints = threading.Thread(target=self._listen, name="hints", daemon=True)
        self._next_lease = self._next_poll = self._next_recheck = self._next_pruning = self._next_metering = (
            0.0
        )
        self._hint_is_due = False
        self._forgetting: Iterator[int] | None = None
        """What is left to forget this time."""
        self._turn_began: float | None = None
        """When the worker began what it is at, by the monotonic clock; None while it has nothing to do."""
        self.after_commit: Callable[[str, AfterCommit], None] = lambda workspace, outcome: None

    def start(self) -> None:
        self._next_recheck = time.monotonic() + self._settings.recheck_seconds
        self._thread.start()
        self._hints.start()

    def stop(self) -> None:
        """Finishes what was submitted, hands over its leases, and ends."""
        with self._door:
            self._is_stopping.set()
        self._queue.put(None)
        self._thread.join()
        self._hints.join()

    def wake(self) -> None:
        """Looks at once at what is due and at what others wrote, whenever it would have looked by itself."""
        self._has_hint.set()
        self._queue.put(None)

    def submit(
        self,
        workspace: str,
        command: Command[Result],
        caller: Caller,
        *,
        idempotency: Idempotency | None = None,
        alone: bool = False,
    ) -> Future[Result]:
        item = WorkItem(workspace, command=command, caller=caller, idempotency=idempotency, alone=alone)
        return self._enqueue(item)

    def ask(self, workspace: str, question: Question[Result]) -> Future[Result]:
        return self._enqueue(WorkItem(workspace, question=question))

    def report(self, workspace: str, change: JobReported) -> Future[None]:
        def command(context: CommandContext) -> None:
            context.apply(change)

        return self.submit(workspace, command, ENGINE)

    def _enqueue(self, item: WorkItem) -> Future[Any]:
        with self._door:
            if not self._is_stopping.is_set():
                if self._line.has_room_for(item):
                    self._queue.put(item)
                else:
                    item.fail(BusyError(item.workspace, self._line.length_of(item.workspace)))
                return item.future
        item.fail(UnavailableError("the server is shutting down"))
        return item.future

    def _listen(self) -> None:
        """Hints only make the next look come sooner. This thread also sees when the other does not come round."""
        while not self._is_stopping.is_set():
            self._watch_queue()
            if self._store.wait_for_hint(_LISTENING_SECONDS) and not self._has_hint.is_set():
                self.wake()

    def _watch_queue(self) -> None:
        began = self._turn_began
        seconds = time.monotonic() - began if began is not None else 0.0
        if seconds < self._settings.stuck_seconds:
            if self.health.has_troubles:
                self.health.right("queue")
            return
        waiting = self._line.length
        self.health.wrong(
            "queue", f"the engine's thread is busy since {seconds:.0f} s, and {waiting} wait for it"
        )

    def _run(self) -> None:
        while True:
            self._turn_began = None
            work = self._collect()
            self._turn_began = time.monotonic()
            for workspace, items in work.items():
                self._serve(workspace, items)
            if self._is_stopping.is_set() and self._queue.empty() and self._line.is_empty:
                break
            try:
                self._keep_house()
            except UnavailableError as error:
                self.health.say_of_store(error)
                for engine in self._engines.values():
                    engine.drop_replica()
                self._rest()
            except UnknownWorkspaceError:
                self._next_poll = 0.0  # one was removed just now; the next look no longer finds it
            except Exception:
                _log.exception("the worker goes on after an error")
                self._rest()
        self._hand_over()

    def _rest(self) -> None:
        self._turn_began = None
        time.sleep(_REST_SECONDS)

    def _collect(self) -> dict[str, list[WorkItem]]:
        """Of every workspace that has something the oldest few: a flood in one leaves the others their turn."""
        try:
            item = self._queue.get(timeout=self._seconds_to_wait() if self._line.is_empty else 0.0)
            while True:
                if item is not None:
                    self._line.add(item)
                item = self._queue.get_nowait()
        except queue.Empty:
            pass
        return self._line.next_turn(self._settings.most_items_a_batch)

    def _seconds_to_wait(self) -> float:
        if self._forgetting is not None:
            return _FORGETTING_SECONDS
        until = min(self._next_poll, self._next_lease) - time.monotonic()
        return max(min([until, *map(self._seconds_until_due, self._engines.values())]), 0.0)

    def _seconds_until_due(self, engine: WorkspaceEngine) -> float:
        wake = engine.next_wake()
        if wake is None:
            return math.inf
        return max(
            (wake - self._clock()) / instants.MICROSECONDS_PER_SECOND,
            engine.rests_until - time.monotonic(),
        )

    def _serve(self, workspace: str, items: Sequence[WorkItem]) -> None:
        """Whatever happens, every item has its answer afterwards, and the worker goes on."""
        try:
            if workspace not in self._engines:
                self._find_workspaces()
            engine = self._engines.get(workspace)
            if engine is None:
                raise UnknownWorkspaceError(workspace)
            groups = in_turn(items)
            for number, group in enumerate(groups):
                if group[0].question is not None:
                    engine.answer(group)
                    continue
                left = self._commit(engine, group)
                if left:
                    self._line.put_back([*left, *itertools.chain(*groups[number + 1 :])])
                    return
        except Exception as error:
            if not isinstance(error, UnavailableError | UnknownWorkspaceError):
                _log.exception("the worker goes on after an error")
            for item in items:
                item.fail(error)

    def _commit(self, engine: WorkspaceEngine, items: Sequence[WorkItem]) -> list[WorkItem]:
        """Those that have to wait for another turn."""
        begin = time.perf_counter()
        outcome = engine.serve(items)
        if outcome is None:
            for item in items:
                self._commit(engine, [item])
            return []
        self._meter.batch(
            engine.workspace.name, outcome, time.perf_counter() - begin, len(items) - len(outcome.left)
        )
        for problem in outcome.undeliverable:
            self.report(engine.workspace.name, problem)
        if outcome.has_written:
            self._hint_is_due = True
        if outcome.has_written or outcome.measurements:
            try:
                self.after_commit(engine.workspace.name, outcome)
            except Exception:  # what is done is done, whether or not everybody can be told
                _log.exception("what follows a commit of %s failed", engine.workspace.name)
        return outcome.left

    def _find_workspaces(self) -> None:
        there = {one.name: one for one in self._store.workspaces()}
        for name, workspace in there.items():
            known = self._engines.get(name)
            if known is None or known.workspace.id != workspace.id:
                self._engines[name] = WorkspaceEngine(
                    self._store,
                    workspace,
                    self._clock,
                    self._settings.holder,
                    self.health,
                    self._watch,
                    self._settings.clock_bound_seconds,
                )
                self._next_lease = 0.0
        for name in [name for name in self._engines if name not in there]:
            del self._engines[name]
            self.health.forget(name)
            self._meter.forgotten(name)

    def _keep_house(self) -> None:
        moment = time.monotonic()
        if self._has_hint.is_set() or moment >= self._next_poll:
            self._has_hint.clear()
            self._next_poll = moment + self._settings.poll_seconds
            self._look()
        if moment >= self._next_lease:
            self._next_lease = moment + self._settings.lease_seconds / 3
            self._hold_leases()
        if moment >= self._next_recheck:
            self._next_recheck = moment + self._settings.recheck_seconds
            for engine in self._engines.values():
                engine.needs_recheck = engine.is_leader
        if moment >= self._next_metering:
            self._next_metering = moment + _METERING_SECONDS
            self._measure()
            self._check_store()
            self._check_clock()
        if moment >= self._next_pruning and self._settings.decides:
            self._prune()
        for engine in self._engines.values():
            if self._seconds_until_due(engine) <= 0:
                self._commit(engine, [])
        if self._hint_is_due:
            self._hint_is_due = False
            self._store.hint()

    def _look(self) -> None:
        """Polling is the truth: what other processes wrote is found here at the latest."""
        self._find_workspaces()
        for engine in self._engines.values():
            if engine.is_leader and engine.is_behind():
                self._commit(engine, [])
        if self._settings.decides:
            self._end_overdue_jobs()
            for workspace, lost in claims.end_lost(self._store, self._believed_now()):
                self.report(workspace, lost)
            if self._has_free_lease():
                self._next_lease = 0.0

    def _believed_now(self) -> Instant:
        return self._watch.now() if self._watch is not None else self._clock()

    def _has_free_lease(self) -> bool:
        """Given back by a process that ended, which nobody need wait for."""
        wanted = {engine.lease_name for engine in self._engines.values() if not engine.is_leader}
        return bool(wanted) and bool(wanted - {lease.name for lease, end in self._store.leases() if end > 0})

    def _end_overdue_jobs(self) -> None:
        for dispatch in self._store.overdue_dispatches(self._believed_now(), 100):
            engine = self._engines.get(dispatch.workspace)
            if engine is not None and engine.is_leader:
                deadline = instants.show(dispatch.deadline_at or 0)
                message = f"no end was reported until the deadline of the job, {deadline}"
                self.report(dispatch.workspace, JobReported(dispatch.job, "timedOut", message))

    def _measure(self) -> None:
        oldest = self._store.oldest_waiting_dispatch()
        for engine in self._engines.values():
            engine.check_units()
            self._meter.kept(engine, self._line.length_of(engine.workspace.name), oldest)

    def _check_store(self) -> None:
        """What could not be written may be written again by now."""
        if self.health.is_wrong("database") or self.health.is_wrong("disk"):
            self._store.try_to_write()
            self.health.store_is_right()

    def _check_clock(self) -> None:
        if self._watch is None:
            return
        self._watch.compare(self._store.clock())
        doubt = self._watch.doubt()
        if doubt is not None:
            self.health.wrong("clock", doubt)
        else:
            self.health.right("clock")

    def _prune(self) -> None:
        """One small step a turn. With a clock that is in doubt nothing is old."""
        if self._watch is not None and self._watch.doubt() is not None:
            return
        if self._forgetting is None:
            names = [engine.workspace.name for engine in self._engines.values() if engine.is_leader]
            self._forgetting = retention.forgetting(self._store, names, self._clock())
        if next(self._forgetting, None) is None:
            self._forgetting = None
            self._next_pruning = time.monotonic() + _PRUNING_SECONDS

    def _hold_leases(self) -> None:
        if self._settings.decides:
            for engine in self._engines.values():
                engine.hold_lease(self._settings.lease_seconds)

    def _hand_over(self) -> None:
        try:
            for engine in self._engines.values():
                engine.release_lease()
            self._store.hint()
        except UnavailableError as error:
            _log.warning("leases run out by themselves: %s", error)


__all__ = ["ENGINE", "Worker", "WorkerSettings", "wall_clock"]
