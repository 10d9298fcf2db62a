"""Simulated job agents: how long each job takes and how it ends, by the first entry that matches."""

import copy
from collections.abc import Sequence
from typing import Any

import msgspec

from headgate import cel
from headgate.fleet.model import expressions, records
from headgate.kernel import instants
from headgate.promises.books.mirror import Mirror
from headgate.simulate.scenario import AgentEntry

UNMATCHED = AgentEntry()
"""What a job that no entry matches gets: one minute, and success."""

_PLAUSIBLE: tuple[object, ...] = (
    {},
    *(
        {
            "ok": True,
            "success": True,
            "healthy": True,
            "ready": True,
            "status": status,
            "state": status,
            "statusCode": 200,
            "code": 200,
            "body": {"status": status, "ok": True, "value": value},
            "json": {"status": status, "ok": True, "value": value},
            "value": value,
        }
        for value in (0, 1, 100, 0.0, 1.0, True)
        for status in ("ok", 200)
    ),
    *(0, 1, 100, 0.0, 1.0, True, "ok"),
)
"""Answers tried, in order, for a metric that the scenario says nothing about."""


class JobEnding(msgspec.Struct, frozen=True):
    """How a job ends, how long after it began, and how long after its creation that is; `status` None: the agent never
    says."""

    status: str | None
    after: int
    message: str | None = None
    begins_after: int = 0


class SimulatedAnswer(msgspec.Struct, frozen=True):
    """What a verification provider says; not `is_known`: no ordinary answer meets the metric's conditions."""

    result: object = None
    error: str | None = None
    is_known: bool = True


class Agents:
    def __init__(self, entries: Sequence[AgentEntry], mirror: Mirror) -> None:
        self._mirror = mirror
        self._entries = tuple(
            (entry, expressions.SCENARIO_MATCH.selector(entry.match), entry.match.strip() == "true")
            for entry in entries
        )
        self._served: dict[str, AgentEntry] = {}
        self._measured: dict[tuple[str, str, str], int] = {}

    def going_on(self, mirror: Mirror) -> "Agents":
        """The same agents with the same work in hand, in another world."""
        others = copy.copy(self)
        others._mirror = mirror
        others._served = dict(self._served)
        others._measured = dict(self._measured)
        return others

    def entry_for(self, job: records.Job) -> AgentEntry:
        """Chosen when the job starts and kept, whatever changes while it runs."""
        served = self._served.get(job.id)
        if served is None:
            served = self._served[job.id] = self._choose(job)
        return served

    def forget(self, job: str) -> None:
        self._served.pop(job, None)

    def _choose(self, job: records.Job) -> AgentEntry:
        bindings: dict[str, object] | None = None
        for entry, selector, always in self._entries:
            if always:
                return entry
            if bindings is None:
                bindings = self._bindings(job)
            if selector.matches(bindings):
                return entry
        return UNMATCHED

    def _bindings(self, job: records.Job) -> dict[str, object]:
        bindings = self._mirror.bindings(job.deployment, job.environment, job.resource)
        version = self._mirror.view("Version", f"{job.deployment}/{job.tag}")
        if version is not None:
            bindings["version"] = version
        bindings["attempt"] = job.attempt
        return bindings

    def ending(self, job: records.Job) -> JobEnding:
        entry = self.entry_for(job)
        outcome = entry.outcomes[min(max(job.attempt, 1), len(entry.outcomes)) - 1]
        timeout = entry.timeout.microseconds if entry.timeout is not None else None
        duration, begins_after = entry.duration.microseconds, entry.claimed_after.microseconds
        if outcome != "never" and (timeout is None or duration <= timeout):
            return JobEnding(outcome, duration, entry.message, begins_after)
        if timeout is None:
            return JobEnding(None, 0, begins_after=begins_after)
        return JobEnding(
            "timedOut", timeout, f"no answer within {instants.show_duration(timeout)}", begins_after
        )

    def measure(self, job: records.Job, rule: str, metric: Any) -> SimulatedAnswer:
        """The n-th measurement of a metric on a job gets the n-th answer; the last one repeats."""
        answers = self.entry_for(job).measurements.get(metric.name)
        if answers is None:
            return plausible(metric)
        key = (job.id, rule, metric.name)
        count = self._measured.get(key, 0)
        self._measured[key] = count + 1
        answer = answers[min(count, len(answers) - 1)]
        if isinstance(answer, dict) and answer.keys() == {"error"}:
            return SimulatedAnswer(error=str(answer["error"]))
        return SimulatedAnswer(result=answer)


def plausible(metric: Any) -> SimulatedAnswer:
    """A metric without an entry passes: some ordinary answer that meets its conditions is looked for."""
    success = getattr(metric, "success_condition", None)
    failure = getattr(metric, "failure_condition", None)
    for candidate in _PLAUSIBLE:
        if _holds(success, candidate, absent=True) and not _holds(failure, candidate, absent=False):
            return SimulatedAnswer(result=candidate)
    return SimulatedAnswer(result=None, is_known=False)


def _holds(condition: str | None, candidate: object, *, absent: bool) -> bool:
    if condition is None:
        return absent
    try:
        return expressions.RESULT.compile(condition).evaluate({"result": candidate}) is True
    except cel.EvaluationError:
        return False
