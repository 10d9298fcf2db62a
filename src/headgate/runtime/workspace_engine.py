"""Keeps one workspace in one process: its replica, its lease if it has one, its batches."""

from __future__ import annotations

import gc
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from headgate.fleet.engine.engine import Engine
from headgate.fleet.model.changes import JobReported
from headgate.fleet.model.records import Job
from headgate.fleet.state.state import MeasurementDue
from headgate.kernel import instants
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.runtime import clocks, dispatching, holders
from headgate.runtime.batch import Batch, PoisonedError
from headgate.runtime.clocks import BOUND_SECONDS, ClockWatch
from headgate.runtime.health import Health
from headgate.runtime.items import WorkItem
from headgate.runtime.recording import Recorder
from headgate.runtime.replica import LONGEST_CATCH_UP, DivergedError, LeftBehindError, Replica
from headgate.runtime.unit_check import UnitCheck
from headgate.store.leases import Lease, LeaseLostError
from headgate.store.port import RefusedError, Store, UnavailableError, UnknownWorkspaceError, Workspace

_log = logging.getLogger("headgate.worker")
_MOST_RELOADS = 3
_REST_SECONDS = 0.5
_BATCH_SECONDS = 0.05
"""How long commands of one workspace are applied before the others have their turn; one is always applied to its end."""


class AfterCommit(msgspec.Struct):
    """What is to be done after a commit."""

    has_written: bool = False
    measurements: list[tuple[MeasurementDue, dict[str, object]]] = []
    """Each with what the provider's expressions see."""
    undeliverable: list[JobReported] = []
    agent_types: frozenset[str] = frozenset()
    """Of the agents that have something to do now."""
    created: dict[str, int] = {}
    """Jobs by kind."""
    kinds: dict[str, int] = {}
    """Changes that were accepted, by type."""
    newest_event: int = 0
    ended: list[Job] = []
    traces: dict[str, str] = {}
    left: list[WorkItem] = []
    """Commands for which there was no time: the others have their turn first."""


