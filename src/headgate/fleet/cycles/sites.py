"""One look at a site: run what executes, collect what is new, and see whether the waiting group may start."""

from __future__ import annotations

from headgate.fleet.cycles import (
    choosing,
    collecting,
    cycle,
    finishing,
    jobs,
    locking,
    merging,
    ordered_rollbacks,
    overruling,
    readiness,
    retries,
    shape,
    unclaimed,
)
from headgate.fleet.cycles.choosing import Choices
from headgate.fleet.cycles.readiness import GroupStart
from headgate.fleet.gates import gates
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import Group
from headgate.fleet.state import membership, variables, wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site, Target
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant

WINDOWS_AT_MOST = 8
"""Windows that one look may open and close; each closes with a lock, and there are few versions to lock."""


def reconcile(state: State, site: Site, now: Instant) -> tuple[GroupStart | None, Blockers]:
    """A group that may join the executing one does so before that one goes on: one instant, one decision.

    When the executing one has ended, members may have left with it: the site is looked at afresh.
    """
    # A site has up to three groups: one that collects what is new, one that is locked and waits for its start, one that
    # executes. They are settled from the newest to the oldest, because each may become the next: a window that closes locks
    # a group, which may wait, merge into the executing one, or start a cycle of its own; what has become of the waiting
    # group is seen by the executing one in the same instant. Whatever ends here ends for a reason that explain can tell, so
    # nothing is skipped when a site retires: its cycle goes on to its post-hooks, only nothing new begins.
    blockers = Blockers()
    if _has_jobs_or_retries(site):
        unclaimed.take_back(state, site, now)
        _take_over_retries(state, site)
    if _is_retired(site):
        going_on = _executing(state, site, now, blockers)
        _abandon(state, site, now)
        membership.drop_if_empty(state, site)
        return going_on, blockers
    _go_back(state, site, now, blockers)
    for _ in range(WINDOWS_AT_MOST):
        if not _collect(state, site, now, blockers):
            break
    for _ in range(WINDOWS_AT_MOST):
        if not _cycle_without_a_window(state, site, now, blockers):
            break
    _tidy_waiting_group(state, site, now, blockers)
    executing = site.executing
    going_on = _executing(state, site, now, blockers)
    if site.executing is not executing:
        return None, blockers
    return going_on or _start_of_waiting_group(state, site, now, blockers), blockers


def _requeue(state: State, site: Site) -> None:
    """An open group kept the hooks that it was opened with; without it another form of the bracket may hold. And what a
    cycle has given up is no longer about to run: changed values may be due without it."""
    state.waiting.touch(site)


def _has_jobs_or_retries(site: Site) -> bool:
    for target in site.members.values():
        record = target.record
        if record.job is not None or record.retry_at is not None:
            return True
    return False


def _take_over_retries(state: State, site: Site) -> None:
    """What failed on its own before the bracket came has its next attempt in a cycle, not beside it."""
    for target in site.members.values():
        if target.record.retry_at is not None:
            target.record.retry_at = None
            state.target_changed(target)


def _is_retired(site: Site) -> bool:
    """No rule makes this site any more; members are left only until a cycle has ended."""
    return not any(site.is_home_of(target) for target in site.members.values())


def _executing(state: State, site: Site, now: Instant, blockers: Blockers) -> GroupStart | None:
    group = site.executing
    if group is None:
        return None
    blockers.watch(wakes.resource(site.resource.name))
    if group.status == "failed":
        cycle.roll_back_what_was_marked(state, site, group, now)
    if group.status == "failed":
        overruling.let_dependents_go_on(state, site, group, now, blockers)
    if group.status == "failed" and not ordered_rollbacks.is_about(group):
        blockers.hold(Reason.CYCLE_FAILED)
        cycle.watch_failed(state, site, group, now, blockers)
        return None
    blockers.is_without_slots = group.slot_released and not cycle.holds_what_it_needs(state, site, group)
    before = [member.state for member in group.members]
    cycle.advance(state, site, group, now, blockers)
    if before != [member.state for member in group.members]:
        _requeue(state, site)
    if blockers.is_without_slots and (blockers.asks_for_slots or cycle.is_at_work(group)):
        return GroupStart(group, (), readiness.start_key(state, site, group))
    return None


