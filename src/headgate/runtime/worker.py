"""The thread in which all workspaces of a process are kept: submissions in, batches out, timers as data.

Whatever arrives while one batch is committed goes into the next, so many commands share a commit under load.
"""

from __future__ import annotations

import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import msgspec

from headgate.fleet.changes import JobReported
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.runtime.commands import ENGINE, Caller, Command, Context, Idempotency, Question
from headgate.runtime.items import Item, by_workspace, in_turn
from headgate.runtime.keeper import Keeper, Outcome
from headgate.runtime.meters import Meter, Unmetered
from headgate.store.port import Store, UnavailableError, UnknownWorkspaceError

_log = logging.getLogger("headgate.worker")
Result = TypeVar("Result")
_PRUNING_SECONDS = 3_600.0
_METERING_SECONDS = 5.0
_LISTENING_SECONDS = 0.2
"""How long a stop may have to wait for the one who listens."""


class Settings(msgspec.Struct, frozen=True):
    """`decides` says whether this process may hold leases at all."""

    holder: str
    decides: bool = True
    lease_seconds: float = 15.0
    poll_seconds: float = 0.5
    recheck_seconds: float = 600.0
    most_items_a_batch: int = 500
    keep_keys_hours: float = 24.0
    keep_history_days: float = 90.0


def wall_clock() -> Instant:
    return time.time_ns() // 1_000


