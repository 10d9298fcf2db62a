"""Jobs that no agent has come for when their version is marked as bad: they are taken back."""

from __future__ import annotations

from headgate.fleet.cycles import jobs
from headgate.fleet.gates import rejecting
from headgate.fleet.model.records import Job
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Target
from headgate.kernel.instants import Instant


def take_back(state: State, target: Target, now: Instant) -> Job | None:
    """The job that was taken back. What an agent has goes on: nobody else knows how far it is."""
    job = state.jobs.get(target.record.job or "")
    version = state.version(job.version) if job is not None else None
    if job is None or version is None or not job.is_unclaimed or version.object.status != "rejected":
        return None
    why = rejecting.sentence(version)
    if job.started_at is None:
        jobs.undo(state, job, now, why)
        _as_before_its_attempt(state, target, job, now)
    else:
        jobs.cancel(state, job, now, why)
    return job


def _as_before_its_attempt(state: State, target: Target, job: Job, now: Instant) -> None:
    """The attempt before it has failed, and the next is ahead again: whether it is made is decided as for any other."""
    record = target.record
    last = state.last_attempt(record.attempts)
    if job.group is None and last is not None and last.version == job.version and last.status != "successful":
        record.retry_at = now
        state.target_changed(target)
