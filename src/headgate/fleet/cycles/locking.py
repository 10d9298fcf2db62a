"""At the close of a window: which version each member gets, fixed from then on.

A cycle brings its resource to versions that were allowed together; what is published later is for another group.
"""

from __future__ import annotations

from headgate.fleet import rules
from headgate.fleet.cycles import choosing, giving_up, jobs, prerequisites, running, shape
from headgate.fleet.cycles.choosing import Locks
from headgate.fleet.cycles.targets import has_failed
from headgate.fleet.gates import dependencies, gates
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import MEMBER_UNDER_WAY, Group, GroupStatus, JobKind, Member
from headgate.fleet.state import candidates, rollbacks, variables, wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site, Target, VersionNode
from headgate.kernel.instants import Instant

OwnCycle = dict[str, tuple[str, JobKind]]
"""What a cycle without a window runs: deployment to version id and kind of job."""


def lock(
    state: State,
    site: Site,
    group: Group,
    locks: Locks,
    hooks: Locks,
    clock_start: Instant,
    now: Instant,
    *,
    own_cycle: OwnCycle | None = None,
) -> None:
    """Fixes membership and versions; a waiting group gives way and hands over its locks and its clock. Where they would hold
    a repair, they count as never locked here instead, and become new again."""
    superseded = site.waiting
    ready_at = now
    group.members = [
        _member(state, site, name, locks, hooks, now, own_cycle or {})
        for name, target in sorted(site.members.items())
        if site.is_home_of(target)
    ]
    if superseded is not None and _goes_alone(state, site, group) and not superseded.without_window:
        for old in superseded.members:
            if old.kind in ("deploy", "hook") and old.state == "waiting":
                unlock(state, site, old)
    elif superseded is not None:
        _carry_over(state, site, superseded, group)
        if superseded.clock_start is not None and not superseded.without_window:
            clock_start = superseded.clock_start
        ready_at = superseded.ready_at or now
        group.without_window = group.without_window and superseded.without_window
    for name, version in {**locks, **hooks}.items():
        member = group.member(name)
        assert member is not None
        _note_lock(state, site, member, version)
        giving_up.taken_up(state, site, name, version.id)
    for member in group.members:
        if member.state == "waiting" and member.kind in ("variable", "redeploy"):
            giving_up.values_taken_up(state, site.members[member.deployment])
    group.locked_at = now
    group.ready_at = ready_at
    group.clock_start = clock_start
    site.collecting = None if site.collecting is group else site.collecting
    site.waiting = group
    state.journal.changed("place", *site.key)
    if superseded is not None:
        end_unstarted(state, superseded, "superseded", f"superseded by {group.id}", now)
    state.group_changed(group, "ready", now)


def repair_ahead(state: State, site: Site) -> Group | None:
    """The waiting group, if what is new waits until it has started."""
    waiting = site.waiting
    return waiting if waiting is not None and _goes_alone(state, site, waiting) else None


def _goes_alone(state: State, site: Site, group: Group) -> bool:
    """A repair goes first. Where something new would have a turn, a gate, a budget or an upstream outside the bracket to wait
    for, or may be denied after it was locked, they do not share a cycle."""
    return _is_repair(state, site, group) and any(
        _may_be_held(site, target) for target in site.members.values()
    )


_MAY_HOLD = rules.specs_with(lambda traits: traits.may_hold_a_lock)


def _may_be_held(site: Site, target: Target) -> bool:
    if any(target.rules.of(spec) for spec in _MAY_HOLD):
        return True
    return any(upstream.site is not site for upstream in dependencies.all_upstreams(target))


def _is_repair(state: State, site: Site, group: Group) -> bool:
    """Whether it goes back or deploys again: as a person has ordered, as a rule asks, or because what runs was rejected."""
    return group.without_window and any(
        member.kind in ("rollback", "redeploy") or _is_behind_what_was_rejected(state, site, member)
        for member in group.members
        if member.role == "member" and member.state == "waiting"
    )


def _is_behind_what_was_rejected(state: State, site: Site, member: Member) -> bool:
    target, version = site.members.get(member.deployment), state.version(member.version)
    runs = candidates.deployed_version(state, target) if target is not None else None
    return runs is not None and version is not None and runs.goes_back and version.sort_key < runs.sort_key


