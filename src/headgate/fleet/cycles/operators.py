"""What people order for the unfinished group of a site: retry, skip a member, abort, release its slot."""

from __future__ import annotations

from headgate.fleet.cycles import collecting, cycle, finishing, giving_up, locking, running
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.changes import GroupAction, GroupOrder
from headgate.fleet.model.records import MEMBER_SETTLED, Group, Member
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected


def act(state: State, change: GroupAction, now: Instant) -> None:
    site, group = _site_and_group(state, change)
    match change.action:
        case "retry":
            _retry(state, site, group, change, now)
        case "skipMember":
            _skip_member(state, site, group, change, now)
        case "abort":
            _abort(state, site, group, change, now)
        case "release":
            _check_started(group)
            cycle.release_slot(state, group)
    if group.status == "failed" and change.action in ("retry", "skipMember", "abort"):
        _resume(state, group, now)
    state.journal.changed("group", group.id)
    state.waiting.touch(site)


def refusal(state: State, site: Site, group: Group, action: GroupOrder, now: Instant) -> str | None:
    """Why the order would be refused; None if it would be carried out."""
    try:
        if action == "retry":
            _tried_again(state, site, group, None, now)
        elif action == "release":
            _check_started(group)
    except Rejected as refused:
        return refused.problems[0].message
    return None


def _check_started(group: Group) -> None:
    if group.started_at is None:
        raise _refused("action", "release is for a group that has started; this one holds no slot")


def _site_and_group(state: State, change: GroupAction) -> tuple[Site, Group]:
    """By id, or the group of the site that is furthest on its way."""
    groups: list[tuple[Site, Group]] = []
    for site in state.sites.values():
        if change.group is None and (
            site.resource.name != change.resource
            or (change.environment is not None and site.environment.name != change.environment)
        ):
            continue
        for group in site.groups():
            if change.group in (None, group.id):
                groups.append((site, group))
                break
    if not groups:
        where = (
            change.group or f"{change.resource or 'no resource'} in {change.environment or 'any environment'}"
        )
        raise _refused("group", f"there is no unfinished group of {where}")
    if len({site.key for site, _ in groups}) > 1:
        raise _refused("environment", "several groups match; name the environment or the group")
    return groups[0]


def _retry(state: State, site: Site, group: Group, change: GroupAction, now: Instant) -> None:
    for member in _tried_again(state, site, group, change.member, now):
        member.state = "waiting"
        member.retry_at = None
        member.attempts = member.attempts[-1:]


def _tried_again(state: State, site: Site, group: Group, name: str | None, now: Instant) -> list[Member]:
    """All that failed and can be, or the one of that name."""
    failed = [
        m
        for m in group.members
        if m.state in ("failed", "retrying")
        and name in (None, m.deployment)
        and (group.phase != "finishing" or m.role == "postHook")
    ]
    if not failed:
        raise _refused("action", "retry is for a group with a failed member; this one has none")
    problems = {
        member.deployment: _why_not(state, site, group, member, now, is_alone=name is not None)
        for member in failed
    }
    able = [member for member in failed if problems[member.deployment] is None]
    if not able:
        raise _refused("action", "; ".join(problem for problem in problems.values() if problem is not None))
    return able


def _why_not(
    state: State, site: Site, group: Group, member: Member, now: Instant, *, is_alone: bool
) -> str | None:
    alone = why_not_alone(group, member) if is_alone else None
    return alone or why_not_again(state, site, group, member, now)


def why_not_alone(group: Group, member: Member) -> str | None:
    """Why the member is not tried again without the others: as long as one has failed, the group starts nothing but what
    was ordered back."""
    if member.kind == "rollback":
        return None
    others = [m.deployment for m in group.members if m.state == "failed" and m is not member]
    if group.status != "failed" or group.phase != "forward" or not others:
        return None
    return (
        f"{' and '.join(others)} failed too, and nothing starts as long as one has; retry the group {group.id}, "
        "or skip the others first"
    )


def roll_back_again(state: State, group: Group, member: Member, to: str, user: str, now: Instant) -> None:
    """Its way back has failed in the group: the same again, or further back."""
    member.previous = to
    if member.kind == "rollback":
        member.version = to
    act(state, GroupAction("retry", group=group.id, member=member.deployment, user=user), now)


def why_not_again(state: State, site: Site, group: Group, member: Member, now: Instant) -> str | None:
    """Why the group does not try the member again, and what can be done instead: what was withdrawn starts no more, and to
    go on over its failure is a decision of its own. A hook takes another version; what was to go back leaves its own."""
    target = site.members.get(member.deployment)
    if running.went_back(state, member):
        return None
    if group.phase == "rollingBack":
        return f"group {group.id} goes back; retry {member.deployment} when it has"
    if target is None or member.role != "member":
        return None
    why = locking.withdrawn(state, target, member, now, Blockers())
    if why is None:
        return None
    return (
        f"{member.deployment} cannot be tried again, {why}; skip the member or abort the group, "
        "a newer version then runs with the next group"
    )


def _skip_member(state: State, site: Site, group: Group, change: GroupAction, now: Instant) -> None:
    member = group.member(change.member or "")
    if member is None:
        names = ", ".join(sorted(m.deployment for m in group.members)) or "none before the window closes"
        raise _refused("member", f"is {change.member!r}; allowed are the group's members: {names}")
    if member.state in ("running", "rollingBack"):
        raise _refused("member", f"{member.deployment} is running; wait for its job to end")
    if member.state in MEMBER_SETTLED and group.phase != "rollingBack":
        raise _refused(
            "member", f"{member.deployment} is {member.state}; there is nothing of it left to skip"
        )
    if running.goes_back_again(state, member):
        running.failed_to_go_back(state, site, group, member, now)
    elif member.state in ("waiting", "retrying"):
        giving_up.note(state, site, group, member, "skipped", _by("skipped", change), now)
    running.set_aside(state, site, member, "skipped", now)
    member.next_version = None


def _by(what: str, change: GroupAction) -> str:
    return f"{what} by {change.user or 'an operator'}"


def _abort(state: State, site: Site, group: Group, change: GroupAction, now: Instant) -> None:
    group.reason = _by("aborted", change)
    if group.started_at is not None:
        finishing.finish_with(state, site, group, "aborted", now, post_hooks=change.post_hooks)
        return
    for member in group.members:
        giving_up.note(state, site, group, member, "aborted", group.reason, now)
        if member.role == "member" and member.version is not None:
            site.record.watermarks.setdefault(member.deployment, member.version)
    state.journal.changed("place", *site.key)
    if site.waiting is group:
        site.waiting = None
    if site.collecting is group:
        _give_up_collecting(state, site, group, now)
        site.collecting = None
    locking.end_unstarted(state, group, "aborted", group.reason, now)


def _give_up_collecting(state: State, site: Site, group: Group, now: Instant) -> None:
    """What was collected opens no window again: only newer versions open the next one."""
    for name, versions in collecting.fresh_versions(state, site).items():
        site.record.watermarks[name] = versions[0].id
        giving_up.note_version(state, site, group, name, versions[0].id, "aborted", group.reason, now)


def _resume(state: State, group: Group, now: Instant) -> None:
    if any(member.state == "failed" for member in group.members) and group.phase == "forward":
        return
    group.failed_at = None
    group.stuck = False
    state.group_changed(group, "executing", now)


def _refused(path: str, message: str) -> Rejected:
    return Rejected((Problem(path, message),))
