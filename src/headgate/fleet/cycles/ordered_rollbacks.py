"""What a person orders back of a cycle that has failed: it goes in that cycle, not in line behind it.

The resource is prepared and holds its slot. Whoever is named goes back, nobody else; when nothing that failed is left,
the cycle goes on as after a rollback by rule.
"""

from __future__ import annotations

from headgate.fleet.cycles import finishing, giving_up, locking
from headgate.fleet.model.records import Group, Member
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site
from headgate.kernel.instants import Instant

_AHEAD = ("waiting", "retrying", "running")


def take_in(state: State, site: Site, due: locking.OwnCycle, now: Instant) -> locking.OwnCycle:
    """Whatever of the due cycles is left for a group of its own."""
    group = site.executing
    if group is None or not _is_left_prepared(group):
        return due
    left: locking.OwnCycle = {}
    for name, (version, kind) in due.items():
        member = group.member(name)
        if kind != "rollback" or member is None or not _has_run(member):
            left[name] = (version, kind)
            continue
        giving_up.note_next(state, site, group, member, "rolledBack", _cause(site, member), now)
        member.version = member.previous = version
        member.locked_at = now
        member.kind = "rollback"
        member.state = "waiting"
        member.retry_at = None
        state.journal.changed("group", group.id)
        locking.order_taken(state, site, name)
    return left


def _is_left_prepared(group: Group) -> bool:
    """It failed between its hooks, and nobody has ended it."""
    hooks = [member for member in group.members if member.role == "postHook"]
    return (
        group.status == "failed"
        and group.phase == "forward"
        and all(member.state == "waiting" for member in hooks)
    )


def _has_run(member: Member) -> bool:
    is_ordered_anew = member.kind == "rollback" and member.state == "waiting"
    return member.role == "member" and member.ran and (member.state not in _AHEAD or is_ordered_anew)


def _cause(site: Site, member: Member) -> str:
    return site.members[member.deployment].record.rollback_cause


def is_about(group: Group) -> bool:
    """Whether a failed group has somebody to put back, or has done so with everything that failed."""
    has_any = any(member.kind == "rollback" and member.ran for member in group.members)
    return group.phase == "forward" and has_any and (bool(ahead(group)) or not _has_failures(group))


def ahead(group: Group) -> list[Member]:
    """Those that are still to go back, or do so now."""
    return [
        member
        for member in group.members
        if member.kind == "rollback" and member.ran and member.state in _AHEAD
    ]


def go_on(state: State, site: Site, group: Group, now: Instant) -> None:
    """Once everything that failed is put back: what has not run yet is what the strategy decides about."""
    if ahead(group) or _has_failures(group):
        return
    group.failed_at = None
    group.stuck = False
    group.outcome = "rolledBack"
    state.group_changed(group, "executing", now)
    if site.rule.spec.rollback_strategy != "individual":
        finishing.finish_with(state, site, group, "rolledBack", now, post_hooks=True)


def _has_failures(group: Group) -> bool:
    return any(member.state == "failed" for member in group.members)