def _note_lock(state: State, site: Site, member: Member, version: VersionNode) -> None:
    """From here on the version is not new in this site: a hook's neither, which may be an ordinary member by the next
    edit of the rule."""
    name = member.deployment
    member.watermark_before = site.record.watermarks.get(name)
    deployed = candidates.deployed_version(state, site.members[name])
    if deployed is not None and deployed.goes_back:
        site.record.backs[name] = (deployed.id, version.id)
    watermark = state.version(site.record.watermarks.get(name))
    if watermark is None or watermark.object.status == "rejected" or version.sort_key > watermark.sort_key:
        site.record.watermarks[name] = version.id


def _member(
    state: State,
    site: Site,
    name: str,
    locks: Locks,
    hooks: Locks,
    now: Instant,
    own_cycle: OwnCycle,
) -> Member:
    role = shape.of_site(site).roles[name]
    record = site.members[name].record
    if name in hooks:
        return Member(name, role, hooks[name].id, now, kind="hook")
    if name in locks:
        return Member(name, role, locks[name].id, now)
    if name in own_cycle:
        version, kind = own_cycle[name]
        return Member(name, role, version, now, kind=kind)
    redeploys = site.rule.spec.unchanged_member_strategy == "redeploy_current" and not own_cycle
    if redeploys and record.deployed is not None:
        return Member(name, role, record.deployed, now, kind="redeploy")
    if role == "member" and giving_up.values_of(state, site.members[name]) is not None:
        return Member(name, role, record.deployed, now, kind="variable")
    return Member(name, role, state="unchanged")


def _carry_over(state: State, site: Site, superseded: Group, group: Group) -> None:
    """What does not counts as never locked here: the group never came to run it, and it may become new again.

    What the group has dropped is not taken up again: it would be dropped once more, and what was to run in its place would
    be due once more, without end."""
    for old in superseded.members:
        if old.state == "dropped":
            continue
        member = group.member(old.deployment)
        version = state.version(old.version)
        takes_it = member is not None and (
            member.state == "unchanged" or member.kind in ("redeploy", "variable")
        )
        is_ordered = old.kind == "redeploy" and superseded.without_window
        is_of_use = is_ordered or old.kind in ("deploy", "variable", "rollback")
        is_kept = version is not None and version.is_ready and is_of_use
        if member is not None and takes_it and is_kept:
            member.version = old.version
            member.locked_at = old.locked_at
            member.watermark_before = old.watermark_before
            member.state = "waiting"
            member.kind = old.kind
        elif old.kind in ("deploy", "hook"):
            unlock(state, site, old)


def end_unstarted(
    state: State,
    group: Group,
    status: GroupStatus,
    reason: str,
    now: Instant,
    *,
    merged_into: str | None = None,
) -> None:
    group.reason = reason
    group.completed_at = now
    group.merged_into = merged_into
    state.groups.pop(group.id, None)
    state.group_changed(group, status, now)


def drop_withdrawn(state: State, site: Site, group: Group, now: Instant, blockers: Blockers) -> None:
    """A locked version that was withdrawn before its job started leaves the group, and so does one that is older than what
    has come to run meanwhile, or runs and does not go back any more.

    A hook runs in every cycle: it takes its newest allowed version instead, and is waited for if it has none. In a cycle
    that has started it stays what it was.
    """
    for member in group.members:
        is_going_back = group.phase == "rollingBack" and member.ran
        if member.state not in ("waiting", "retrying") or is_going_back:
            continue
        target = site.members.get(member.deployment)
        if target is None:
            _drop(state, site, group, member, f"{member.deployment} is no longer a member here", now)
            continue
        version = state.version(member.version)
        is_started, is_hook = group.started_at is not None, member.role != "member"
        why = withdrawn(state, target, member, now, blockers, is_started_hook=is_started and is_hook)
        is_not_ready = version is None or (not version.is_ready and not is_started)
        if is_hook and (why is not None or is_not_ready):
            _take_newest_hook(state, site, target, group, member, now, blockers)
        elif version is None or why is not None:
            _drop(state, site, group, member, why or "", now)
            if member.kind == "rollback":
                jobs.go_further_back(state, target, member.version)
        elif is_not_ready and member.kind == "deploy":
            _drop(state, site, group, member, f"{version.tag} is {version.object.status}", now)
        elif _is_older_than_what_runs(state, target, member, version):
            if member.role == "member":
                runs = state.tag(target.record.deployed)
                _drop(state, site, group, member, f"{version.tag} is older than {runs}, which runs now", now)
            elif group.started_at is None:
                _take_newest_hook(state, site, target, group, member, now, blockers)


