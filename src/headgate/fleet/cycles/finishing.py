"""The end of a group: what still has to run before it, and what is given back with it."""

from __future__ import annotations

from typing import Literal

from headgate.fleet.cycles import giving_up, ordering, running
from headgate.fleet.gates import gates
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import MEMBER_SETTLED, Group, GroupStatus, Member
from headgate.fleet.state import holds, release_targets, wakes
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Site
from headgate.kernel import decisions
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant


def finish(state: State, site: Site, group: Group, now: Instant, blockers: Blockers) -> None:
    """Waits for what still runs, runs the post-hooks if they are to run, and ends the group as ordered."""
    if any(member.state in ("running", "rollingBack") for member in group.members):
        return
    left = [m for m in group.members if m.role == "postHook" and m.state in ("waiting", "retrying")]
    for member in left:
        result = gates.frozen(state, site.members[member.deployment], now)
        if not group.run_post_hooks:
            running.set_aside(state, site, member, "dropped", now)
        elif member.state == "retrying" and not running.is_due(member, now, blockers):
            continue
        elif not result.is_allowed:
            blockers.add(result)
        elif held := ordering.paused(state, member):
            blockers.add(held[0])
        elif not _post_hooks_before(state, site, group, member):
            running.run(state, site, group, member, now, blockers, (result,))
    if all(m.state not in ("waiting", "retrying", "running") for m in group.members if m.role == "postHook"):
        end(state, site, group, group.outcome or "completed", now)


def verdict_of(state: State, site: Site, group: Group, member: Member) -> GateResult:
    """What a post-hook of a group that is being ended waits for: whatever still runs, and post-hooks before it."""
    left = [one for one in group.members if one.state in ("running", "rollingBack")]
    left += [one for one in _post_hooks_before(state, site, group, member) if one not in left]
    if left:
        left_over = ", ".join(f"{one.deployment} ({ordering.status_of(state, one)})" for one in left)
        verdict = decisions.pending(
            Reason.AWAITING_CYCLE, f"waits for the end of what still runs in this group: {left_over}"
        )
    else:
        verdict = decisions.allowed("nothing else runs in this group any more")
    return GateResult(site.rule, site.rule.kind, verdict, (wakes.resource(site.resource.name),))


def _post_hooks_before(state: State, site: Site, group: Group, member: Member) -> list[Member]:
    """Dependencies of post-hooks are waived here, but for those among themselves."""
    names = [m.deployment for m in group.members if m.role == "postHook"]
    after = ordering.downstream_first(state, site, group, names)
    before = [group.member(name) for name, later in after.items() if member.deployment in later]
    return [other for other in before if other is not None and other.state not in MEMBER_SETTLED]


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
            running.set_aside(state, site, member, "dropped", now)
        elif member.next_version is not None:
            giving_up.note_next(state, site, group, member, outcome, group.reason, now)
        elif member.role == "postHook" and member.state == "failed" and post_hooks:
            member.state = "waiting"


def has_lost_members(group: Group) -> bool:
    return any(member.left_at is not None for member in group.members)


def _has_gone_back(group: Group) -> bool:
    return any(member.state == "rolledBack" and member.kind == "rollback" for member in group.members)


def end(state: State, site: Site, group: Group, status: GroupStatus, now: Instant) -> None:
    """A group that members left before they were done is never complete, and one of whose members went back is rolled back,
    unless that is all that it was for."""
    if has_lost_members(group):
        status = "aborted"
    elif status == "completed" and not group.without_window and _has_gone_back(group):
        status = "rolledBack"
    group.completed_at = now
    site.executing = None
    site.resource.order = None
    state.executing_at.pop(site.location, None)
    state.groups.pop(group.id, None)
    state.group_changed(group, status, now)
    holds.give_back(state, group)
    _forget_jobs(state, group)
    release_targets.release_members(state, site)
    state.waiting.touch(site)
    state.waiting.happened(wakes.site(*site.location))


def _forget_jobs(state: State, group: Group) -> None:
    """Ended jobs that no target counts as attempts any more are history, which a store keeps."""
    for member in group.members:
        target = state.target_named(f"{member.deployment}/{group.environment}/{group.resource}")
        kept = target.record.attempts if target is not None else []
        for job_id in member.attempts:
            if job_id not in kept:
                state.forget_job(job_id)