class Worker:
    """`after_commit` is called in the worker's thread with the workspace and what its batch left to do."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        clock: Callable[[], Instant] = wall_clock,
        meter: Meter | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._meter: Meter = meter if meter is not None else Unmetered()
        self._queue: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._keepers: dict[str, Keeper] = {}
        self._door = threading.Lock()
        """Nothing is queued once it has been closed, so nothing waits for an answer for ever."""
        self._is_stopping = threading.Event()
        self._has_hint = threading.Event()
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)
        self._hints = threading.Thread(target=self._listen, name="hints", daemon=True)
        self._next_lease = self._next_look = self._next_recheck = self._next_pruning = self._next_metering = (
            0.0
        )
        self._hint_is_due = False
        self.after_commit: Callable[[str, Outcome], None] = lambda workspace, outcome: None

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
        item = Item(workspace, command=command, caller=caller, idempotency=idempotency, alone=alone)
        return self._enqueue(item)

    def ask(self, workspace: str, question: Question[Result]) -> Future[Result]:
        return self._enqueue(Item(workspace, question=question))

    def report(self, workspace: str, change: JobReported) -> Future[None]:
        def command(context: Context) -> None:
            context.apply(change)

        return self.submit(workspace, command, ENGINE)

    def _enqueue(self, item: Item) -> Future[Any]:
        with self._door:
            if not self._is_stopping.is_set():
                self._queue.put(item)
                return item.future
        item.fail(UnavailableError("the server is shutting down"))
        return item.future

    def _listen(self) -> None:
        """Hints only make the next look come sooner."""
        while not self._is_stopping.is_set():
            if self._store.wait_for_hint(_LISTENING_SECONDS) and not self._has_hint.is_set():
                self.wake()

    def _run(self) -> None:
        while True:
            for workspace, items in by_workspace(self._collect()).items():
                self._serve(workspace, items)
            if self._is_stopping.is_set() and self._queue.empty():
                break
            try:
                self._keep_house()
            except UnavailableError as error:
                _log.warning("the store cannot be reached: %s", error)
                for keeper in self._keepers.values():
                    keeper.drop_replica()
                time.sleep(0.2)
            except UnknownWorkspaceError:
                self._next_look = 0.0  # one was removed just now; the next look no longer finds it
            except Exception:
                _log.exception("the worker goes on after an error")
                time.sleep(0.2)
        self._hand_over()

    def _collect(self) -> list[Item]:
        found: list[Item] = []
        try:
            first = self._queue.get(timeout=self._seconds_to_wait())
            if first is not None:
                found.append(first)
            while len(found) < self._settings.most_items_a_batch:
                item = self._queue.get_nowait()
                if item is not None:
                    found.append(item)
        except queue.Empty:
            pass
        return found

    def _seconds_to_wait(self) -> float:
        until = min(self._next_look, self._next_lease) - time.monotonic()
        return max(min([until, *map(self._seconds_until_due, self._keepers.values())]), 0.0)

    def _seconds_until_due(self, keeper: Keeper) -> float:
        wake = keeper.next_wake()
        if wake is None:
            return math.inf
        return max(
            (wake - self._clock()) / instants.MICROSECONDS_PER_SECOND,
            keeper.rests_until - time.monotonic(),
        )

    def _serve(self, workspace: str, items: Sequence[Item]) -> None:
        """Whatever happens, every item has its answer afterwards, and the worker goes on."""
        try:
            keeper = self._keeper(workspace)
            for group in in_turn(items):
                if group[0].question is not None:
                    keeper.answer(group)
                else:
                    self._commit(keeper, group)
        except Exception as error:
            if not isinstance(error, UnavailableError | UnknownWorkspaceError):
                _log.exception("the worker goes on after an error")
            for item in items:
                item.fail(error)

    def _commit(self, keeper: Keeper, items: Sequence[Item]) -> None:
        begin = time.perf_counter()
        outcome = keeper.serve(items)
        if outcome is None:
            for item in items:
                self._commit(keeper, [item])
            return
        self._meter.batch(keeper.workspace.name, outcome, time.perf_counter() - begin, len(items))
        for flaw in outcome.undeliverable:
            self.report(keeper.workspace.name, flaw)
        if outcome.has_written:
            self._hint_is_due = True
        if outcome.has_written or outcome.measurements:
            self._tell(keeper.workspace.name, outcome)

    def _tell(self, workspace: str, outcome: Outcome) -> None:
        """What is done is done, whether or not everybody can be told."""
        try:
            self.after_commit(workspace, outcome)
        except Exception:
            _log.exception("what follows a commit of %s failed", workspace)

    def _keeper(self, workspace: str) -> Keeper:
        if workspace not in self._keepers:
            self._find_workspaces()
        found = self._keepers.get(workspace)
        if found is None:
            raise UnknownWorkspaceError(workspace)
        return found

    def _find_workspaces(self) -> None:
        there = {one.name: one for one in self._store.workspaces()}
        for name, workspace in there.items():
            known = self._keepers.get(name)
            if known is None or known.workspace.id != workspace.id:
                self._keepers[name] = Keeper(self._store, workspace, self._clock, self._settings.holder)
                self._next_lease = 0.0
        for name in [name for name in self._keepers if name not in there]:
            del self._keepers[name]

    def _keep_house(self) -> None:
        moment = time.monotonic()
        if self._has_hint.is_set() or moment >= self._next_look:
            self._has_hint.clear()
            self._next_look = moment + self._settings.poll_seconds
            self._look()
        if moment >= self._next_lease:
            self._next_lease = moment + self._settings.lease_seconds / 3
            self._hold_leases()
        if moment >= self._next_recheck:
            self._next_recheck = moment + self._settings.recheck_seconds
            for keeper in self._keepers.values():
                keeper.needs_recheck = keeper.is_leader
        if moment >= self._next_metering:
            self._next_metering = moment + _METERING_SECONDS
            self._measure()
        if moment >= self._next_pruning and self._settings.decides:
            self._next_pruning = moment + _PRUNING_SECONDS
            self._prune()
        self._decide_what_is_due()
        if self._hint_is_due:
            self._hint_is_due = False
            self._store.hint()

    def _look(self) -> None:
        """Polling is the truth: what other processes wrote is found here at the latest."""
        self._find_workspaces()
        for keeper in self._keepers.values():
            if keeper.is_leader and keeper.is_behind():
                self._commit(keeper, [])
        if self._settings.decides:
            self._end_overdue_jobs()
            if self._has_free_lease():
                self._next_lease = 0.0

    def _has_free_lease(self) -> bool:
        """Given back by a process that ended, which nobody need wait for."""
        wanted = {keeper.lease_name for keeper in self._keepers.values() if not keeper.is_leader}
        return bool(wanted) and bool(wanted - {lease.name for lease, end in self._store.leases() if end > 0})

    def _end_overdue_jobs(self) -> None:
        for order in self._store.overdue_orders(self._clock(), 100):
            keeper = self._keepers.get(order.workspace)
            if keeper is not None and keeper.is_leader:
                deadline = instants.show(order.deadline_at or 0)
                message = f"no end was reported until the deadline of the job, {deadline}"
                self.report(order.workspace, JobReported(order.job, "timedOut", message))

    def _measure(self) -> None:
        oldest = self._store.oldest_waiting_order()
        for keeper in self._keepers.values():
            self._meter.kept(keeper, self._queue.qsize(), oldest)

    def _prune(self) -> None:
        now = self._clock()
        self._store.prune(
            keys_before=now - instants.hours(self._settings.keep_keys_hours),
            history_before=now - instants.hours(24 * self._settings.keep_history_days),
        )

    def _hold_leases(self) -> None:
        if self._settings.decides:
            for keeper in self._keepers.values():
                keeper.hold_lease(self._settings.lease_seconds)

    def _decide_what_is_due(self) -> None:
        for keeper in self._keepers.values():
            if self._seconds_until_due(keeper) <= 0:
                self._commit(keeper, [])

    def _hand_over(self) -> None:
        try:
            for keeper in self._keepers.values():
                keeper.release_lease()
            self._store.hint()
        except UnavailableError as error:
            _log.warning("leases run out by themselves: %s", error)


__all__ = ["ENGINE", "Meter", "Settings", "Worker", "wall_clock"]
