"""`overlapStrategy: merge`: a group that becomes ready joins the one that has already prepared the resource."""

from __future__ import annotations

from headgate.fleet.cycles import locking, prerequisites, readiness, running
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import Group, Member
from headgate.fleet.rules import always_on
from headgate.fleet.state import holds, wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site
from headgate.kernel.instants import Instant


def try_to_join(state: State, site: Site, group: Group, now: Instant, blockers: Blockers) -> bool:
    """Its rollout position is waived; windows, gates and budgets are not. A freeze holds jobs, not the joining."""
    host = site.executing
    spec = site.rule.spec
    if host is None or spec.overlap_strategy != "merge" or not spec.prepared_state_persists:
        return False
    if (
        not is_prepared(host)
        or not _has_the_same_hooks(host, group)
        or _waits_for_a_bad_one(state, host, group)
        or not prerequisites.are_met_in(state, site, host, group)
    ):
        return False
    for result in readiness.joining_verdicts(state, site, host, group, now):
        if not result.is_allowed and result.kind != always_on.FREEZE:
            blockers.add(result)
            return False
    if not host.slot_released and not _takes_slots(state, site, host, group, now, blockers):
        return False
    for member in group.members:
        is_redeploy_of_unchanged = member.kind == "redeploy" and not group.without_window
        if member.role == "member" and member.state == "waiting" and not is_redeploy_of_unchanged:
            _join(state, site, host, member)
    site.waiting = None
    locking.unlock_hooks(state, site, group)
    locking.end_unstarted(state, group, "merged", f"joined {host.id}", now, merged_into=host.id)
    state.journal.changed("group", host.id)
    state.waiting.touch(site)
    return True


def _takes_slots(
    state: State, site: Site, host: Group, group: Group, now: Instant, blockers: Blockers
) -> bool:
    """Of the rules that cover what joins. A host that has lost its slot takes all of them anew when it goes on."""
    tables = readiness.tables_of(state, site, group)
    missing = holds.lacking(state, tables, site.resource.name, readiness.runners(state, site, group), now)
    blockers.watch(*(wakes.slots(table.rule.id) for table in missing))
    if not missing:
        holds.take_for_group(state, tables, host, now)
    return not missing


def is_prepared(host: Group) -> bool:
    """Between the last pre-hook's success and the first post-hook's start, with nothing failed."""
    if host.status != "executing" or host.phase != "forward":
        return False
    for member in host.members:
        if member.role == "preHook" and member.state != "succeeded":
            return False
        if member.role == "postHook" and member.state != "waiting":
            return False
    return True


def _has_the_same_hooks(host: Group, group: Group) -> bool:
    """A bracket may have been edited since the host was locked: without the group's own hooks the resource is not
    prepared for it, and what was a hook there has run in this cycle already."""
    roles = {member.deployment: member.role for member in host.members}
    return all(roles.get(member.deployment, "member") == member.role for member in group.members)


def _waits_for_a_bad_one(state: State, host: Group, group: Group) -> bool:
    """A version that was rejected while it runs here stays if it succeeds, and is left if it fails: only then it is known
    whether what stands below it is wanted. To join would be to forget that."""
    for newcomer in group.members:
        member = host.member(newcomer.deployment)
        if (
            newcomer.kind != "deploy"
            or newcomer.state != "waiting"
            or member is None
            or member.state != "running"
        ):
            continue
        ours = state.version(member.version)
        if ours is not None and ours.object.status == "rejected" and _is_older(state, newcomer, member):
            return True
    return False


def _join(state: State, site: Site, host: Group, newcomer: Member) -> None:
    """A lock that has not started is replaced, one that runs is followed, one that is done runs anew."""
    member = host.member(newcomer.deployment)
    if member is None:
        member = Member(newcomer.deployment, "member")
        target = site.members.get(newcomer.deployment)
        if target is not None:
            running.note_previous(member, target)
        host.members.append(member)
    member.left = False
    if _is_older(state, newcomer, member):
        return
    if newcomer.kind in ("variable", "redeploy") and _has_lock(state, member):
        _run_once_more(member, newcomer)
        return
    if member.state == "running":
        member.next_version = newcomer.version
        member.next_locked_at = newcomer.locked_at
        return
    if member.state == "retrying" and newcomer.version == member.version:
        return
    _lock_anew(member, newcomer, newcomer.version)


def _is_older(state: State, newcomer: Member, member: Member) -> bool:
    """What the host has locked meanwhile is newer: it stays. What runs in it may be left for something older only if it
    goes back, what has not run also if it is withdrawn."""
    theirs, ours = state.version(newcomer.version), state.version(member.version)
    following = state.version(member.next_version)
    if newcomer.kind != "deploy" or theirs is None:
        return False
    has_run = member.state in ("running", "succeeded")
    if ours is not None and theirs.sort_key < ours.sort_key:
        return not ours.goes_back if has_run else ours.is_ready
    return following is not None and following.is_ready and theirs.sort_key < following.sort_key


def _has_lock(state: State, member: Member) -> bool:
    """What was withdrawn before it ran is no lock any more: it would be dropped again, and the values with it. Nor is what
    was dropped, skipped or put back: somebody or something has decided against it."""
    ours = state.version(member.version)
    if ours is None:
        return False
    return member.state in ("running", "succeeded") or (
        ours.is_ready and member.state in ("waiting", "retrying")
    )


def _run_once_more(member: Member, newcomer: Member) -> None:
    """Changed values, or an ordered redeploy, run with the newest lock of the host, never with what ran before it."""
    if member.state == "running":
        member.next_version = member.next_version or member.version
        member.next_locked_at = member.next_locked_at or newcomer.locked_at
    elif member.state not in ("waiting", "retrying"):
        _lock_anew(member, newcomer, member.version)


def _lock_anew(member: Member, newcomer: Member, version: str | None) -> None:
    member.version = version
    member.locked_at = newcomer.locked_at
    member.kind = newcomer.kind
    member.state = "waiting"
    member.attempts = []
    member.retry_at = None
    member.next_version = None
    member.next_locked_at = None