def drop_dependents(state: State, site: Site, group: Group, now: Instant, blockers: Blockers) -> None:
    """A lock that depended on another one of the group goes with it, and so on from one to the next. A hook takes the
    newest version that does without, as long as nothing has started."""
    if not prerequisites.has_any(state, group):
        return
    while lost := prerequisites.first_lost(state, site, group):
        _drop(state, site, group, *lost, now)
    if any(prerequisites.verdict_of(state, site, group, member) is not None for member in group.members):
        blockers.watch(wakes.resource(site.resource.name))
    for member in group.members if group.started_at is None else ():
        target = site.members.get(member.deployment)
        if target is not None and prerequisites.is_hook_lost(state, site, group, member):
            _take_newest_hook(state, site, target, group, member, now, blockers)


def withdrawn(
    state: State,
    target: Target,
    member: Member,
    now: Instant,
    blockers: Blockers,
    *,
    is_started_hook: bool = False,
) -> str | None:
    """Why what the member has locked starts here no more; and whom to ask for their approval, if it is that. A hook of a
    cycle that has started runs there in any case, whoever it is meant for since: the resource is to come back."""
    why = candidates.withdrawn(state, target, member.version, "redeploy" if is_started_hook else member.kind)
    version = state.version(member.version)
    if why is not None or version is None:
        return why
    if member.kind not in ("deploy", "hook"):
        return None
    # Since it was locked, with people's approval of what it was; of what it is they may still have to approve.
    is_edited = (version.object.updated_at or 0) >= (member.locked_at or 0)
    for judged in gates.of_people(state, target, version, now):
        if gates.is_veto(judged):
            return f"{version.tag} was vetoed"
        if is_edited and judged.request is not None:
            blockers.ask(judged.request)
            return f"{version.tag} was changed after it was approved"
        if "skip" in judged.verdict.details:
            # It hides what people said only as long as it is in force.
            blockers.add(judged)
    return None


def _is_older_than_what_runs(state: State, target: Target, member: Member, version: VersionNode) -> bool:
    """Something newer has run while the group waited: nothing goes back by itself, hooks included."""
    watermark = candidates.watermark_of(state, target)
    return member.kind in ("deploy", "hook") and watermark is not None and version.sort_key < watermark


def _take_newest_hook(
    state: State,
    site: Site,
    target: Target,
    group: Group,
    member: Member,
    now: Instant,
    blockers: Blockers,
) -> None:
    version = choosing.newest_hook(state, target, now, blockers)
    wanted = version.id if version is not None else None
    if wanted != member.version:
        unlock(state, site, member)
        member.version = wanted
        member.locked_at = now if version is not None else None
        if version is not None:
            _note_lock(state, site, member, version)
            state.journal.changed("place", *site.key)
        state.journal.changed("group", group.id)
    if version is None:
        blockers.watch(wakes.versions(member.deployment))


def missing_hooks(group: Group) -> list[str]:
    """Hooks that are still to run and have no allowed version at the moment."""
    return [
        member.deployment
        for member in group.members
        if member.kind == "hook" and member.state == "waiting" and member.version is None
    ]


def _drop(state: State, site: Site, group: Group, member: Member, note: str, now: Instant) -> None:
    """The version may become new here again, if what was held against it is taken back; and so may an older one."""
    state.waiting.touch(site)
    unlock(state, site, member)
    running.set_aside(state, site, member, "dropped", now)
    member.note = note
    state.journal.changed("group", group.id)


def unlock(state: State, site: Site, member: Member) -> None:
    """As if the member's version had not been locked here: it counts as new again, where a window can open."""
    if member.version is None or site.record.watermarks.get(member.deployment) != member.version:
        return
    if member.watermark_before is None:
        del site.record.watermarks[member.deployment]
    else:
        site.record.watermarks[member.deployment] = member.watermark_before
    state.journal.changed("place", *site.key)


def unlock_hooks(state: State, site: Site, group: Group) -> None:
    """Of a group that ends before it starts, and that nobody has decided against."""
    for member in group.members:
        if member.kind == "hook":
            unlock(state, site, member)


