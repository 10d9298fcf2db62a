"""Members whose targets go while their group is under way: they leave it, the others go on, the resource comes back."""

from __future__ import annotations

from headgate.fleet.cycles import finishing, running
from headgate.fleet.model.records import MEMBER_SETTLED, Group
from headgate.fleet.state import membership
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site
from headgate.kernel.instants import Instant


def target_left(state: State, site: Site, deployment: str, now: Instant) -> None:
    """Also while it ran or was verified: its job is cancelled, and nothing of it is waited for.

    Without what a pre-hook was to prepare nothing else runs: then the group only ends. One that has done its work, and
    was only verified, has prepared the resource.
    """
    group = site.executing
    member = group.member(deployment) if group is not None else None
    if group is None or member is None or member.left:
        return
    member.left = True
    state.journal.changed("group", group.id)
    state.waiting.touch(site)
    if member.state in MEMBER_SETTLED:
        return
    running.settle(member, "succeeded" if membership.has_prepared(state, member) else "dropped", now)
    member.left_at = now
    member.next_version = member.next_locked_at = member.retry_at = None
    member.note = f"{deployment} is no longer a release target on {group.resource}"
    group.reason = group.reason or member.note
    if group.status == "failed" and not any(one.state == "failed" for one in group.members):
        group.failed_at = None
        group.stuck = False
        state.group_changed(group, "executing", now)
    if member.role == "preHook" and group.phase == "forward":
        break_off(state, site, group, now)


def is_broken_off(group: Group) -> bool:
    """Somebody left, and everyone else but the post-hooks is done."""
    return finishing.has_lost_members(group) and all(
        member.state in MEMBER_SETTLED for member in group.members if member.role != "postHook"
    )


def break_off(state: State, site: Site, group: Group, now: Instant) -> None:
    finishing.finish_with(state, site, group, "aborted", now, post_hooks=membership.is_prepared(state, group))
