"""One look at a place: run what executes, collect what is new, and see whether the waiting group may start."""

from __future__ import annotations

from headgate.fleet import jobs, placing, variables, wakes
from headgate.fleet.brackets import (
    collecting,
    cycle,
    finishing,
    locking,
    merging,
    overruling,
    readiness,
    shape,
    unclaimed,
)
from headgate.fleet.brackets.readiness import GroupStart
from headgate.fleet.hindrances import Hindrance
from headgate.fleet.records import Group
from headgate.fleet.state import State
from headgate.fleet.units import Place
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant

WINDOWS_AT_MOST = 8
"""Windows that one look may open and close; each closes with a lock, and there are few versions to lock."""


def look(state: State, place: Place, now: Instant) -> tuple[GroupStart | None, Hindrance]:
    """A group that may join the executing one does so before that one goes on: one instant, one decision.

    When the executing one has ended, members may have left with it: the place is looked at afresh.
    """
    hindrance = Hindrance()
    unclaimed.take_back(state, place, now)
    _take_over_retries(state, place)
    if _is_retired(place):
        going_on = _executing(state, place, now, hindrance)
        _abandon(state, place, now)
        placing.drop_if_empty(state, place)
        return going_on, hindrance
    for _ in range(WINDOWS_AT_MOST):
        if not _collect(state, place, now, hindrance):
            break
    for _ in range(WINDOWS_AT_MOST):
        if not _cycle_without_a_window(state, place, now, hindrance):
            break
    _tidy_waiting_group(state, place, now, hindrance)
    executing = place.executing
    going_on = _executing(state, place, now, hindrance)
    if place.executing is not executing:
        return None, hindrance
    return going_on or _start_of_waiting_group(state, place, now, hindrance), hindrance


def _look_afresh(state: State, place: Place) -> None:
    """An open group kept the hooks that it was opened with; without it another form of the bracket may hold. And what a
    cycle has given up is no longer about to run: changed values may be due without it."""
    state.waiting.touch(place)


def _take_over_retries(state: State, place: Place) -> None:
    """What failed on its own before the bracket came has its next attempt in a cycle, not beside it."""
    for target in place.members.values():
        if target.record.retry_at is not None:
            target.record.retry_at = None
            state.target_changed(target)


def _is_retired(place: Place) -> bool:
    """No rule makes this place any more; members are left only until a cycle has ended."""
    return not any(place.is_home_of(target) for target in place.members.values())


def _executing(state: State, place: Place, now: Instant, hindrance: Hindrance) -> GroupStart | None:
    group = place.executing
    if group is None:
        return None
    hindrance.wakes.append(wakes.resource(place.resource.name))
    if group.status == "failed":
        cycle.put_back_what_was_marked(state, place, group, now)
    if group.status == "failed":
        overruling.let_dependents_go_on(state, place, group, now, hindrance)
    if group.status == "failed":
        hindrance.hold(Reason.CYCLE_FAILED)
        cycle.watch_failed(state, place, group, now, hindrance)
        return None
    if group.slot_released and not cycle.holds_what_it_needs(state, place, group):
        return GroupStart(group, (), readiness.start_key(state, place, group))
    before = [member.state for member in group.members]
    cycle.advance(state, place, group, now, hindrance)
    if before != [member.state for member in group.members]:
        _look_afresh(state, place)
    return None


def _abandon(state: State, place: Place, now: Instant) -> None:
    """Nothing is to be locked or started here any more. If the bracket comes back, what was locked and not started is new
    again."""
    if place.waiting is not None:
        for member in place.waiting.members:
            locking.unlock(state, place, member)
    for group in (place.collecting, place.waiting):
        if group is not None:
            locking.end_unstarted(state, group, "aborted", "the bracket no longer applies here", now)
    place.collecting = place.waiting = None
    if place.members:
        return
    if place.executing is not None and not any(m.state == "running" for m in place.executing.members):
        finishing.end(state, place, place.executing, "aborted", now)


