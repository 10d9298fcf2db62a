"""The end of a group: what still has to run before it, and what is given back with it."""

from __future__ import annotations

from typing import Literal

from headgate.fleet.cycles import giving_up, ordering, running
from headgate.fleet.gates import gates
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import MEMBER_SETTLED, Group, GroupStatus, Member
from headgate.fleet.state import holds, release_targets, wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site
from headgate.kernel.instants import Instant


def finish(state: State, site: Site, group: Group, now: Instant, blockers: Blockers) -> None:
    """Waits for what still runs, runs the post-hooks if they are to run, and ends the group as ordered."""
    if any(member.state in ("running", "rollingBack") for member in group.members):
        return
    left = [m for m in group.members if m.role == "postHook" and m.state in ("waiting", "retrying")]
    for member in left:
        one = gates.frozen(state, site.members[member.deployment], now)
        if not group.run_post_hooks:
            running.settle(member, "dropped", now)
        elif member.state == "retrying" and not running.is_due(member, now, blockers):
            continue
        elif not one.is_allowed:
            blockers.add(one)
        elif held := ordering.paused(state, member):
            blockers.add(held[0])
        elif _earlier_post_hooks_done(state, site, group, member):
            running.run(state, site, group, member, now, (one,))
    if all(m.state not in ("waiting", "retrying", "running") for m in group.members if m.role == "postHook"):
        end(state, site, group, group.outcome or "completed", now)


def _earlier_post_hooks_done(state: State, site: Site, group: Group, member: Member) -> bool:
    """Dependencies of post-hooks are waived here, but for those among themselves."""
    names = [m.deployment for m in group.members if m.role == "postHook"]
    after = ordering.downstream_first(state, site, group, names)
    before = [name for name, later in after.items() if member.deployment in later]
    return all((other := group.member(name)) is None or other.state in MEMBER_SETTLED for name in before)


def finish_with(
    state: State,
    site: Site,
    group: Group,
    outcome: Literal["aborted", "rolledBack"],
    now: Instant,
    *,
    post_hooks: bool,
) -> None:
    """Nothing further starts but, if wanted, the post-hooks. What was locked and has not run is given up."""
    state.journal.changed("group", group.id)
    group.phase = "finishing"
    group.outcome = outcome
    group.run_post_hooks = post_hooks
    for member in group.members:
        if running.goes_back_again(state, member):
            running.failed_to_go_back(state, site, group, member, now)
        elif member.role != "postHook" and member.state in ("waiting", "retrying"):
            giving_up.note(state, site, group, member, outcome, group.reason, now)
            running.settle(member, "dropped", now)
        elif member.next_version is not None:
            giving_up.note_next(state, site, group, member, outcome, group.reason, now)
        elif member.role == "postHook" and member.state == "failed" and post_hooks:
            member.state = "waiting"


def has_lost_members(group: Group) -> bool:
    return any(member.left_at is not None for member in group.members)


def end(state: State, site: Site, group: Group, status: GroupStatus, now: Instant) -> None:
    """A group that members left before they were done is never complete."""
    if has_lost_members(group):
        status = "aborted"
    group.completed_at = now
    site.executing = None
    site.resource.upstreams.clear()
    state.executing_at.pop(site.location, None)
    state.groups.pop(group.id, None)
    state.group_changed(group, status, now)
    holds.give_back(state, group)
    _forget_jobs(state, group)
    release_targets.release_members(state, site)
    state.waiting.touch(site)
    state.waiting.happened(wakes.location(*site.location))


def _forget_jobs(state: State, group: Group) -> None:
    """Ended jobs that no target counts as attempts any more are history, which a store keeps."""
    for member in group.members:
        target = state.target_named(f"{member.deployment}/{group.environment}/{group.resource}")
        kept = target.record.attempts if target is not None else []
        for job_id in member.attempts:
            if job_id not in kept:
                state.forget_job(job_id)
