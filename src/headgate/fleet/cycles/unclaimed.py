"""Jobs of a cycle that no agent has come for when their version is marked as bad."""

from __future__ import annotations

from headgate.fleet.cycles import cycle, running, withdrawing
from headgate.fleet.model.records import Group, Job
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site, Target
from headgate.kernel.instants import Instant


def take_back(state: State, site: Site, now: Instant) -> None:
    for target in tuple(site.members.values()):
        job = withdrawing.take_back(state, target, now) if target.record.job is not None else None
        if job is not None and job.started_at is not None:
            cycle.job_ended(state, job, now)
        elif job is not None and site.executing is not None:
            _as_before_its_job(state, target, site.executing, job)


def _as_before_its_job(state: State, target: Target, group: Group, job: Job) -> None:
    """Its lock is now one that has not started: the group drops it, or a hook takes another version. What was to be put
    back stays as it is."""
    member = group.member(job.deployment)
    if member is None or member.job != job.id:
        return
    member.job = member.attempts[-1] if member.attempts else None
    if running.went_back(state, member):
        member.state = "retrying"
    elif member.state == "rollingBack":
        member.state = "failed" if member.version in target.record.rolled_back else "succeeded"
    else:
        member.ran = bool(member.attempts)
        member.state = "waiting"
        if member.next_version is not None:
            cycle.take_next(member)
    state.journal.changed("group", group.id)
