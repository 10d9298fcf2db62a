"""One transaction of a workspace: what others wrote is taken in, commands are applied, decisions are made and written.

Everything in it becomes visible at once. The engine in memory runs ahead of the store until the commit; if that fails,
the replica is thrown away and loaded anew.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable

import msgspec

from headgate.fleet.engine.engine import Decisions, Engine
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Change, JobReported, Put
from headgate.fleet.model.records import Job
from headgate.kernel import instants
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime import clocks, dispatching, recording, rows
from headgate.runtime.commands import ENGINE, Caller, KeyReusedError, Reply
from headgate.runtime.items import WorkItem
from headgate.runtime.recording import Recorder
from headgate.runtime.replica import ClockSet, DivergedError, Mark, Replica, digest_of, encoded, signed
from headgate.store.dispatches import Dispatch
from headgate.store.log import AuditEntry, EntryKind, Event, LogEntry
from headgate.store.port import Remembered, Transaction

_MOST_ROUNDS = 50
"""A job that cannot be delivered may be tried again at once; what is left after so many goes into the next batch."""


_STOPPED_FROM_HERE = frozenset({"cancelled", "timedOut"})
"""Ends that the agent has not said itself: it may be at work still, and has to stop."""


class RandomIds:
    """For objects that people create. Ids of decisions follow from the log instead."""

    def new(self, kind: str, name: str) -> str:
        return str(uuid.uuid4())


class PoisonedError(Exception):
    """A command failed after some of its changes were applied: none of the batch may be written."""

    def __init__(self, item: WorkItem, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.item = item
        self.cause = cause


class Batch:
    """`refusal` says, of the clock and the workspace's newest moment, why nothing may be written but what takes its
    time back."""

    def __init__(
        self,
        transaction: Transaction,
        replica: Replica,
        recorder: Recorder,
        clock_now: Instant,
        refusal: Callable[[Instant, Instant], str | None],
    ) -> None:
        self._transaction = transaction
        self._replica = replica
        self._recorder = recorder
        self._entries: list[LogEntry] = []
        self._audit: list[AuditEntry] = []
        self._has_news = False
        self._is_half_done = False
        self.decisions = Decisions()
        self.undeliverable: list[JobReported] = []
        self.dispatches: list[Dispatch] = []
        self.events: list[Event] = []
        self.newest_event = 0
        self.ended: list[Job] = []
        self.traces: dict[str, str] = {}
        self.kinds: dict[str, int] = {}
        if transaction.head != replica.position:
            self._catch_up()
        self._clock_now = clock_now
        self.now = max(clock_now, replica.last_at)
        recorder.now = self.now
        self.refusal = refusal(clock_now, replica.last_at)

    def _catch_up(self) -> None:
        head = self._transaction.head
        if head < self._replica.position:
            raise DivergedError(f"the log ends at {head}, before position {self._replica.position}")
        self._recorder.is_muted = True
        try:
            for entry in self._transaction.log_after(self._replica.position):
                self._replica.take(entry)
        finally:
            self._recorder.is_muted = False
        self._has_news = True

    def run(self, item: WorkItem) -> None:
        assert item.command is not None
        if item.idempotency is not None and self._is_repeated(item):
            return
        before = len(self._entries)
        try:
            item.result = item.command(_Context(self._replica.engine, item.caller, self))
        except DivergedError:
            raise
        except Exception as error:
            if len(self._entries) > before or self._is_half_done:
                raise PoisonedError(item, error) from error
            item.error = error
            return
        if item.idempotency is not None and isinstance(item.result, Reply):
            reply = item.result
            self._transaction.remember(
                Remembered(
                    item.idempotency.key,
                    item.idempotency.fingerprint,
                    reply.status,
                    msgspec.json.encode((reply.body.decode(), reply.etag)),
                    self.now,
                )
            )

    def _is_repeated(self, item: WorkItem) -> bool:
        assert item.idempotency is not None
        known = self._transaction.recall(item.idempotency.key)
        if known is None:
            return False
        if known.fingerprint != item.idempotency.fingerprint:
            item.error = KeyReusedError(item.idempotency.key)
        else:
            body, etag = msgspec.json.decode(known.body)
            item.result = Reply(known.status, body.encode(), etag)
        return True

    def apply(self, change: Change, caller: Caller) -> None:
        engine = self._replica.engine
        change = signed(change, caller.user, self.now)
        if isinstance(change, JobReported) and not self._is_news(change):
            return
        if self.refusal is not None:
            raise clocks.ClockError(self.refusal)
        is_audited = not isinstance(change, recording.UNAUDITED)
        before = recording.audited_document(engine.state, change) if is_audited else None
        # What is refused leaves nothing behind; what broke may have done a part.
        self._is_half_done = True
        try:
            engine.apply(change, self.now)
        except Rejected:
            self._is_half_done = False
            raise
        self._is_half_done = False
        self._append("change", encoded(change), caller)
        kind = type(change).__name__
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        self._recorder.accepted(change, caller.user)
        if is_audited:
            after = recording.audited_document(engine.state, change)
            self._audit.append(recording.audit_entry(change, caller, self.now, before, after))
        if (
            caller.trace_parent is not None
            and isinstance(change, Put)
            and isinstance(change.object, model.Version)
        ):
            self.traces[change.object.id] = caller.trace_parent

    def take_time_back(self, caller: Caller) -> tuple[Instant, Instant]:
        """From when to when. What was to be decided is decided at the new time."""
        to = ClockSet(self._replica.last_at, self._clock_now)
        if self._entries or to.was <= to.now:
            raise Rejected(
                [Problem("workspace", "its time is not ahead of the clock; there is nothing to repair")]
            )
        self._is_half_done = True
        self.now = self._recorder.now = self._replica.rewind(to)
        self._is_half_done = False
        self.refusal = None
        self._append("clock", msgspec.json.encode(to), caller)
        self._recorder.rewound(caller.user, to.was)
        text = (
            msgspec.json.encode({"was": instants.show(to.was)}),
            msgspec.json.encode({"now": instants.show(self.now)}),
        )
        self._audit.append(
            AuditEntry(
                self.now,
                caller.user,
                "repairClock",
                "Workspace",
                self._transaction.workspace,
                *text,
                caller.request_id,
            )
        )
        return to.was, self.now

    def job(self, job_id: str) -> Job | None:
        """None for one that has been put away, or never was. A replica that misses a job that the store has is wrong,
        unless it has put it away since the last decision, which is what the rows stand for."""
        state = self._replica.engine.state
        job = state.jobs.get(job_id)
        if (
            job is None
            and job_id not in state.journal.forgotten
            and self._transaction.has_current_job(job_id)
        ):
            raise DivergedError(
                f"{self._transaction.workspace}: the store has a job {job_id}, this process not"
            )
        return job

    def _is_news(self, change: JobReported) -> bool:
        """What arrives late, or says what is known, changes nothing and leaves nothing in the log."""
        if change.status not in model.JOB_LIVE | model.JOB_TERMINAL:
            return True
        job = self.job(change.job)
        if job is None or job.status in model.JOB_TERMINAL:
            return False
        return (
            change.status != job.status
            or change.message not in (None, job.message)
            or (change.external_id or job.external_id) != job.external_id
            or not change.links.items() <= job.links.items()
        )

    def _append(self, kind: EntryKind, payload: bytes, caller: Caller | None = None) -> None:
        seq = self._replica.position + len(self._entries) + 1
        user, trace = (caller.user, caller.trace_parent) if caller is not None else ("", None)
        self._entries.append(LogEntry(seq, self.now, kind, payload, user, trace))

    def decide(self, known_traces: dict[str, str], *, must: bool, is_recheck: bool) -> None:
        """Only the holder of the lease does."""
        if self.refusal is not None:
            return
        wake = self._replica.engine.next_wake()
        is_due = wake is not None and wake <= self.now
        if not (self._entries or self._has_news or is_due or must or is_recheck):
            return
        is_recheck = is_recheck or self._replica.is_fresh
        made = self.decisions = self._replica.decide(self.now, is_recheck=is_recheck)
        if not (self._entries or self._has_news or made.rows):
            return
        changes = self._mark(made, is_recheck)
        rounds = [made]
        traces = known_traces | self.traces
        problems = self._dispatch(made, traces)
        while problems and len(rounds) < _MOST_ROUNDS:
            for problem in problems:
                self.apply(problem, ENGINE)
            rounds.append(self._replica.decide(self.now))
            self._mark(rounds[-1])
            problems = self._dispatch(rounds[-1], traces)
        self.undeliverable = problems
        if len(rounds) > 1:
            changes = rows.of_decisions(self._replica.engine, rounds)
            self.decisions = _joined(rounds)
        self._write_decisions(changes)

    def _mark(self, made: Decisions, is_recheck: bool = False) -> rows.Changes:
        """The rows that follow from this decision alone."""
        engine = self._replica.engine
        changes = rows.of_decisions(engine, [made])
        mark = Mark(engine.state.sequence, is_recheck, digest_of(made, changes))
        self._append("decided", msgspec.json.encode(mark))
        return changes

    def _dispatch(self, made: Decisions, traces: dict[str, str]) -> list[JobReported]:
        """What no agent can be given is reported, in the same commit."""
        problems = []
        for job in made.created:
            if job.status in model.JOB_TERMINAL:
                continue
            try:
                trace = traces.get(job.version)
                self.dispatches.append(dispatching.dispatch_for(self._replica.engine.state, job, trace))
            except dispatching.Undeliverable as problem:
                problems.append(JobReported(job.id, problem.status, str(problem)))
        return problems

    def _write_decisions(self, changes: rows.Changes) -> None:
        made, transaction = self.decisions, self._transaction
        for warning in made.warnings:
            self._recorder.warned(warning)
        for notice in made.notices:
            self._recorder.noticed(notice)
            entry = recording.audit_of_notice(notice, ENGINE, self.now)
            if entry is not None:
                self._audit.append(entry)
        changes.write(transaction)
        transaction.put("job_dispatch", [msgspec.structs.astuple(one) for one in self.dispatches])
        if made.cancelled:
            transaction.cancel_dispatches([job.id for job in made.cancelled])
        transaction.advance(self._entries[-1].seq, self._replica.engine.state.sequence)

    def write(self) -> None:
        """The last thing before the commit."""
        transaction = self._transaction
        transaction.append(self._entries)
        self.events, ended = self._recorder.take()
        self.ended = ended
        workspace = transaction.workspace
        if ended:
            to_stop = [job.id for job in ended if job.status in _STOPPED_FROM_HERE]
            done = [(workspace, job.id) for job in ended if job.status not in _STOPPED_FROM_HERE]
            transaction.delete("job_dispatch", done)
            transaction.cancel_dispatches(to_stop)
        transaction.add_events(self.events)
        self.newest_event = transaction.newest_event
        transaction.add_audit(self._audit)
        transaction.put(
            "service_document",
            [
                (workspace, "trace", version, msgspec.json.encode(trace))
                for version, trace in self.traces.items()
            ],
        )

    def committed(self) -> bool:
        """Whether there was anything to write: the replica stands behind it now."""
        if self._entries:
            self._replica.position = self._entries[-1].seq
            self._replica.last_at = self.now
        return bool(self._entries)


def _joined(rounds: list[Decisions]) -> Decisions:
    return Decisions(
        *(
            tuple(one for made in rounds for one in getattr(made, field))
            for field in Decisions.__struct_fields__
        )
    )


class _Context(msgspec.Struct):
    engine: Engine
    caller: Caller
    batch: Batch

    @property
    def now(self) -> Instant:
        return self.batch.now

    @property
    def ids(self) -> IdSource:
        return RandomIds()

    @property
    def warning(self) -> str | None:
        return self.batch.refusal

    def job(self, job_id: str) -> Job | None:
        return self.batch.job(job_id)

    def apply(self, change: Change) -> None:
        self.batch.apply(change, self.caller)

    def take_time_back(self) -> tuple[Instant, Instant]:
        return self.batch.take_time_back(self.caller)
