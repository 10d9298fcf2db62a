"""Rollbacks that are still to come, and those that failed: until they are done, their resource is not."""

from __future__ import annotations

from headgate.fleet.model.records import Job, JobKind
from headgate.fleet.state import candidates
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Target, VersionNode


def ahead(state: State, target: Target) -> VersionNode | None:
    """Where the target goes back to next, outside brackets: as ordered, or because what runs was rejected."""
    if target.site is not None:
        return None
    ordered = state.version(target.record.rollback_to)
    if ordered is not None:
        return ordered
    return candidates.rollback_version(state, target)


def kind_of(state: State, target: Target, to: VersionNode) -> JobKind:
    """Forward is not back: what is newer than what runs is deployed and verified like anything new."""
    deployed = candidates.deployed_version(state, target)
    return "redeploy" if deployed is not None and to.sort_key > deployed.sort_key else "rollback"


def tried_last(state: State, target: Target) -> Job | None:
    """The rollback that was the last thing tried here, and did not succeed: another attempt may follow."""
    record = target.record
    last = state.last_attempt(record.attempts)
    if last is None or record.job is not None or (record.failed_at is None and record.retry_at is None):
        return None
    return last if last.kind == "rollback" else None


def in_vain(state: State, target: Target) -> Job | None:
    """The same where no group is at it any more: it is for the target to try it again."""
    last = tried_last(state, target)
    return last if last is not None and last.group not in state.groups else None


def failed(state: State, target: Target) -> Job | None:
    """The one after which nothing follows by itself."""
    return in_vain(state, target) if target.record.failed_at is not None else None


def given_up(state: State, target: Target) -> VersionNode | None:
    """Where it was to go back to when a group gave that up: until somebody orders it again, or something newer runs."""
    record = target.record
    noted = record.given_up_rollback
    version = state.version(noted.version) if noted is not None and record.rollback_to is None else None
    if version is None or version.object.status == "rejected" or version.id == record.deployed:
        return None
    return version


def again(state: State, target: Target, job: Job) -> VersionNode | None:
    """Where the rollback that failed goes when it is tried again: further back, if its version was rejected meanwhile."""
    version = state.version(job.version)
    if version is not None and version.object.status != "rejected":
        return version
    return candidates.last_good(state, target)
