"""Rollback inside a group: members go back to what ran before, in reverse order, on the slot the resource holds."""

from __future__ import annotations

from headgate.fleet.cycles import finishing, giving_up, ordering, running
from headgate.fleet.gates import gates
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import Group, Member
from headgate.fleet.state import candidates, successes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site, Target
from headgate.kernel.instants import Instant


def begin(state: State, site: Site, group: Group, failed: Member, cause: str, now: Instant) -> bool:
    """Whether the strategy puts anything back; if not, the group has failed and waits for a person."""
    strategy = site.rule.spec.rollback_strategy
    if strategy == "halt_and_notify" or failed.role == "postHook":
        return False
    if strategy == "individual" and failed.role != "member":
        return False
    group.phase = "rollingBack"
    group.outcome = "rolledBack"
    group.reason = f"{failed.deployment} {cause}"
    _go_further_back(state, site, group)
    for member in group.members:
        giving_up.note_next(state, site, group, member, "rolledBack", group.reason, now)
    for member in affected(state, site, group):
        successes.lost(state, site.members[member.deployment], member.version)
    return True


def advance(state: State, site: Site, group: Group, now: Instant, blockers: Blockers) -> bool:
    """Whether everything is put back and the rest of the cycle goes on forward."""
    if any(member.state == "running" for member in group.members):
        return False
    _go_further_back(state, site, group)
    done = ("rolledBack", "skipped", "dropped")
    left = [member for member in affected(state, site, group) if member.state not in done]
    after = ordering.downstream_first(state, site, group, [member.deployment for member in left])
    for member in left:
        if member.state == "rollingBack" or after[member.deployment]:
            continue
        if running.goes_back_again(state, member) and not running.is_due(member, now, blockers):
            continue
        result = gates.frozen(state, site.members[member.deployment], now)
        if not result.is_allowed:
            blockers.add(result)
            continue
        if member.state == "failed" and not blockers.is_without_slots:
            site.members[member.deployment].record.rolled_back[member.version or ""] = group.reason
            state.target_changed(site.members[member.deployment])
        running.run(
            state,
            site,
            group,
            member,
            now,
            blockers,
            (result,),
            version_id=member.previous,
            rolling_back=True,
        )
    if left:
        return False
    if site.rule.spec.rollback_strategy == "individual":
        _go_on(group, now)
        state.journal.changed("group", group.id)
        return True
    finishing.finish_with(state, site, group, "rolledBack", now, post_hooks=True)
    finishing.finish(state, site, group, now, blockers)
    return False


def affected(state: State, site: Site, group: Group) -> list[Member]:
    """Members that ran in this group and have a version to go back to; the others are left as they are. What ran with the
    same version before, and has other values now or ran once more, has none: the same again would be no way back."""
    only_failed = site.rule.spec.rollback_strategy == "individual"
    return [
        member
        for member in group.members
        if member.role == "member"
        and member.ran
        and (previous := state.version(member.previous)) is not None
        and previous.id != member.version
        and previous.object.status != "rejected"
        and member.deployment in site.members
        and not _has_replaced_the_unproven(site.members[member.deployment], member)
        and (
            not only_failed
            or member.state in ("failed", "rollingBack", "rolledBack")
            or running.went_back(state, member)
        )
    ]


def _go_further_back(state: State, site: Site, group: Group) -> None:
    """Where what ran before was rejected, the last that ran here and is good takes its place, as outside of cycles."""
    for member in group.members:
        previous, target = state.version(member.previous), site.members.get(member.deployment)
        if not member.ran or previous is None or target is None or previous.object.status != "rejected":
            continue
        other = candidates.last_good(state, target)
        if member.state not in ("rollingBack", "rolledBack") and other is not None:
            member.previous = other.id
            state.journal.changed("group", group.id)


def _has_replaced_the_unproven(target: Target, member: Member) -> bool:
    """What ran before was not known to be good: it may stay where the new job failed, and is not put back once it has
    gone."""
    return member.is_previous_unproven and target.record.deployed != member.previous


def roll_back(state: State, site: Site, group: Group, member: Member, now: Instant) -> None:
    """Only the version that failed is barred; a sibling that was put back with it is a candidate of the next group."""
    running.settle(member, "rolledBack", now)
    target = site.members.get(member.deployment)
    if target is not None and member.version is not None and member.version not in target.record.rolled_back:
        giving_up.note_version(
            state, site, group, member.deployment, member.version, "rolledBack", group.reason, now
        )


def _go_on(group: Group, now: Instant) -> None:
    """The one that failed counts as done, put back or not; the rest of the cycle goes on."""
    group.phase = "forward"
    for member in group.members:
        if member.state == "failed":
            member.state = "skipped"
            member.settled_at = now