def _abandon(state: State, site: Site, now: Instant) -> None:
    """Nothing is to be locked or started here any more. If the bracket comes back, what was locked and not started is new
    again."""
    if site.waiting is not None:
        for member in site.waiting.members:
            locking.unlock(state, site, member)
    for group in (site.collecting, site.waiting):
        if group is not None:
            locking.end_unstarted(state, group, "aborted", "the bracket no longer applies here", now)
    site.collecting = site.waiting = None
    if site.members:
        return
    if site.executing is not None and not any(m.state == "running" for m in site.executing.members):
        finishing.end(state, site, site.executing, "aborted", now)


def _collect(state: State, site: Site, now: Instant, blockers: Blockers) -> bool:
    """Whether a window closed, so that there may be another to open."""
    fresh = collecting.fresh_versions(state, site, blockers.add_problem)
    group = site.collecting
    if not fresh:
        if group is not None:
            site.collecting = None
            locking.end_unstarted(state, group, "aborted", "every new version was withdrawn", now)
            _requeue(state, site)
        return False
    if locking.repair_ahead(state, site) is not None:
        blockers.hold(Reason.AWAITING_CYCLE)
        return False
    if group is None:
        choices = Choices(state, site, now, blockers)
        opened_at = collecting.opening(state, site, fresh, now, blockers, choices.prospects_of)
        if opened_at is None:
            return False
        group = collecting.open_group(state, site, opened_at, now)
    close_at = collecting.close_time(site, group, fresh)
    if now < close_at and not _is_skipped(state, site, fresh, now):
        blockers.hold(Reason.COLLECTING)
        blockers.requeue(close_at)
        blockers.watch(wakes.skips(site.rule.id))
        return False
    if _waits_for_members(state, site, blockers):
        return False
    return _close(state, site, group, fresh, min(close_at, now), now, blockers)


def _waits_for_members(state: State, site: Site, blockers: Blockers) -> bool:
    if not collecting.awaited(state, site):
        return False
    blockers.hold(Reason.AWAITING_CYCLE)
    blockers.watch(wakes.resource(site.resource.name))
    return True


def _close(
    state: State,
    site: Site,
    group: Group,
    fresh: collecting.Fresh,
    closed_at: Instant,
    now: Instant,
    blockers: Blockers,
) -> bool:
    choices = Choices(state, site, now, blockers)
    choices.choose_all()
    locks, satisfied_at = choosing.allowed_locks(choices, site, fresh)
    hooks, missing, hooks_at = choosing.hook_locks(choices, site, blockers)
    if not locks or missing:
        return False
    locking.lock(state, site, group, locks, hooks, max(closed_at, satisfied_at, hooks_at), now)
    return True


def _is_skipped(state: State, site: Site, fresh: collecting.Fresh, now: Instant) -> bool:
    """A skip of the bracket rule closes the window at once."""
    if site.rule.id not in state.skips_by_rule:
        return False
    return any(
        state.skip_for(site.rule, version.id, site.members[name], now) is not None
        for name, versions in fresh.items()
        for version in versions
    )


def _go_back(state: State, site: Site, now: Instant, blockers: Blockers) -> None:
    """What was rejected goes back at once: it waits for no window that something new has opened, nor until a newer version
    has passed its gates."""
    back = locking.rollbacks_due(state, site)
    if not back or _waits_for_members(state, site, blockers):
        return
    hooks, missing = choosing.hooks_alone(state, site, now, blockers)
    if missing:
        return
    collecting_group = site.collecting
    group = collecting.open_group(state, site, now, now, without_window=True)
    locking.lock(state, site, group, back, hooks, now, now)
    site.collecting = collecting_group
    _requeue(state, site)