class WorkspaceEngine:
    def __init__(
        self,
        store: Store,
        workspace: Workspace,
        clock: Callable[[], Instant],
        holder: str,
        health: Health | None = None,
        watch: ClockWatch | None = None,
        clock_bound_seconds: float = BOUND_SECONDS,
    ) -> None:
        self.workspace = workspace
        self._store = store
        self._clock = clock
        self._holder = holder
        self._watch = watch
        self._clock_bound = instants.seconds(clock_bound_seconds)
        self.health = health if health is not None else Health(clock)
        self._recorder = Recorder()
        self._replica: Replica | None = None
        self._must_decide = True
        self._unit_check = UnitCheck()
        self._traces: dict[str, str] = {}
        self.lease: Lease | None = None
        self.needs_recheck = False
        self.rests_until = 0.0
        """After a failure it decides nothing by itself for a moment; by the monotonic clock."""

    @property
    def is_leader(self) -> bool:
        return self.lease is not None

    @property
    def position(self) -> int:
        return self._replica.position if self._replica is not None else 0

    def hold_lease(self, seconds: float) -> None:
        """Takes the lease or renews it. A new leader begins from the rows: what the last one had begun is begun again."""
        if self.lease is not None:
            if self._store.renew_lease(self.lease, seconds):
                return
            self._lost_lease()
        self._free_what_is_left_behind()
        self.lease = self._store.take_lease(self.lease_name, self._holder, seconds)
        if self.lease is not None:
            _log.info("%s decides for %s (token %d)", self._holder, self.workspace.name, self.lease.token)
            self.drop_replica()

    def _free_what_is_left_behind(self) -> None:
        for lease, _ in self._store.leases():
            if lease.name == self.lease_name and holders.has_ended(lease.holder):
                _log.info("%s has ended without giving %s back", lease.holder, lease.name)
                self._store.release_lease(lease)

    @property
    def lease_name(self) -> str:
        return f"engine/{self.workspace.name}"

    def release_lease(self) -> None:
        if self.lease is not None:
            self._store.release_lease(self.lease)
            self.lease = None

    def _lost_lease(self) -> None:
        _log.warning("%s lost the lease of %s", self._holder, self.workspace.name)
        self.lease = None
        self.drop_replica()

    def drop_replica(self) -> None:
        """What is in memory may be ahead of what is stored; the next use loads it anew."""
        self._replica = None
        self._must_decide = True

    def _diverged(self, diverged: DivergedError) -> None:
        """Nothing is answered from what is in memory now; what the rows say is right."""
        if isinstance(diverged, LeftBehindError):
            _log.info("replica is loaded anew: %s", diverged)
            self.drop_replica()
            return
        _log.error("replica is loaded anew: %s", diverged)
        message = "what was decided in memory is not what the log says; it is loaded anew"
        self.health.wrong("divergence", message, self.workspace.name)
        self.drop_replica()

    def replica(self) -> Replica:
        """Loaded anew where it was dropped. It lives long and is large: the garbage collector need not walk it."""
        if self._replica is None:
            self.workspace = self._found_workspace()
            replica = Replica.load(self._store, self.workspace)
            self._traces = {
                version: msgspec.json.decode(trace)
                for version, trace in self._store.documents(self.workspace.name, "trace").items()
            }
            self._recorder = Recorder()
            replica.engine.observer = self._recorder
            self._replica = replica
            gc.freeze()
        return self._replica

    def _found_workspace(self) -> Workspace:
        """One that was removed and made anew under the same name has another id, and ids of its own."""
        for workspace in self._store.workspaces():
            if workspace.name == self.workspace.name:
                return workspace
        raise UnknownWorkspaceError(self.workspace.name)

    def waiting_counts(self) -> Mapping[Reason, int]:
        """How many units wait for each reason, where this process decides."""
        if self._replica is None or not self.is_leader:
            return {}
        return self._replica.engine.waiting_counts()

    def live_jobs(self) -> Mapping[str, int]:
        """By status."""
        return self._replica.engine.live_jobs() if self._replica is not None else {}

    def check_units(self) -> None:
        """Only of a workspace that this process decides for, and that has nothing to decide now."""
        if self.lease is None or self._replica is None or self._must_decide:
            return
        now = max(self._clock(), self._replica.last_at)
        self._unit_check.check(self._replica.engine, now)
        sentence = self._unit_check.sentence()
        if sentence is not None:
            self.health.wrong("units", sentence, self.workspace.name)
        else:
            self.health.right("units", self.workspace.name)

    def is_behind(self) -> bool:
        return self._replica is None or self._store.head(self.workspace.name) != self._replica.position

    def next_wake(self) -> Instant | None:
        """The leader's next moment with something to decide; 0 for at once."""
        if self.lease is None:
            return None
        if self._replica is None or self._must_decide or self.needs_recheck:
            return 0
        return self._replica.engine.next_wake()

    def answer(self, questions: Sequence[WorkItem]) -> None:
        """Questions see everything that was committed before they were asked."""
        engine = self._caught_up()
        now, last_at = self._clock(), self.replica().last_at
        view = _View(engine, max(now, last_at), self._refusal(now, last_at))
        for item in questions:
            assert item.question is not None
            try:
                item.result = item.question(view)
            except Exception as error:
                item.error = error
            item.settle()

    def _refusal(self, now: Instant, last_at: Instant) -> str | None:
        """Why nothing is written at the moment."""
        doubt = self._watch.doubt() if self._watch is not None else None
        if doubt is not None:
            return doubt
        return clocks.ahead_sentence(last_at - now) if last_at - now > self._clock_bound else None

    def _say_of_clock(self, refusal: str | None) -> None:
        if refusal is not None:
            self.rests_until = time.monotonic() + _REST_SECONDS
            self.health.wrong("clock", refusal, self.workspace.name)
        else:
            self.health.right("clock", self.workspace.name)

    def _caught_up(self) -> Engine:
        for _ in range(_MOST_RELOADS):
            try:
                self._catch_up()
            except DivergedError as diverged:
                self._diverged(diverged)
            else:
                self.health.right("divergence", self.workspace.name)
                return self.replica().engine
        raise UnavailableError("what is in memory differs from the log again and again; try again")

    def _catch_up(self) -> None:
        replica = self.replica()
        head = self._store.head(self.workspace.name)
        if head == replica.position:
            return
        if head < replica.position or head - replica.position > LONGEST_CATCH_UP:
            self.drop_replica()
            self.replica()
            return
        self._recorder.is_muted = True
        try:
            replica.catch_up(self._store)
        finally:
            self._recorder.is_muted = False
        self._must_decide = True

    def serve(self, items: Sequence[WorkItem]) -> AfterCommit | None:
        """One batch, after which every item is settled but those that are `left`; or None, if one of several cannot be
        written and nobody knows which: then nothing was, and each has to be tried by itself."""
        waiting = list(items)
        for _ in range(_MOST_RELOADS + len(waiting)):
            try:
                outcome = self._commit(waiting)
            except PoisonedError as poisoned:
                self.drop_replica()
                poisoned.item.fail(poisoned.cause)
                waiting.remove(poisoned.item)
            except LeaseLostError:
                self._lost_lease()
            except DivergedError as diverged:
                self._diverged(diverged)
            except RefusedError as error:
                self.drop_replica()
                if len(waiting) > 1:
                    return None
                _log.exception("a batch of %s cannot be written", self.workspace.name)
                return self._failed(waiting, error)
            except (UnavailableError, UnknownWorkspaceError) as error:
                self.drop_replica()
                if isinstance(error, UnavailableError):
                    self.health.say_of_store(error)
                return self._failed(waiting, error)
            except Exception as error:
                self.drop_replica()
                if len(waiting) > 1:
                    return None
                _log.exception("a batch of %s failed", self.workspace.name)
                return self._failed(waiting, error)
            else:
                if self.health.has_troubles:
                    self.health.right("divergence", self.workspace.name)
                    if outcome.has_written:
                        self.health.store_is_right()
                for item in waiting[: len(waiting) - len(outcome.left)]:
                    item.settle()
                return outcome
        return self._failed(waiting, UnavailableError("the workspace could not be written; try again"))

    def _failed(self, items: Sequence[WorkItem], error: BaseException) -> AfterCommit:
        self.rests_until = time.monotonic() + _REST_SECONDS
        for item in items:
            item.fail(error)
        return AfterCommit()

    def _commit(self, items: Sequence[WorkItem]) -> AfterCommit:
        """What others wrote is taken in before the workspace is locked, so that little is left to do meanwhile."""
        if self.lease is None:
            self._catch_up()
        replica = self.replica()
        with self._store.begin(self.workspace.name, self.lease) as transaction:
            batch = Batch(transaction, replica, self._recorder, self._clock(), self._refusal)
            left = self._run(batch, items)
            if self.lease is not None:
                batch.decide(self._traces, must=self._must_decide, is_recheck=self.needs_recheck)
            batch.write()
        has_written = batch.committed()
        if batch.refusal is not None or self.health.has_troubles:
            self._say_of_clock(batch.refusal)
        self._traces |= batch.traces
        if self.lease is not None and batch.refusal is None:
            self._must_decide = self.needs_recheck = False
        return AfterCommit(
            has_written=has_written,
            measurements=[
                (due, bindings)
                for due in batch.decisions.measurements
                if (bindings := dispatching.bindings_of(replica.engine.state, due.job)) is not None
            ],
            undeliverable=batch.undeliverable,
            agent_types=frozenset(dispatch.type for dispatch in batch.dispatches),
            created=Counter(job.kind for job in batch.decisions.created),
            kinds=batch.kinds,
            newest_event=batch.newest_event,
            ended=batch.ended,
            traces=self._traces,
            left=left,
        )

    @staticmethod
    def _run(batch: Batch, items: Sequence[WorkItem]) -> list[WorkItem]:
        """Those that it did not come to. What goes into a batch is no decision: whoever reads the log is told."""
        ends = time.monotonic() + _BATCH_SECONDS
        for count, item in enumerate(items, 1):
            item.error = item.result = None
            batch.run(item)
            if time.monotonic() >= ends:
                return list(items[count:])
        return []


class _View:
    def __init__(self, engine: Engine, now: Instant, warning: str | None) -> None:
        self.engine = engine
        self.now = now
        self.warning = warning
