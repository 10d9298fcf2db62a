"""A group from its first job to its end.

What comes next follows from the recorded states of its members alone, so that an engine which was loaded in the middle
of a cycle goes on exactly where the other one stood.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from headgate.fleet.cycles import (
    finishing,
    group_rollbacks,
    jobs,
    leaving,
    locking,
    ordered_rollbacks,
    ordering,
    readiness,
    running,
)
from headgate.fleet.gates import gates
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import MEMBER_SETTLED, Group, Job, Member
from headgate.fleet.state import evidence, holds, variables, wakes
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Site, Target
from headgate.kernel import instants
from headgate.kernel.instants import Instant

UNKNOWN_OUTCOMES = frozenset({"timedOut", "externalRunNotFound"})


def start(state: State, site: Site, group: Group, judged: tuple[GateResult, ...], now: Instant) -> None:
    """The slots are taken; from here on the resource holds them through every phase."""
    if group.started_at is None:
        group.started_at = now
        site.waiting = None
        site.executing = group
        state.executing_at[site.location] = site
        for member in group.members:
            target = site.members.get(member.deployment)
            member.left = target is None
            if target is not None:
                running.note_previous(member, target)
        state.group_changed(group, "executing", now)
        state.waiting.happened(wakes.site(*site.location))
    group.slot_released = False
    advance(state, site, group, now, Blockers(), judged)


def advance(
    state: State,
    site: Site,
    group: Group,
    now: Instant,
    blockers: Blockers,
    judged: tuple[GateResult, ...] = (),
) -> None:
    """Starts whatever may start now, and ends the group when nothing is left; a phase that begins goes on at once."""
    _take_in_ended_jobs(state, group, now)
    _give_up_withdrawn(state, site, group, now, blockers)
    locking.drop_withdrawn(state, site, group, now, blockers)
    _reconsider_retries(state, site, group, now)
    if group.status == "failed" and ordered_rollbacks.is_about(group):
        _roll_back_as_ordered(state, site, group, now, blockers)
    if group.status == "failed":
        return
    if group.phase == "rollingBack" and not _has_gone_back(state, site, group, now, blockers):
        return
    if group.phase == "forward" and leaving.is_broken_off(group):
        leaving.break_off(state, site, group, now)
    if group.phase == "finishing":
        finishing.finish(state, site, group, now, blockers)
        return
    locking.drop_dependents(state, site, group, now, blockers)
    if _take_in_ended_jobs(state, group, now):
        return
    for member in _in_order(group.members):
        if member.state == "waiting" or running.is_due(member, now, blockers):
            _start_member(state, site, group, member, now, blockers, judged)
            if _take_in_ended_jobs(state, group, now):
                return
    if all(member.state in MEMBER_SETTLED for member in group.members):
        finishing.end(state, site, group, group.outcome or "completed", now)


def _has_gone_back(state: State, site: Site, group: Group, now: Instant, blockers: Blockers) -> bool:
    """Whether the group goes on after its rollback. What the others have locked was not asked about while one of them went
    back: it may have been withdrawn since."""
    if not group_rollbacks.advance(state, site, group, now, blockers):
        return False
    if group.phase == "forward":
        _give_up_withdrawn(state, site, group, now, blockers)
        locking.drop_withdrawn(state, site, group, now, blockers)
    return group.status != "failed" and group.phase != "rollingBack"


def _roll_back_as_ordered(state: State, site: Site, group: Group, now: Instant, blockers: Blockers) -> None:
    """Of a group that has failed nothing further starts but what a person has ordered back."""
    for member in ordered_rollbacks.ahead(group):
        if member.state == "waiting" or running.is_due(member, now, blockers):
            _start_member(state, site, group, member, now, blockers, ())
    _take_in_ended_jobs(state, group, now)
    ordered_rollbacks.go_on(state, site, group, now)


def _take_in_ended_jobs(state: State, group: Group, now: Instant) -> bool:
    """Whether a job had ended at its very start, as one does that no agent serves; the site is then looked at again."""
    is_any_ended = False
    for member in group.members:
        job = state.jobs.get(member.job or "") if member.state in ("running", "rollingBack") else None
        if job is not None and _is_over(job):
            job_ended(state, job, now)
            is_any_ended = True
    return is_any_ended


def _give_up_withdrawn(state: State, site: Site, group: Group, now: Instant, blockers: Blockers) -> None:
    """A lock that was withdrawn after a job with it has failed is not dropped as if nothing had been there: the attempt
    that failed was the last. Hooks take another version instead."""
    if group.phase != "forward":
        return
    for member in _in_order(_to_be_tried_again(site, group)):
        target = site.members[member.deployment]
        last = _failed_here(state, target, group)
        if last is None or locking.withdrawn(state, target, member, now, blockers) is None:
            continue
        if last.version != member.version:
            _back_to_what_failed(state, site, member, target, last)
        if locking.withdrawn(state, target, member, now, blockers) is not None:
            _give_up(state, site, group, member, last, now)


def _to_be_tried_again(site: Site, group: Group) -> list[Member]:
    """Members that have had a job and are to have another."""
    return [
        member
        for member in group.members
        if member.role == "member"
        and member.state in ("waiting", "retrying")
        and member.deployment in site.members
        and site.members[member.deployment].record.attempts
    ]


def _failed_here(state: State, target: Target, group: Group) -> Job | None:
    """The last job that the group ran on the target, if it was in vain."""
    attempts = target.record.attempts
    last = state.last_attempt(attempts)
    if last is None or last.group != group.id:
        return None
    return last if last.status != "successful" or last.verification == "failed" else None


def _back_to_what_failed(state: State, site: Site, member: Member, target: Target, last: Job) -> None:
    """A newer lock had followed the one that failed. Without it, what was to become of the failure is open again."""
    locking.unlock(state, site, member)
    member.version = last.version
    member.attempts = list(target.record.attempts)
    member.state = "retrying"


def _reconsider_retries(state: State, site: Site, group: Group, now: Instant) -> None:
    """Retry rules may have changed while the next attempt was waited for. Values may have, too: with others it is another
    release, which waits for no backoff and has attempts of its own."""
    for member in _in_order(member for member in group.members if member.state == "retrying"):
        target = site.members.get(member.deployment)
        if member.state != "retrying" or target is None:
            continue
        if _has_other_values(state, member, target):
            member.state, member.retry_at, member.attempts = "waiting", None, []
            state.journal.changed("group", group.id)
            continue
        plan = jobs.retry_plan(state, target, running.attempts_of(state, member))
        if not plan.retry or _has_nowhere_to_go(state, site, group, member):
            _give_up(state, site, group, member, state.jobs[member.attempts[-1]], now)
        elif plan.at != member.retry_at:
            member.retry_at = plan.at
            state.journal.changed("group", group.id)


def _has_other_values(state: State, member: Member, target: Target) -> bool:
    last = state.last_attempt(member.attempts)
    if last is None or running.went_back(state, member):
        return False
    return not variables.are_same(last.variables, variables.resolve(state, target))


def _has_nowhere_to_go(state: State, site: Site, group: Group, member: Member) -> bool:
    """Where it was to be put back was rejected between two attempts."""
    is_going_back = group.phase == "rollingBack" and running.went_back(state, member)
    return is_going_back and member not in group_rollbacks.affected(state, site, group)


_RANKS = {"preHook": 0, "member": 1, "postHook": 2}


def _in_order(members: Iterable[Member]) -> list[Member]:
    return sorted(members, key=lambda member: (_RANKS[member.role], member.deployment))


def _start_member(
    state: State,
    site: Site,
    group: Group,
    member: Member,
    now: Instant,
    blockers: Blockers,
    judged: tuple[GateResult, ...],
) -> None:
    passed: list[GateResult] = list(judged)
    target = site.members[member.deployment]
    for result in itertools.chain(
        ordering.verdicts_of(state, site, group, member, now),
        [gates.frozen(state, target, now)],
        ordering.paused(state, member),
    ):
        if not result.is_allowed:
            blockers.add(result)
            return
        passed.append(result)
    running.run(state, site, group, member, now, blockers, tuple(passed))


def job_ended(state: State, job: Job, now: Instant) -> None:
    """A job of a group ended, or its verification did."""
    group = state.groups.get(job.group or "")
    member = group.member(job.deployment) if group is not None else None
    site = state.sites.get((group.rule, group.environment, group.resource)) if group is not None else None
    if group is None or member is None or site is None or member.job != job.id:
        return
    if not _is_over(job) or member.state not in ("running", "rollingBack"):
        return
    state.journal.changed("group", group.id)
    state.waiting.touch(site)
    if job.id not in member.attempts:
        member.attempts.append(job.id)
    _drop_older_next(state, member, job)
    if job.status == "successful" and job.verification != "failed":
        _member_succeeded(state, site, group, member, job, now)
    elif job.kind == "rollback":
        _rollback_ended_without_success(state, site, group, member, job, now)
    else:
        _member_ended_without_success(state, site, group, member, job, now)


def _is_over(job: Job) -> bool:
    """What has failed has failed, whatever else is still measured of it."""
    is_being_verified = job.status == "successful" and job.verification == "running"
    return job.completed_at is not None and not is_being_verified


def _drop_older_next(state: State, member: Member, job: Job) -> None:
    """Something older joined while a version ran that was to go back, and does not go back any more."""
    ran, following = state.version(job.version), state.version(member.next_version)
    if ran is None or following is None or following.sort_key >= ran.sort_key or ran.goes_back:
        return
    if ran.is_ready or job.status == "successful":
        member.next_version = member.next_locked_at = None


def _member_succeeded(state: State, site: Site, group: Group, member: Member, job: Job, now: Instant) -> None:
    if member.next_version is not None:
        take_next(member)
    elif job.kind == "rollback":
        group_rollbacks.roll_back(state, site, group, member, now)
    else:
        running.settle(member, "succeeded", now)


def take_next(member: Member) -> None:
    """The newer lock that joined while the member ran is its lock now."""
    member.version = member.next_version
    member.locked_at = member.next_locked_at
    member.next_version = None
    member.state = "waiting"
    member.kind = "deploy"
    member.attempts = []


def _member_ended_without_success(
    state: State, site: Site, group: Group, member: Member, job: Job, now: Instant
) -> None:
    target = site.members[member.deployment]
    if member.next_version is not None and group.phase == "forward":
        take_next(member)
        return
    verification_failed = job.verification == "failed"
    may_retry = not verification_failed and not (
        job.kind == "hook" and job.status in UNKNOWN_OUTCOMES and not site.rule.spec.hooks_idempotent
    )
    plan = jobs.retry_plan(state, target, member.attempts)
    is_wanted = group.phase == "forward" or (group.phase == "finishing" and member.role == "postHook")
    if may_retry and plan.retry and is_wanted:
        member.state = "retrying"
        member.retry_at = plan.at
        return
    _give_up(state, site, group, member, job, now)


def _rollback_ended_without_success(
    state: State, site: Site, group: Group, member: Member, job: Job, now: Instant
) -> None:
    plan = jobs.retry_plan(state, site.members[member.deployment], running.attempts_of(state, member))
    if plan.retry and group.phase != "finishing":
        member.state = "retrying"
        member.retry_at = plan.at
    else:
        _rollback_failed(state, site, group, member, job, now)


def _rollback_failed(state: State, site: Site, group: Group, member: Member, job: Job, now: Instant) -> None:
    """Nothing follows by itself, here or after the group: what is on the target now nobody knows."""
    running.failed_to_go_back(state, site, group, member, now)
    _fail(state, group, now, f"putting back {member.deployment} failed: {evidence.of_job(job)}")


def _give_up(state: State, site: Site, group: Group, member: Member, job: Job, now: Instant) -> None:
    """No attempt is left: the cycle is put back if a rollback rule says so, or who rejected the version, or has failed."""
    if job.kind == "rollback":
        _rollback_failed(state, site, group, member, job, now)
        return
    target = site.members[member.deployment]
    verification_failed = job.verification == "failed"
    running.settle(member, "failed", now)
    state.journal.changed("group", group.id)
    jobs.given_up(state, target, job, now)
    state.target_changed(target)
    fires = jobs.fires_rollback(
        target, job.status, verification_failed=verification_failed
    ) or jobs.is_to_go_back(state, target, job)
    if _goes_on_regardless(site, group, member, fires):
        return
    if (
        fires
        and group.phase == "forward"
        and group.status != "failed"
        and group_rollbacks.begin(state, site, group, member, jobs.cause_of_rollback(state, target, job), now)
    ):
        return
    _fail(state, group, now, f"{member.deployment} {evidence.of_job(job)}")


def _goes_on_regardless(site: Site, group: Group, member: Member, fires: bool) -> bool:
    """A sibling that fails while the cycle is ended or put back already changes nothing about that."""
    if group.phase == "finishing":
        return member.role != "postHook"
    if group.phase == "rollingBack":
        strategy = site.rule.spec.rollback_strategy
        return strategy == "all_members" or (fires and member.role == "member")
    return False


def _fail(state: State, group: Group, now: Instant, reason: str) -> None:
    """Running siblings finish, nothing further starts, the resource and its slot stay as they are."""
    if group.status == "failed":
        return
    group.failed_at = now
    group.reason = reason
    state.group_changed(group, "failed", now)


def roll_back_what_was_marked(state: State, site: Site, group: Group, now: Instant) -> None:
    """A group that has failed goes back when what it failed with is marked as bad, and who marked it asked for that."""
    for member in _in_order(group.members):
        target = site.members.get(member.deployment)
        last = _failed_here(state, target, group) if target is not None and member.state == "failed" else None
        if target is None or last is None or group.phase != "forward":
            continue
        if jobs.is_to_go_back(state, target, last) and group_rollbacks.begin(
            state, site, group, member, jobs.cause_of_rollback(state, target, last), now
        ):
            group.failed_at = None
            group.stuck = False
            state.group_changed(group, "executing", now)
            return


def watch_failed(state: State, site: Site, group: Group, now: Instant, blockers: Blockers) -> None:
    """A failed group waits for an operator; after `stuckTimeoutSeconds` it is stuck, and may lose its slot: also if the rule
    says so only then."""
    timeout = site.rule.spec.stuck_timeout_seconds
    if timeout is None or group.failed_at is None:
        return
    stuck_at = group.failed_at + instants.seconds(timeout)
    if now < stuck_at:
        blockers.requeue(stuck_at)
        return
    if not group.stuck:
        _mark_stuck(state, group, group.failed_at)
    if site.rule.spec.on_stuck == "release" and not group.slot_released:
        release_slot(state, group)


def _mark_stuck(state: State, group: Group, failed_at: Instant) -> None:
    group.stuck = True
    since = instants.show_to_the_second(failed_at)
    state.notify(
        "group.stuck",
        "Group",
        group.id,
        f"{group.policy} on {group.environment}/{group.resource} is stuck, failed since {since}: {group.reason}",
        policy=group.policy,
        environment=group.environment,
        resource=group.resource,
    )
    state.journal.changed("group", group.id)


def release_slot(state: State, group: Group) -> None:
    group.slot_released = True
    holds.give_back(state, group)
    group.slots = []
    group.slots_since = {}
    state.journal.changed("group", group.id)


def holds_what_it_needs(state: State, site: Site, group: Group) -> bool:
    """Whether the resource still has the slot of every rule that covers it."""
    return all(
        group.id in table.holders.get(site.resource.name, {})
        for table in readiness.tables_of(state, site, group)
    )


def is_at_work(group: Group) -> bool:
    """Whether a job of the group lives, or is being verified."""
    return group.status == "executing" and any(
        member.state in ("running", "rollingBack") for member in group.members
    )


def hold_again(state: State, site: Site, group: Group, since: Instant) -> None:
    """When rules changed: a started group holds the slots of every rule that covers it."""
    holds.take_for_group(state, readiness.tables_of(state, site, group), group, since)