def mark_unchanged(state: State, site: Site, group: Group) -> None:
    """Judged when the group starts: what already runs here, with the same variables, is not run again."""
    for member in group.members:
        record = site.members[member.deployment].record if member.deployment in site.members else None
        if record is not None and member.kind in ("redeploy", "variable"):
            member.version = record.deployed
        if record is None or member.state != "waiting" or member.kind not in ("deploy", "variable"):
            continue
        if record.deployed == member.version and variables.are_same(
            record.deployed_variables, variables.resolve(state, site.members[member.deployment])
        ):
            member.state = "unchanged"


def due_without_a_window(state: State, site: Site, members: shape.Shape) -> OwnCycle:
    """Members that run at once: their variables changed, or an operator ordered it; not if a group is about to.

    What was ordered for a deployment that is a hook now is off: hooks run with the cycle, not by themselves.
    """
    cycle_of_its_own: OwnCycle = {}
    for name in members.hooks:
        record = site.members[name].record
        if record.ordered is not None or record.rollback_to is not None:
            order_taken(state, site, name)
    targets_here = site.members
    for name in members.others:
        target = targets_here[name]
        record = target.record
        if record.given_up_values is not None:
            giving_up.forget_other_values(state, target)
        if record.deployed is None or record.job is not None or not site.is_home_of(target):
            continue
        if not is_in_started_group(site, name):
            jobs.reconsider_failure(state, target)
        jobs.reconsider_orders(state, target)
        if record.rollback_to is not None:
            way = rollbacks.kind_of(state, target, state.versions[record.rollback_to])
            cycle_of_its_own[name] = (record.rollback_to, "rollback" if way == "rollback" else "deploy")
        elif record.ordered == "redeploy":
            cycle_of_its_own[name] = (record.deployed, "redeploy")
        elif _has_changed_variables(state, site, target):
            cycle_of_its_own[name] = (record.deployed, "variable")
    return cycle_of_its_own


def rollbacks_due(state: State, site: Site) -> Locks:
    """Members whose version was rejected and is to go back, and for which no group has locked anything since: what ran there
    before."""
    locks: Locks = {}
    for name in shape.of_site(site).others if state.going_back else ():
        target = site.members[name]
        runs = candidates.deployed_version(state, target)
        if runs is None or not runs.goes_back or not site.is_home_of(target):
            continue
        back = candidates.rollback_version(state, target)
        is_taken = back is None or site.record.backs.get(name) == (runs.id, back.id)
        is_ordered = target.record.job is not None or target.record.rollback_to is not None
        if back is not None and not is_taken and not is_ordered and not _is_about_to_leave(state, site, name):
            locks[name] = back
    return locks


def _is_about_to_leave(state: State, site: Site, deployment: str) -> bool:
    """Whether a group brings it away from what was rejected. One that may have to wait for its turn, a gate or the like does
    not, unless it is a repair itself."""
    waiting = site.waiting
    if waiting is None or _is_repair(state, site, waiting) or is_in_started_group(site, deployment):
        return _is_about_to_run(site, deployment)
    return not any(_may_be_held(site, target) for target in site.members.values()) and _is_about_to_run(
        site, deployment
    )


def order_taken(state: State, site: Site, deployment: str) -> None:
    """A group has what was ordered, or it is off."""
    target = site.members[deployment]
    target.record.ordered = target.record.rollback_to = None
    state.target_changed(target)


def is_in_started_group(site: Site, deployment: str) -> bool:
    return site.executing is not None and site.executing.member(deployment) is not None


def _has_changed_variables(state: State, site: Site, target: Target) -> bool:
    resolved = variables.resolve(state, target)
    if variables.are_same(target.record.deployed_variables, resolved):
        return False
    if _is_about_to_run(site, target.deployment.name):
        return False
    version = state.version(target.record.deployed)
    if version is None or version.is_rejected:
        return False
    if giving_up.values_of(state, target) is not None:
        return False
    return not has_failed(target, version, resolved)


def _is_about_to_run(site: Site, deployment: str) -> bool:
    """Also while it runs: what comes of it decides whether its values have changed."""
    for group in (site.waiting, site.executing):
        member = group.member(deployment) if group is not None else None
        if member is not None and member.state in MEMBER_UNDER_WAY:
            return True
    return False
