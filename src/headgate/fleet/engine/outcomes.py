"""What agents and verification providers say, and what follows for the target or its group."""

from __future__ import annotations

from headgate.fleet.cycles import cycle, jobs
from headgate.fleet.gates import failures
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import JobReported, Measured
from headgate.fleet.model.records import Job
from headgate.fleet.state import evidence, holds, verifying
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Target
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected


def job_reported(state: State, change: JobReported, now: Instant) -> None:
    if change.status not in model.JOB_LIVE | model.JOB_TERMINAL:
        allowed = ", ".join(sorted(model.JOB_LIVE | model.JOB_TERMINAL))
        raise Rejected((Problem("status", f"is {change.status!r}; allowed are {allowed}"),))
    job = state.jobs.get(change.job)
    if job is not None and change.lost:
        message = (
            f"agent {change.lost} is lost with {job.target} {job.tag}: {change.message or 'not heard of'}"
        )
        state.notify(
            "agent.lost", "JobAgent", job.agent or change.lost, message, holder=change.lost, job=job.id
        )
    ended_before = job is None or job.completed_at is not None
    jobs.report(state, change, now)
    if job is None or ended_before or job.completed_at is None:
        return
    if job.group is not None:
        cycle.job_ended(state, job, now)
    elif job.status == "successful" and job.verification == "failed":
        verification_ended(state, job, now)


def measured(state: State, change: Measured, now: Instant) -> None:
    if not verifying.measured(state, change, now):
        return
    verification_ended(state, state.jobs[change.job], now)


def verification_ended(state: State, job: Job, now: Instant) -> None:
    target = state.targets.get(job.target)
    if target is not None and job.status == "successful" and job.verification in ("none", "passed"):
        failures.forgiven(state, target)
    if job.group is not None:
        cycle.job_ended(state, job, now)
    elif target is not None:
        if job.verification == "failed":
            _verification_failed(state, target, job, now)
        holds.settle_target(state, target)


def _verification_failed(state: State, target: Target, job: Job, now: Instant) -> None:
    """Only what still runs can be put back; a newer release has its own verification."""
    if target.record.deployed != job.version or target.record.job is not None:
        return
    jobs.given_up(state, target, job, now)
    if jobs.fires_rollback(target, job.status, verification_failed=True):
        # Other values of a version that was good are no reason to leave it: nothing older would do better with them.
        to = job.version if failures.is_of_values(target, job) else target.record.previous
        jobs.order_rollback(state, target, job.version, to, evidence.cause_of_rollback(job))
    state.target_changed(target)
