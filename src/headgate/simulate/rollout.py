"""The fleet in virtual time: the production engine, and agents that run its jobs and take its measurements."""

import heapq
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import msgspec

from headgate.fleet.engine import explain_tree
from headgate.fleet.engine.change_tracker import Row
from headgate.fleet.engine.engine import Decisions, Engine
from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model
from headgate.fleet.state.state import Notice, Unobserved
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Rejected
from headgate.promises import waking
from headgate.promises.base import Unconverged
from headgate.promises.driving import WakeDriver
from headgate.simulate.agents import JobEnding, SimulatedAnswer
from headgate.simulate.model.result import Explained, RefusedStep, WaitingAtEnd, Warned
from headgate.simulate.recording import Recording

MOST_EXPLAINED_AT_THE_END = 300
FRESH_LOOKS_AT_FIRST = 8
MOST_TARGETS_COPIED = 200
"""A larger fleet is looked at afresh at the end of its run only."""


class Workers(Protocol):
    """Who runs the jobs: how each ends and after how long, and what is measured on it."""

    def ending(self, job: records.Job) -> JobEnding: ...

    def measure(self, job: records.Job, rule: str, metric: Any) -> SimulatedAnswer: ...


class SimulatedFleet:
    """`repeats` endings of jobs are reported twice, to see that the second report changes nothing."""

    def __init__(self, engine: Engine, watch: Recording, workers: Workers, repeats: int = 0) -> None:
        self.engine = engine
        self.watch = watch
        self.engine.observer = watch
        self.rejected: list[RefusedStep] = []
        self.warnings: list[Warned] = []
        self.notices: list[tuple[Instant, Notice]] = []
        self.seen: list[tuple[Instant, Row]] = []
        """What anybody could see change, where a tracker is attached to the engine."""
        self._workers = workers
        self._repeats_left = repeats
        self._survivor: Engine | None = None
        self._due: list[tuple[Instant, int, changes.JobReported | changes.Measured]] = []
        self._sequence = 0
        self._decisions = 0
        self._wake_driver = WakeDriver()

    def next_due(self) -> Instant | None:
        """A job that was cancelled, or whose end was reported otherwise, has no end to wait for."""
        while self._due:
            change = self._due[0][2]
            job = self.watch.jobs.get(change.job)
            if isinstance(change, changes.Measured) or job is None or job.status in model.JOB_LIVE:
                return self._due[0][0]
            heapq.heappop(self._due)
        return None

    def deliver(self, now: Instant) -> None:
        while self._due and self._due[0][0] <= now:
            change = heapq.heappop(self._due)[2]
            job = self.watch.jobs.get(change.job)
            if isinstance(change, changes.JobReported) and job is not None:
                if job.status not in model.JOB_LIVE:
                    continue
                self.apply(change, now)
                self._repeat(change, job, now)
            else:
                self.attempt("agents", partial(self.apply, change, now), now)

    def _repeat(self, change: changes.JobReported, job: records.Job, now: Instant) -> None:
        if self._repeats_left == 0:
            return
        self._repeats_left -= 1
        before = self.watch.job_changes_count
        self.apply(change, now)
        self.watch.repeated(self.watch.jobs[job.id], self.watch.job_changes_count != before)

    def attempt(self, place: str, act: Callable[[], None], now: Instant) -> None:
        """What is refused is part of the result; the run goes on."""
        try:
            act()
        except Rejected as rejected:
            self.rejected.append(RefusedStep(now, place, rejected.problems))

    def apply(self, change: changes.Change, now: Instant) -> None:
        self.engine.apply(change, now)
        if self._survivor is not None:
            self._survivor.apply(change, now)
        self.watch.accepted(change)

    def decide(self, now: Instant) -> None:
        decisions = self.engine.decide(now)
        self.watch.decided()
        if self.engine.tracker is not None:
            self.seen += ((now, row) for row in self.engine.tracker.changes(self.engine, now))
        self._look_afresh(now)
        if self._survivor is not None:
            survivor, self._survivor = self._survivor, None
            self.watch.compared(_bytes(survivor.decide(now)), _bytes(decisions))
            self.watch.compared(survivor.dump(), self.engine.dump())
        for job in decisions.created:
            self.start(job, now, now)
        for warning in decisions.warnings:
            self.warn(warning.at, warning.target, warning.version, warning.message)
        self.notices.extend((now, notice) for notice in decisions.notices)
        for due in decisions.measurements:
            answer = self._workers.measure(due.job, due.rule, due.metric)
            if not answer.is_known:
                note = f"no ordinary measurement of {due.metric.name} meets its conditions: give it under measurements"
                self.warn(now, due.job.target, due.job.tag, note)
            self._schedule(
                now, changes.Measured(due.job.id, due.rule, due.metric.name, answer.result, answer.error)
            )

    def _look_afresh(self, now: Instant) -> None:
        """At the first decisions, and ever more rarely after them: a copy is loaded for each look."""
        self._decisions += 1
        number = self._decisions
        is_sampled = number <= FRESH_LOOKS_AT_FIRST or number & (number - 1) == 0
        if is_sampled and self.watch.is_checking and len(self.engine.state.targets) <= MOST_TARGETS_COPIED:
            self.try_a_copy(now)

    def try_a_copy(self, now: Instant) -> None:
        """A copy looks at everything, and then everything that its units wait for happens to them."""
        copy = waking.copy_of(self.engine)
        self.watch.reconciled_afresh(waking.found_afresh(copy, now))
        if len(self.engine.state.targets) <= MOST_TARGETS_COPIED:
            self.watch.wakes_driven(self._wake_driver.unanswered(copy, now))

    def start(self, job: records.Job, since: Instant, now: Instant) -> None:
        """The job's time counts from `since`; what should have ended before now ends now. An agent comes when it comes, and
        its work begins with that, also if somebody else has spoken of the job before."""
        ending = self._workers.ending(job)
        begins_at = job.created_at + ending.begins_after
        if job.started_at is None or begins_at > now:
            since = begins_at
            begun = changes.JobReported(job.id, "inProgress")
            if since > now:
                self._schedule(since, begun)
            else:
                self.apply(begun, now)
        since = max(since, begins_at)
        if ending.status is not None:
            at = max(now, since + ending.after)
            self._schedule(at, changes.JobReported(job.id, ending.status, ending.message))

    def _schedule(self, at: Instant, change: changes.JobReported | changes.Measured) -> None:
        self._sequence += 1
        heapq.heappush(self._due, (at, self._sequence, change))

    def warn(self, at: Instant, target: str, version: str, message: str) -> None:
        warning = Warned(at, target, version, message)
        if warning not in self.warnings[-20:]:
            self.warnings.append(warning)

    def crash(self) -> None:
        """The engine is thrown away; a survivor goes on beside it for one decision, to compare."""
        survivor = self.engine
        written = survivor.dump()
        self.engine = type(survivor).load(written, survivor.state.ids)
        self.watch.reloaded(written, self.engine.dump())
        survivor.observer = Unobserved()
        if self._survivor is None:
            self._survivor = survivor
        self.engine.observer = self.watch
        self.refresh_records()

    def refresh_records(self) -> None:
        """Records are changed in place by the engine that holds them; after a load it holds other ones."""
        for job in self.engine.jobs.values():
            self.watch.jobs[job.id] = job
        for group in self.engine.groups.values():
            self.watch.groups[group.id] = group

    def explain(self, target: str, now: Instant) -> Explained:
        explanation = self.engine.explain(target, now)
        return Explained(
            now,
            target,
            explanation.state,
            explanation.rules,
            explanation.message,
            explanation.changes,
            explanation.blocked,
            tuple(action.command for action in explanation.actions),
            explain_tree.of_target(explanation),
        )

    def unconverged(self, now: Instant) -> tuple[list[Unconverged], list[WaitingAtEnd]]:
        """For the promises what wakes each of them, for people the sentence that explain has for it."""
        unconverged_targets: list[Unconverged] = []
        waiting: list[WaitingAtEnd] = []
        waker = waking.Waker(self.engine)
        for target, wakes in self.engine.unconverged(now):
            if len(unconverged_targets) == MOST_EXPLAINED_AT_THE_END:
                waiting.append(WaitingAtEnd("more targets", "waiting", "explain tells about each of them"))
                break
            explained = self.explain(target, now)
            verdicts = tuple((line.verdict, line.message) for line in explained.rules)
            unconverged_targets.append(
                Unconverged(target, explained.state, explained.message, wakes, verdicts, waker.wakes(target))
            )
            if explained.state != "upToDate":
                waiting.append(WaitingAtEnd(target, explained.state, explained.message or wakes))
        return unconverged_targets, waiting


def _bytes(decisions: Decisions) -> bytes:
    """Without what was already handed in before the crash: that is in the state, which is compared too."""
    return msgspec.json.encode((decisions.created, decisions.measurements), enc_hook=repr)
