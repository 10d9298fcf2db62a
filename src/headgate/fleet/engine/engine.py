"""The engine of one workspace: state + change + now -> decisions.

It is the single writer of decisions, which is what makes budgets hold without locks in the rules. All changes of one
moment are applied in their order, then `decide` decides once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from headgate.fleet.cycles import hooks
from headgate.fleet.engine import acceptance, admission, budget_uses, convergence, explain, snapshot
from headgate.fleet.engine.change_tracker import ChangeTracker
from headgate.fleet.engine.orderings import Ordering
from headgate.fleet.gates import failures
from headgate.fleet.model.changes import Change
from headgate.fleet.model.records import Group, Job
from headgate.fleet.state import freezes, verifying
from headgate.fleet.state.state import Journal, MeasurementDue, Notice, Observer, State, Warning
from headgate.kernel.budgets import BudgetUse
from headgate.kernel.decisions import Reason
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant


class Decisions(msgspec.Struct, frozen=True):
    """What was decided at one moment, in order. `rows` are the records that a store has to write; `forgotten` are jobs
    among them that the engine itself no longer needs."""

    created: tuple[Job, ...] = ()
    cancelled: tuple[Job, ...] = ()
    measurements: tuple[MeasurementDue, ...] = ()
    groups: tuple[Group, ...] = ()
    warnings: tuple[Warning, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    forgotten: tuple[Job, ...] = ()
    notices: tuple[Notice, ...] = ()


class Engine:
    def __init__(self, ids: IdSource, workspace: str = "default") -> None:
        self.state = State(ids, workspace)
        self.tracker: ChangeTracker | None = None
        """Who wants to know whom decisions concern; nobody, mostly."""
        self.orderings: dict[str, Ordering] = {}
        """Sorted keys, as far as queries have asked for them; by kind."""

    def apply(self, change: Change, now: Instant) -> None:
        """Takes the change, or raises `Rejected` with every problem and takes nothing of it."""
        acceptance.apply(self.state, change, now)

    def decide(self, now: Instant) -> Decisions:
        self.state.waiting.fire(now)
        if self.state.shares_of_budgets_moved:
            failures.settle(self.state, now)
        admission.settle(self.state, now)
        if self.state.forms_moved:
            hooks.settle(self.state, now)
            admission.settle(self.state, now)
        if self.state.measurements:
            verifying.ask(self.state, now)
        if self.state.freezes:
            freezes.tell_of_ends(self.state, now)
        journal, self.state.journal = self.state.journal, Journal()
        if self.tracker is not None and self.tracker.is_attached_to(self):
            self.tracker.decided(journal)
        return Decisions(
            tuple(journal.created),
            tuple(journal.cancelled),
            tuple(journal.measurements),
            tuple(journal.groups.values()),
            tuple(journal.warnings),
            tuple(journal.rows),
            tuple(journal.forgotten.values()),
            tuple(journal.notices),
        )

    def next_wake(self) -> Instant | None:
        """The earliest moment at which `decide` can find something to do by itself."""
        times = [
            self.state.waiting.next_time(),
            self.state.measurements[0][0] if self.state.measurements else None,
            freezes.next_end(self.state) if self.state.freezes else None,
        ]
        return min((at for at in times if at is not None), default=None)

    @property
    def observer(self) -> Observer:
        return self.state.observer

    @observer.setter
    def observer(self, observer: Observer) -> None:
        self.state.observer = observer

    @property
    def ids(self) -> IdSource:
        """Where the ids of what it decides come from."""
        return self.state.ids

    def new_id(self, kind: str, name: str) -> str:
        """Of an object that is to come. It follows from the name and from how far the engine has decided: a plan of the
        same thing made just before gives the same id, and with it the same rollout order; the same name later is
        another thing."""
        state = self.state
        return state.ids.new(kind, f"{state.workspace}/{name}@{state.sequence}")

    @property
    def jobs(self) -> Mapping[str, Job]:
        """Live jobs, and those of the newest release of each target."""
        return self.state.jobs

    @property
    def groups(self) -> Mapping[str, Group]:
        """Groups that have not ended."""
        return self.state.groups

    def budgets(self) -> Iterator[BudgetUse]:
        return budget_uses.of_all(self.state)

    def explain(self, target: str, now: Instant) -> explain.Explanation:
        return explain.of_target(self.state, target, now)

    def is_at_rest(self) -> bool:
        """Nothing happens any more but by somebody from outside."""
        state = self.state
        has_live_job = any(state.targets[name].record.job is not None for name in state.unfinished)
        return not (has_live_job or state.measuring or state.waiting.dirty or self.next_wake() is not None)

    def live_jobs(self) -> Counter[str]:
        """How many there are, by status."""
        jobs = (
            self.state.jobs.get(self.state.targets[name].record.job or "") for name in self.state.unfinished
        )
        return Counter(job.status for job in jobs if job is not None)

    def waiting_counts(self) -> Mapping[Reason, int]:
        """How many units wait for each reason; a reason that has gone is counted as none."""
        return self.state.waiting.counts

    def is_converged(self, now: Instant) -> bool:
        return convergence.is_converged(self.state, now)

    def unconverged(self, now: Instant, names: Iterable[str] | None = None) -> list[tuple[str, str]]:
        """Targets that have not converged, each with what it waits for ('' would be a broken promise)."""
        return list(convergence.unconverged(self.state, now, names))

    def dump(self) -> bytes:
        return snapshot.dump(self.state)

    @staticmethod
    def load(document: bytes, ids: IdSource) -> Engine:
        engine = Engine(ids)
        engine.state = snapshot.load(document, ids)
        return engine

    @staticmethod
    def restored(document: snapshot.Snapshot, ids: IdSource) -> Engine:
        """The one that has these objects and records."""
        engine = Engine(ids, document.workspace)
        engine.state = snapshot.restore(document, ids)
        return engine