def _cycle_without_a_window(state: State, site: Site, now: Instant, blockers: Blockers) -> bool:
    """Changed variables, and what an operator ordered, run as a cycle of their own, hooks included, without a window; what
    is ordered back of a cycle that has failed goes in that one.

    Whether one was made, so that another may be due: what the superseded group was about to run counts no more.
    """
    members, targets_here = shape.of_site(site), site.members
    for name in members.others:
        target = targets_here[name]
        if target.record.attempts and not locking.is_in_started_group(site, name):
            jobs.reconsider_attempt(state, target, now)
            _wait_for_what_is_paused(state, target, blockers)
    due = ordered_rollbacks.take_in(state, site, locking.due_without_a_window(state, site, members), now)
    if not due or _waits_for_members(state, site, blockers):
        return False
    hooks, missing = choosing.hooks_alone(state, site, now, blockers)
    if missing:
        return False
    collecting_group = site.collecting
    group = collecting.open_group(state, site, now, now, without_window=True)
    locking.lock(state, site, group, {}, hooks, now, now, own_cycle=due)
    site.collecting = collecting_group
    for name in due:
        locking.order_taken(state, site, name)
    # What a window was opened for may not be new any more beside what goes back.
    _requeue(state, site)
    return True


def _wait_for_what_is_paused(state: State, target: Target, blockers: Blockers) -> None:
    """A retry that was ordered before the bracket came, of what somebody has paused, is made when that is ready again."""
    version = retries.paused_retry(state, target)
    held = gates.paused(version) if version is not None else None
    if held is not None:
        blockers.add(held)


def _tidy_waiting_group(state: State, site: Site, now: Instant, blockers: Blockers) -> None:
    """Drops what was withdrawn, ends a group with nothing left, queues or joins behind one that executes."""
    group = site.waiting
    if group is None:
        return
    locking.drop_withdrawn(state, site, group, now, blockers)
    locking.drop_dependents(state, site, group, now, blockers)
    if not _has_changes(state, site, group):
        site.waiting = None
        locking.unlock_hooks(state, site, group)
        locking.end_unstarted(state, group, "aborted", _why_nothing_is_left(group), now)
        _requeue(state, site)
        return
    blockers.watch(wakes.site(*site.location))
    if site.location in state.executing_at:
        joined = merging.try_to_join(state, site, group, now, blockers)
        if not joined:
            blockers.hold(Reason.AWAITING_CYCLE)
        if not joined and group.status != "queued":
            state.group_changed(group, "queued", now)


def _why_nothing_is_left(group: Group) -> str:
    states = {member.state for member in group.members}
    if "skipped" in states:
        return "every locked version was skipped or withdrawn"
    return (
        "every locked version was withdrawn" if "dropped" in states else "what it was to change is so already"
    )


def _start_of_waiting_group(state: State, site: Site, now: Instant, blockers: Blockers) -> GroupStart | None:
    group = site.waiting
    if group is None or site.location in state.executing_at or locking.missing_hooks(group):
        return None
    if group.status == "queued":
        group.ready_at = now
        state.group_changed(group, "ready", now)
    return readiness.start_of(state, site, group, now, blockers)


def _has_changes(state: State, site: Site, group: Group) -> bool:
    """Whether a member would run something that it does not run already, or goes back after something failed there."""
    for member in group.members:
        if member.role != "member" or member.state != "waiting":
            continue
        if member.kind == "rollback" or (group.without_window and member.kind == "redeploy"):
            return True
        record = site.members[member.deployment].record
        resolved = variables.resolve(state, site.members[member.deployment])
        if record.deployed != member.version or not variables.are_same(record.deployed_variables, resolved):
            return True
    return False


def launch(state: State, site: Site, start: GroupStart, now: Instant) -> None:
    if start.group.started_at is None:
        locking.mark_unchanged(state, site, start.group)
    cycle.start(state, site, start.group, start.judged, now)
