"""PlanEqualsApply, checked on a scenario: before each moment of its timeline that moment is planned, and what the run
then does until the next one is compared with the plan."""

from collections.abc import Iterator

import msgspec

from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.promises.books.mirror import Mirror
from headgate.promises.watch import Violation
from headgate.simulate import planning, run
from headgate.simulate.agents import Agents
from headgate.simulate.model.result import Result
from headgate.simulate.recording import Recording
from headgate.simulate.rollout import SimulatedFleet
from headgate.simulate.scenario import LONGEST_RUN, Scenario

NAME = "PlanEqualsApply"
SENTENCE = "what a preview showed is what happens if nothing else changed"


class Moment(msgspec.Struct):
    """A moment of the timeline: the fleet before it, and the changes that were then made."""

    at: Instant
    engine_document: bytes
    mirror: Mirror
    agents: Agents
    over: frozenset[str]
    """Jobs and groups that had ended."""
    made: list[changes.Change] = []


class RememberingRollout(SimulatedFleet):
    """Keeps what a plan of each moment needs to know, and no more than was known then."""

    def __init__(self, engine: Engine, watch: Recording, agents: Agents, repeats: int) -> None:
        super().__init__(engine, watch, agents, repeats)
        self.moments: list[Moment] = []
        self._agents = agents
        self._is_open = False

    def apply(self, change: changes.Change, now: Instant) -> None:
        """Agents report before the timeline is played and after it was decided upon, never in between."""
        if not self._is_open and not isinstance(change, changes.JobReported | changes.Measured):
            self.moments.append(self._moment(now))
            self._is_open = True
        super().apply(change, now)
        if self._is_open:
            self.moments[-1].made.append(change)

    def decide(self, now: Instant) -> None:
        self._is_open = False
        super().decide(now)

    def _moment(self, now: Instant) -> Moment:
        mirror = Mirror()
        over = {job.id for job in self.watch.jobs.values() if job.status not in model.JOB_LIVE}
        over |= {group.id for group in self.watch.groups.values() if group.status in records.GROUP_ENDED}
        return Moment(now, self.engine.dump(), mirror, self._agents.going_on(mirror), frozenset(over))


def check(scenario: Scenario) -> tuple[Result, list[Violation]]:
    """Plays the scenario, and plans every moment of its timeline."""
    conducted: list[RememberingRollout] = []

    def conduct(engine: Engine, watch: Recording, agents: Agents, repeats: int) -> SimulatedFleet:
        conducted.append(RememberingRollout(engine, watch, agents, repeats))
        return conducted[-1]

    result = run.simulate(scenario, conduct=conduct)
    moments = conducted[-1].moments
    return result, list(_compared(scenario, result, moments))


def _compared(scenario: Scenario, result: Result, moments: list[Moment]) -> Iterator[Violation]:
    steps = sorted({step.at.resolve(scenario.start) for step in scenario.timeline})
    ids = run.id_source(scenario.seed)
    for moment in moments:
        later = next((at - 1 for at in steps if at > moment.at), result.end)
        until = min(later, result.end, moment.at + LONGEST_RUN)
        plan = planning.foresee(
            moment.engine_document, ids, moment.at, moment.made, moment.agents, until, mirror=moment.mirror
        )
        planned, happened = (_decisions(one, moment, until) for one in (plan.result, result))
        difference = _first_difference(planned, happened)
        if difference is not None:
            yield Violation(NAME, moment.at, f"{SENTENCE}: {difference}")


def _decisions(result: Result, moment: Moment, until: Instant) -> list[str]:
    """Starts in the order in which they were decided, then what follows from them."""
    start = moment.at
    jobs = [job for job in result.jobs if job.id not in moment.over and job.created_at <= until]
    groups = [group for group in result.groups if group.id not in moment.over]
    lines = [f"{instants.show(job.created_at)} {_job(job)} starts" for job in jobs if job.created_at >= start]
    lines += sorted(
        f"{instants.show(job.completed_at)} {_job(job)} ends {job.status}"
        for job in jobs
        if job.completed_at is not None and start <= job.completed_at <= until
    )
    lines += sorted(
        f"{instants.show(step.at)} {_group(group)} is {step.status}"
        for group in groups
        for step in group.history
        if start <= step.at <= until
    )
    return lines


def _job(job: records.Job) -> str:
    return f"{job.kind} {job.tag} on {job.target}, attempt {job.attempt}, {job.id}"


def _group(group: records.Group) -> str:
    return f"group {group.id} of {group.policy} on {group.environment}/{group.resource}"


def _first_difference(foreseen: list[str], happened: list[str]) -> str | None:
    if foreseen == happened:
        return None
    place = next((n for n, (one, other) in enumerate(zip(foreseen, happened)) if one != other), None)
    place = min(len(foreseen), len(happened)) if place is None else place
    planned = foreseen[place] if place < len(foreseen) else "nothing more"
    done = happened[place] if place < len(happened) else "nothing more"
    return f"planned was {planned!r}, done was {done!r}"
