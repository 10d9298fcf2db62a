"""Rollback inside a group: members go back to what ran before, in reverse order, on the slot the resource holds."""

from __future__ import annotations

from headgate.fleet import gates
from headgate.fleet.brackets import finishing, ordering, running
from headgate.fleet.records import Group, Member
from headgate.fleet.state import State
from headgate.fleet.targets import Hindrance
from headgate.fleet.units import Place
from headgate.kernel.instants import Instant


def begin(state: State, place: Place, group: Group, failed: Member) -> bool:
    """Whether the strategy puts anything back; if not, the group has failed and waits for a person."""
    strategy = place.rule.spec.rollback_strategy
    if strategy == "halt_and_notify" or failed.role == "postHook":
        return False
    if strategy == "individual" and failed.role != "member":
        return False
    group.phase = "rollingBack"
    group.outcome = "rolledBack"
    group.reason = f"{failed.deployment} {state.tag(failed.version)} failed"
    return True


def advance(state: State, place: Place, group: Group, now: Instant, hindrance: Hindrance) -> bool:
    """Whether everything is put back and the rest of the cycle goes on forward."""
    if any(member.state == "running" for member in group.members):
        return False
    left = [member for member in affected(state, place, group) if member.state != "rolledBack"]
    after = ordering.downstream_first(state, place, group, [member.deployment for member in left])
    for member in left:
        if member.state == "rollingBack" or after[member.deployment]:
            continue
        one = gates.frozen(state, place.members[member.deployment], now)
        if not one.is_allowed:
            hindrance.add(one)
            continue
        place.members[member.deployment].record.spent[member.version or ""] = "rolledBack"
        running.run(state, place, group, member, now, (one,), version_id=member.previous, rolling_back=True)
    if left:
        return False
    if place.rule.spec.rollback_strategy == "individual":
        _go_on(group, now)
        return True
    finishing.finish_with(group, "rolledBack", post_hooks=True)
    finishing.finish(state, place, group, now, hindrance)
    return False


def affected(state: State, place: Place, group: Group) -> list[Member]:
    """Members that ran in this group and have a version to go back to; the others are left as they are."""
    only_failed = place.rule.spec.rollback_strategy == "individual"
    return [
        member
        for member in group.members
        if member.role == "member"
        and member.ran
        and member.previous is not None
        and member.previous in state.versions
        and member.deployment in place.members
        and (not only_failed or member.state in ("failed", "rollingBack", "rolledBack"))
    ]


def _go_on(group: Group, now: Instant) -> None:
    """The one that failed counts as done, put back or not; the rest of the cycle goes on."""
    group.phase = "forward"
    for member in group.members:
        if member.state == "failed":
            member.state = "skipped"
            member.settled_at = now