def _collect(state: State, place: Place, now: Instant, hindrance: Hindrance) -> bool:
    """Whether a window closed, so that there may be another to open."""
    fresh = collecting.fresh_versions(state, place, now)
    group = place.collecting
    if not fresh:
        if group is not None:
            place.collecting = None
            locking.end_unstarted(state, group, "aborted", "every new version was withdrawn", now)
            _look_afresh(state, place)
        return False
    if group is None:
        opened_at = collecting.opening(state, place, fresh, now, hindrance)
        if opened_at is None:
            return False
        group = collecting.open_group(state, place, opened_at, now)
    close_at = collecting.close_time(place, group, fresh)
    if now < close_at and not _is_skipped(state, place, fresh, now):
        hindrance.hold(Reason.COLLECTING)
        hindrance.look_again(close_at)
        hindrance.wakes.append(wakes.skips(place.rule.id))
        return False
    return _close(state, place, group, fresh, min(close_at, now), now, hindrance)


def _close(
    state: State,
    place: Place,
    group: Group,
    fresh: collecting.Fresh,
    closed_at: Instant,
    now: Instant,
    hindrance: Hindrance,
) -> bool:
    locks, satisfied_at = locking.allowed_locks(state, place, fresh, now, hindrance)
    hooks, missing, hooks_at = locking.hook_locks(state, place, now, hindrance)
    if not locks or missing:
        return False
    locking.lock(state, place, group, locks, hooks, max(closed_at, satisfied_at, hooks_at), now)
    return True


def _is_skipped(state: State, place: Place, fresh: collecting.Fresh, now: Instant) -> bool:
    """A skip of the bracket rule closes the window at once."""
    if place.rule.id not in state.skips_by_rule:
        return False
    return any(
        state.skip_for(place.rule, version.id, place.members[name], now) is not None
        for name, versions in fresh.items()
        for version in versions
    )


def _cycle_without_a_window(state: State, place: Place, now: Instant, hindrance: Hindrance) -> bool:
    """Changed variables, and what an operator ordered, run as a cycle of their own, hooks included, without a window.

    Whether one was made, so that another may be due: what the superseded group was about to run counts no more.
    """
    for name in shape.of_place(place).others:
        if not locking.is_in_started_group(place, name):
            jobs.reconsider_attempt(state, place.members[name], now)
    due = locking.due_without_a_window(state, place)
    if not due:
        return False
    hooks, missing, _ = locking.hook_locks(state, place, now, hindrance)
    if missing:
        return False
    collecting_group = place.collecting
    group = collecting.open_group(state, place, now, now, without_window=True)
    locking.lock(state, place, group, {}, hooks, now, now, own_cycle=due)
    place.collecting = collecting_group
    for name in due:
        record = place.members[name].record
        record.ordered = record.rollback_to = None
        state.target_changed(place.members[name])
    return True


def _tidy_waiting_group(state: State, place: Place, now: Instant, hindrance: Hindrance) -> None:
    """Drops what was withdrawn, ends a group with nothing left, queues or joins behind one that executes."""
    group = place.waiting
    if group is None:
        return
    locking.drop_withdrawn(state, place, group, now, hindrance)
    if not _has_changes(state, place, group):
        place.waiting = None
        withdrawn = any(member.state == "dropped" for member in group.members)
        reason = "every locked version was withdrawn" if withdrawn else "what it was to change is so already"
        locking.end_unstarted(state, group, "aborted", reason, now)
        _look_afresh(state, place)
        return
    hindrance.wakes.append(wakes.site(*place.site))
    if place.site in state.sites:
        joined = merging.try_to_join(state, place, group, now, hindrance)
        if not joined:
            hindrance.hold(Reason.AWAITING_CYCLE)
        if not joined and group.status != "queued":
            state.group_changed(group, "queued", now)


def _start_of_waiting_group(
    state: State, place: Place, now: Instant, hindrance: Hindrance
) -> GroupStart | None:
    group = place.waiting
    if group is None or place.site in state.sites or locking.missing_hooks(group):
        return None
    if group.status == "queued":
        group.ready_at = now
        state.group_changed(group, "ready", now)
    return readiness.start_of(state, place, group, now, hindrance)


def _has_changes(state: State, place: Place, group: Group) -> bool:
    """Whether a member would run something that it does not run already."""
    for member in group.members:
        if member.role != "member" or member.state != "waiting":
            continue
        if group.without_window and member.kind in ("redeploy", "rollback"):
            return True
        record = place.members[member.deployment].record
        if record.deployed != member.version or record.deployed_variables != variables.resolve(
            state, place.members[member.deployment]
        ):
            return True
    return False


def launch(state: State, place: Place, start: GroupStart, now: Instant) -> None:
    if start.group.started_at is None:
        locking.mark_unchanged(state, place, start.group)
    cycle.start(state, place, start.group, start.judged, now)
