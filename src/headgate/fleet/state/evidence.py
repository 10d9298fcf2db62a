"""What is kept of measurements and of failed jobs, so that whoever is woken finds out what happened.

Every measurement stays with its job: the first and the last of each metric, and how many were in between. What failed
for good stays with the target, also after the version before has been put back.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headgate.fleet.model.records import Fault, Job, Measurement, MetricProgress
from headgate.fleet.rules import verification
from headgate.kernel import instants
from headgate.kernel.instants import Instant

FIRST_KEPT = 3
LAST_KEPT = 7
LONGEST_ANSWER_BYTES = 4096
LONGEST_VALUE = 200

_encode = msgspec.json.Encoder(order="deterministic").encode


def keep(
    progress: MetricProgress,
    finding: verification.MetricFinding,
    result: object,
    error: str | None,
    now: Instant,
) -> None:
    progress.measurements.append(
        Measurement(
            at=now,
            verdict=finding.finding,
            value=_value_of(result),
            condition=finding.condition,
            message=finding.message,
            answer=error or _answer_of(result),
        )
    )
    if len(progress.measurements) > FIRST_KEPT + LAST_KEPT:
        del progress.measurements[FIRST_KEPT]
        progress.dropped += 1


def _value_of(result: object) -> str | None:
    """What people compare with the condition: a number, a status; nothing for a whole document."""
    if isinstance(result, dict):
        result = next((result[key] for key in ("value", "statusCode", "status") if key in result), None)
    if result is None or isinstance(result, dict | list):
        return None
    return _encode(result).decode()[:LONGEST_VALUE]


def _answer_of(result: object) -> str:
    """Headers are left out: cookies and the like are nobody's evidence."""
    if isinstance(result, dict):
        result = {key: value for key, value in result.items() if key != "headers"}
    return "" if result is None else cut(_encode(result).decode())


def cut(text: str, longest: int = LONGEST_ANSWER_BYTES) -> str:
    return text.encode()[:longest].decode(errors="ignore")


def of_verification(job: Job) -> str:
    """Which measurements failed: `errors: result.value < 0.01 is false (value 0.05 at ..., 2 of 3 measurements)`."""
    return of_metrics([progress for progress in job.metrics if progress.status == "failed"])


def of_metrics(metrics: Sequence[MetricProgress]) -> str:
    return "; ".join(map(_of_metric, metrics))


def _of_metric(progress: MetricProgress) -> str:
    bad = [one for one in progress.measurements if one.verdict != "passed"]
    if not bad:
        return progress.metric
    last = bad[-1]
    value = f"value {last.value} " if last.value is not None else ""
    total = len(progress.measurements) + progress.dropped
    count = f"; {len(bad)} of {total} measurements" if total > 1 and not progress.dropped else ""
    return f"{last.message} ({value}at {instants.show_to_the_second(last.at)}{count})"


def last_measurements(job: Job) -> list[dict[str, object]]:
    """The last measurement of each metric, as events carry it."""
    return [
        {
            "metric": progress.metric,
            "status": progress.status,
            "at": instants.show(last.at),
            "value": last.value,
            "condition": last.condition,
            "verdict": last.verdict,
            "message": last.message,
        }
        for progress in job.metrics
        for last in progress.measurements[-1:]
    ]


def of_job(job: Job) -> str:
    """What went wrong with the job, as the cause of what follows: how it ended comes first, if that was without success."""
    measured = of_verification(job) if job.verification == "failed" else ""
    if measured and (job.completed_at is None or job.status == "successful"):
        return f"verification of {job.tag} failed: {measured}"
    agent = f", agent {job.agent}" if job.agent else ""
    reported = f": {job.message}" if job.message else ""
    also = f"; its verification failed too: {measured}" if measured else ""
    return f"{job.tag} ended {job.status} (attempt {job.attempt}{agent}){reported}{also}"


def cause_of_rollback(job: Job) -> str:
    return f"{of_job(job)} (job {job.id})"


def fault_of(job: Job, now: Instant, why_no_more: str = "") -> Fault:
    """`why_no_more` is what keeps it from being tried again, where attempts were left."""
    no_more = f"; no further attempt: {why_no_more}" if why_no_more else ""
    return Fault(
        job=job.id,
        version=job.version,
        tag=job.tag,
        status=job.status,
        attempt=job.attempt,
        cause=of_job(job) + no_more,
        at=now,
        agent=job.agent,
        message=job.message,
        links=dict(job.links),
        metrics=[progress for progress in job.metrics if progress.status == "failed"],
    )
