"""Plays random scenarios on workspace_engines over a store: one decides, others follow and take changes too."""

from __future__ import annotations

import heapq
import random
from typing import Any

from headgate.fleet.model.changes import Change, JobReported, Measured, Put
from headgate.fleet.model.objects import JOB_TERMINAL
from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.problems import Rejected
from headgate.runtime.workspace_engine import AfterCommit, WorkspaceEngine
from headgate.simulate import playing, scenario
from headgate.store import Store

from .stage import Clock
from .workspace_engines import apply, engine_of, follower, leader

MOST_TURNS = 3_000
STATUSES = ("successful", "successful", "successful", "failure", "timedOut")


class History:
    """`chance` decides who takes a change, how long jobs run and how they end.

    `reloads` is the share of decisions after which a follower is loaded anew.
    """

    def __init__(
        self, store: Store, document: dict[str, Any], chance: random.Random, *, reloads: float = 0.0
    ) -> None:
        self.store = store
        self._reloads = reloads
        self.clock = Clock()
        self.clock.now = instants.parse(document["spec"]["start"])
        self.chance = chance
        self._scenario = scenario.read(with_agents(document))
        self.workspace_engines = [leader(store, self.clock), follower(store, self.clock)]
        self._ends: list[tuple[int, str, str]] = []
        self._turns = 0
        jobs = dict(engine_of(self.leader).jobs)
        self._translator = playing.StepTranslator(NamedIds("history"), self.clock.now, jobs)

    @property
    def leader(self) -> WorkspaceEngine:
        return next(
            workspace_engine for workspace_engine in self.workspace_engines if workspace_engine.is_leader
        )

    def play(self) -> None:
        start = self.clock.now
        for source in self._scenario.objects:
            self._put(source.document)
        for step in self._scenario.timeline:
            self.go_on_until(step.at.resolve(start))
            self._play(step)
        self.go_on_until(self.clock.now + instants.hours(2))

    def _play(self, step: Any) -> None:
        if step.kind == "crash":
            self.change_leader()
            return
        if step.kind == "apply":
            self._put(step.payload)
            return
        try:
            change = self._translator.change_for(step, self.clock.now)
        except Rejected:
            return
        if change is not None:
            self._take(change)

    def _put(self, document: Any) -> None:
        """What nobody could apply, as a policy that waits for itself, is not there: the history goes on without it."""
        try:
            change = Put(self._translator.object_from(document, self.clock.now))
        except Rejected:
            return
        self._take(change)

    def change_leader(self) -> None:
        old = self.leader
        old.release_lease()
        new = self.chance.choice(self.workspace_engines)
        new.hold_lease(3_600)
        assert new.is_leader
        self._decide()

    def _take(self, change: Change) -> None:
        try:
            self._after(apply(self.chance.choice(self.workspace_engines), change))
        except Rejected:
            return
        self._decide()

    def _decide(self) -> None:
        """As a worker does when it looks: if others wrote, or something is due."""
        workspace_engine = self.leader
        wake = workspace_engine.next_wake()
        if workspace_engine.is_behind() or (wake is not None and wake <= self.clock.now):
            outcome = workspace_engine.serve([])
            assert outcome is not None
            self._after(outcome)
        for one in self.workspace_engines:
            if not one.is_leader and self.chance.random() < self._reloads:
                one.drop_replica()
                engine_of(one)

    def _after(self, outcome: AfterCommit) -> None:
        now = self.clock.now
        for due, _ in outcome.measurements:
            self._take(Measured(due.job.id, due.rule, due.metric.name, {"ok": self.chance.random() < 0.7}))
        for order in self.store.claim_dispatches(holder="agent", now=now, seconds=86_400, limit=1_000):
            end = now + instants.seconds(self.chance.choice((0, 30, 60, 120, 600)))
            heapq.heappush(self._ends, (end, order.job, self.chance.choice(STATUSES)))

    def go_on_until(self, moment: int) -> None:
        while True:
            self._turns += 1
            assert self._turns < MOST_TURNS, "no end to what is due"
            due = self._next()
            if due is None or due > moment:
                break
            self.clock.now = max(self.clock.now, due)
            while self._ends and self._ends[0][0] <= self.clock.now:
                _, job, status = heapq.heappop(self._ends)
                self._report(job, status)
            self._decide()
        self.clock.now = max(self.clock.now, moment)

    def _report(self, job: str, status: str) -> None:
        """Whoever takes it, it is not lost: an acknowledged end is an end in the store."""
        self._take(JobReported(job, status))
        row = self.store.job(self.leader.workspace.name, job)
        assert row is not None
        assert row["status"] in JOB_TERMINAL, f"{status} was acknowledged for a job which is {row['status']}"

    def _next(self) -> int | None:
        times = [time for time in (self.leader.next_wake(),) if time is not None]
        times += [end for end, _, _ in self._ends[:1]]
        return min(times, default=None)


def with_agents(document: dict[str, Any]) -> dict[str, Any]:
    """In a service a job needs an agent; scenarios mostly leave them out."""
    spec = document["spec"]
    runner = {
        "apiVersion": "headgate.dev/v1",
        "kind": "JobAgent",
        "metadata": {"name": "runner"},
        "spec": {"type": "pull"},
    }
    return {
        **document,
        "spec": {
            **spec,
            "objects": [runner, *(_with_agent(thing) for thing in spec["objects"])],
            "timeline": [
                {**step, "apply": _with_agent(step["apply"])} if "apply" in step else step
                for step in spec["timeline"]
                if "explain" not in step and "snapshot" not in step
            ],
        },
    }


def _with_agent(thing: dict[str, Any]) -> dict[str, Any]:
    if thing["kind"] != "Deployment":
        return thing
    return {**thing, "spec": {"jobAgent": "runner", **thing["spec"]}}
