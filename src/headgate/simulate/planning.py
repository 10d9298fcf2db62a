"""What would happen: the future of a real workspace in virtual time, with changes that nobody has made yet.

Nothing is stored: a copy of the engine takes the changes, decides, and goes on with agents that are assumed to succeed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from headgate.fleet.engine.change_tracker import ChangeTracker, Row
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Change, Object
from headgate.fleet.state.state import State
from headgate.kernel import instants
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.rendering import Document
from headgate.promises.books.mirror import Mirror
from headgate.simulate import agents, assuming
from headgate.simulate.loop import Ended, Nobody, RunLoop
from headgate.simulate.model import group_steps
from headgate.simulate.model.result import Result
from headgate.simulate.recording import Recording
from headgate.simulate.rollout import SimulatedFleet, Workers
from headgate.simulate.scenario import DEFAULT_SEED, LONGEST_RUN

NAME = "plan"
MOST_JOBS = 200_000
UNKNOWN_DURATION = instants.minutes(1)


class PlannedRollout(msgspec.Struct, frozen=True):
    """A simulated future. Where a change was refused there is none: all of them would be, as an apply is."""

    result: Result
    assumed: tuple[str, ...] = ()
    seen: tuple[tuple[Instant, Row], ...] = ()
    """What anybody will see change, if it was asked for."""

    def document(self) -> Document:
        """The output document of a scenario, and under `finish` how it ends."""
        return {**self.result.document(), "finish": self._finish(), "assumed": list(self.assumed)}

    def _finish(self) -> Document:
        at = self.finished_at()
        return {
            "at": instants.show(at) if at is not None else None,
            "converged": self.result.converged,
            "wasCut": self.result.was_cut,
            "waiting": [msgspec.to_builtins(waiting) for waiting in self.result.waiting],
        }

    def finished_at(self) -> Instant | None:
        """When the last thing happens; None if nothing does. A verification goes on after the last job."""
        result = self.result
        if result.converged:
            return result.end if result.jobs or result.end > result.start else None
        ended = [job.completed_at for job in result.jobs] + [group.completed_at for group in result.groups]
        return max((at for at in ended if at is not None and at >= result.start), default=None)


class TypicalAgents:
    """Every job succeeds, after the time that jobs of its deployment usually take, in whole seconds."""

    def __init__(self, durations: Mapping[str, int]) -> None:
        self._durations = {name: _whole_seconds(span) for name, span in durations.items()}

    def ending(self, job: records.Job) -> agents.JobEnding:
        return agents.JobEnding("successful", self._durations.get(job.deployment, UNKNOWN_DURATION))

    def measure(self, job: records.Job, rule: str, metric: Any) -> agents.SimulatedAnswer:
        return agents.plausible(metric)


def _whole_seconds(span: int) -> int:
    """Rounded up: what takes time is not over at once."""
    return -(-max(span, 0) // instants.MICROSECONDS_PER_SECOND) * instants.MICROSECONDS_PER_SECOND


def plan(
    engine_document: bytes,
    ids: IdSource,
    now: Instant,
    changes: Sequence[Change],
    durations: Mapping[str, int],
    until: Instant | None = None,
    *,
    assume: Sequence[str] = (),
    is_enough: Callable[[], bool] = lambda: False,
    is_watched: bool = False,
) -> PlannedRollout:
    """`engine_document` is the engine's dump; `durations` are microseconds by the name of the deployment.

    The changes are all made at `now`, with what is to be assumed, then decisions go on by themselves until nothing more can happen, or until
    `is_enough` says that somebody has waited for long enough.
    """
    workers = TypicalAgents(durations)
    return foresee(
        engine_document,
        ids,
        now,
        changes,
        workers,
        until,
        assume=assume,
        is_enough=is_enough,
        is_watched=is_watched,
    )


def foresee(
    engine_document: bytes,
    ids: IdSource,
    now: Instant,
    changes: Sequence[Change],
    workers: Workers,
    until: Instant | None = None,
    *,
    mirror: Mirror | None = None,
    most_jobs: int = MOST_JOBS,
    assume: Sequence[str] = (),
    is_enough: Callable[[], bool] = lambda: False,
    is_watched: bool = False,
) -> PlannedRollout:
    """A plan with other agents than the usual ones. The `mirror` shows the fleet to them, as it is at each moment."""
    engine = Engine.load(engine_document, ids)
    watch = Recording(mirror if mirror is not None else Mirror(), now, checked=())
    rollout = SimulatedFleet(engine, watch, workers)
    if is_watched:
        engine.tracker = ChangeTracker()
        engine.tracker.changes(engine, now)
    past = {job.id for job in engine.jobs.values() if job.status not in model.JOB_LIVE}
    _take_over(rollout, now)
    rollout.deliver(now)
    for number, change in enumerate(changes):
        rollout.attempt(f"changes[{number}]", partial(rollout.apply, change, now), now)
    if rollout.rejected:
        return PlannedRollout(_refused(rollout, now), tuple(assume))
    for vote in assuming.approvals(engine.state) if "approvals" in assume else ():
        rollout.apply(vote, now)
    limit = now + LONGEST_RUN if until is None else min(until, now + LONGEST_RUN)
    ended = RunLoop(rollout, Nobody(), limit, most_jobs=most_jobs, is_enough=is_enough).run(now)
    return PlannedRollout(_result(rollout, now, ended, past), tuple(assume), tuple(rollout.seen))


def _take_over(rollout: SimulatedFleet, now: Instant) -> None:
    """What the outside would know by now if it had watched from the beginning."""
    engine, watch = rollout.engine, rollout.watch
    for item in _objects(engine.state):
        watch.accepted(changes.Put(item))
    for table in engine.state.slot_tables():
        watch.ledger.held(table.rule.id, table.holders, now)
    watch.groups.update(engine.groups)
    watch.group_steps.extend(group_steps.looking_back(engine.groups.values()))
    live = [job for job in engine.jobs.values() if job.status in model.JOB_LIVE]
    for job in live:
        watch.jobs[job.id] = job
    for job in live:
        rollout.start(job, job.started_at if job.started_at is not None else job.created_at, now)


def _objects(state: State) -> Iterator[Object]:
    for nodes in (state.resources, state.environments, state.deployments, state.versions, state.policies):
        for node in nodes.values():
            yield node.object
    yield from state.job_agents.values()
    for pairs in (state.variable_sets, state.freezes):
        for item, _ in pairs.values():
            yield item
    yield from state.signals.values()


def _result(rollout: SimulatedFleet, now: Instant, ended: Ended, past: set[str]) -> Result:
    watch = rollout.watch
    converged = rollout.engine.is_converged(ended.at)
    _, waiting = ((), []) if converged else rollout.unconverged(ended.at)
    return Result(
        scenario=NAME,
        seed=DEFAULT_SEED,
        start=now,
        end=ended.at,
        converged=converged,
        was_cut=ended.was_cut,
        jobs=[job for job in watch.jobs.values() if job.id not in past],
        groups=list(watch.groups.values()),
        group_steps=watch.group_steps,
        usage=watch.ledger.all(),
        tags=watch.tags,
        rejected=rollout.rejected,
        warnings=rollout.warnings,
        waiting=waiting,
    )


def _refused(rollout: SimulatedFleet, now: Instant) -> Result:
    return Result(
        scenario=NAME,
        seed=DEFAULT_SEED,
        start=now,
        end=now,
        converged=False,
        was_cut=True,
        jobs=[],
        groups=[],
        usage=[],
        tags={},
        rejected=rollout.rejected,
    )
