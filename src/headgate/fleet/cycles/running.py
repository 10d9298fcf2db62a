"""One member's job: started, due for another attempt, settled."""

from __future__ import annotations

from typing import Literal

from headgate.fleet.cycles import jobs
from headgate.fleet.gates import rejecting
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import Group, Job, Member, MemberState, TargetRecord
from headgate.fleet.state import variables
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Site, Target, VersionNode
from headgate.kernel.instants import Instant


def is_due(member: Member, now: Instant, blockers: Blockers) -> bool:
    if member.state != "retrying" or member.retry_at is None:
        return False
    if member.retry_at > now:
        blockers.requeue(member.retry_at)
        return False
    return True


def run(
    state: State,
    site: Site,
    group: Group,
    member: Member,
    now: Instant,
    blockers: Blockers,
    judged: tuple[GateResult, ...],
    *,
    version_id: str | None = None,
    rolling_back: bool = False,
) -> Job | None:
    """The job; None if the version is gone, the target is busy or the cycle needs its slot for that first."""
    target = site.members[member.deployment]
    version = state.version(version_id or member.version)
    if version is None or target.record.job is not None:
        return None
    if blockers.is_without_slots:
        blockers.asks_for_slots = True
        return None
    last = state.last_attempt(member.attempts)
    resolved = variables.resolve(state, target)
    is_again = (
        last is not None
        and last.version == version.id
        and variables.are_same(last.variables, resolved)
        and (went_back(state, member) or not rolling_back)
    )
    attempt = last.attempt + 1 if last is not None and is_again else 1
    rejected = None if rolling_back else _rejected(state, target, member, version)
    member.state = "rollingBack" if rolling_back else "running"
    member.retry_at = None
    member.ran = True
    job = jobs.create(
        state,
        target,
        version,
        now,
        kind="rollback" if rolling_back or rejected is not None else member.kind,
        attempt=attempt,
        variables=resolved,
        group=group.id,
        judged=judged,
        reason=group.reason if rolling_back else _reason(target.record, member, rejected),
    )
    member.job = job.id
    state.journal.changed("group", group.id)
    return job


def note_previous(member: Member, target: Target) -> None:
    """When the member's part in the group begins: what a rollback would put back."""
    member.previous = target.record.proven
    member.is_previous_unproven = not target.record.is_good and target.record.previous is None


def went_back(state: State, member: Member) -> bool:
    """Whether the last job of the member was to put it back, however that ended."""
    last = state.last_attempt(member.attempts)
    return last is not None and last.kind == "rollback"


def goes_back_again(state: State, member: Member) -> bool:
    """Its rollback waits for the next attempt; a sibling whose own next attempt was ahead goes back at once."""
    return member.state == "retrying" and went_back(state, member)


def failed_to_go_back(state: State, site: Site, group: Group, member: Member, now: Instant) -> None:
    """The target has failed with the last attempt of its rollback, also when the group is over."""
    settle(member, "failed", now)
    state.journal.changed("group", group.id)
    target = site.members.get(member.deployment)
    if target is not None:
        jobs.given_up(state, target, state.jobs[member.attempts[-1]], now)
        state.target_changed(target)


def attempts_of(state: State, member: Member) -> list[str]:
    """Ended jobs of what is tried now, oldest first: those of a rollback count from its first."""
    ids: list[str] = []
    for job_id in reversed(member.attempts):
        if (state.jobs[job_id].kind == "rollback") != went_back(state, member):
            break
        ids.insert(0, job_id)
    return ids


def _rejected(state: State, target: Target, member: Member, version: VersionNode) -> VersionNode | None:
    """What runs, if it was rejected and the member goes back behind it."""
    runs = state.version(target.record.deployed)
    if member.kind != "deploy" or runs is None or not runs.goes_back:
        return None
    return runs if version.sort_key < runs.sort_key else None


def _reason(record: TargetRecord, member: Member, rejected: VersionNode | None) -> str:
    """Whatever goes back says what made it."""
    if rejected is not None:
        return rejecting.sentence(rejected)
    return record.rollback_cause if member.kind == "rollback" else ""


def set_aside(
    state: State, site: Site, member: Member, outcome: Literal["dropped", "skipped"], now: Instant
) -> None:
    """The member is done with, and no job of it ends that others would be told by."""
    settle(member, outcome, now)
    target = site.members.get(member.deployment)
    if target is not None:
        state.target_changed(target)


def settle(member: Member, state: MemberState, now: Instant) -> None:
    member.state = state
    member.settled_at = now
