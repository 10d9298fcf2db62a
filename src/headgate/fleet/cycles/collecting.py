"""The collection window of a site: what is new, when the window opens, and when it closes."""

from __future__ import annotations

from collections.abc import Callable

from headgate.fleet.cycles import hooks, shape, targets
from headgate.fleet.gates import gates
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.gates.version_dependencies import NO_PROSPECTS, Prospects
from headgate.fleet.model.records import MEMBER_UNDER_WAY, Group
from headgate.fleet.state import candidates, rule_binding
from headgate.fleet.state.candidates import OnProblem
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Site, Target, VersionNode
from headgate.kernel import instants
from headgate.kernel.instants import Instant

Fresh = dict[str, list[VersionNode]]
"""New versions of members that are not hooks, newest first, by deployment."""


def fresh_versions(state: State, site: Site, on_problem: OnProblem | None = None) -> Fresh:
    fresh: Fresh = {}
    for name in shape.of_site(site).others:
        target = site.members[name]
        if target.deployment.versions and site.is_home_of(target) and not is_about_to_go_back(site, name):
            versions = _new_for(state, site, target, on_problem)
            if versions:
                fresh[name] = versions
    return fresh


def is_about_to_go_back(site: Site, deployment: str) -> bool:
    """It was ordered, before the bracket came or in it, and the cycle for that has not started: what repairs goes before
    what is new."""
    if site.members[deployment].record.rollback_to is not None:
        return True
    member = site.waiting.member(deployment) if site.waiting is not None else None
    return member is not None and member.kind == "rollback" and member.state == "waiting"


def _new_for(state: State, site: Site, target: Target, on_problem: OnProblem | None) -> list[VersionNode]:
    """What may be locked and is newer than what any group here has locked.

    When what runs was rejected, the newest remaining version is new again: that is the way back. When what was locked last
    was rejected, what is left below it is new too, unless a group gave it up.
    """
    watermark = state.version(site.record.watermarks.get(target.deployment.name))
    lockable = lockable_versions(state, target, on_problem)
    deployed = candidates.deployed_version(state, target)
    if watermark is not None and watermark.object.status == "rejected":
        watermark = None
        lockable = [
            version
            for version in lockable
            if version.id not in target.record.given_up and not _is_tried(state, site, target, version)
        ]
    if deployed is not None and deployed.goes_back:
        return [
            version for version in lockable if _is_new_way_back(site, target, deployed, version, watermark)
        ]
    return [version for version in lockable if watermark is None or version.sort_key > watermark.sort_key]


def _is_tried(state: State, site: Site, target: Target, version: VersionNode) -> bool:
    """The cycle that executes is at it: it runs the version, will run it, or has failed with it and decides what follows."""
    group = site.executing
    member = group.member(target.deployment.name) if group is not None else None
    if group is None or member is None:
        return False
    is_ahead = member.state in MEMBER_UNDER_WAY and version.id in (member.version, member.next_version)
    last = state.last_attempt(target.record.attempts)
    has_failed = last is not None and last.group == group.id and last.status != "successful"
    return is_ahead or (has_failed and last is not None and last.version == version.id)


def lockable_versions(state: State, target: Target, on_problem: OnProblem | None = None) -> list[VersionNode]:
    """In scope and newer than what runs, down to one that failed for good or was put back here; newest first. The way back
    from what was rejected is not barred by those.

    What a group gave up before it ran is among them: it opens no window, but the next close locks it again.
    """
    newest = target.deployment.versions[-1] if target.deployment.versions else None
    if newest is None or (target.record.deployed == newest.id and newest.is_ready):
        return []
    deployed = candidates.deployed_version(state, target)
    goes_back = deployed is not None and deployed.goes_back
    known = deployed.sort_key if deployed is not None and not goes_back else None
    has_bars = bool(target.record.rolled_back or target.record.failures)
    lockable = []
    for version in candidates.newest_first(target, on_problem):
        if known is not None and version.sort_key <= known:
            break
        if has_bars and targets.is_barred(state, target, version):
            if goes_back:
                continue
            break
        lockable.append(version)
        if goes_back:
            break
    return lockable


def awaited(state: State, site: Site) -> list[str]:
    """Members that are still to come, from a cycle of a rule that is gone: without them, hooks among them, none begins."""
    return sorted(
        target.deployment.name
        for target in site.resource.targets.values()
        if target.environment is site.environment and rule_binding.comes_to(state, site, target)
    )


def passed_over(state: State, site: Site, target: Target) -> list[VersionNode]:
    """What may be locked and opens no window, because something newer was locked here and has been put back since; newest
    first. No group gave it up: none has had it in the end."""
    name = target.deployment.name
    if not site.is_home_of(target) or is_about_to_go_back(site, name):
        return []
    new = _new_for(state, site, target, None)
    groups = [group for group in (site.waiting, site.executing) if group is not None]
    members = [member for group in groups if (member := group.member(name)) is not None]
    locked = {version for member in members for version in (member.version, member.next_version)}
    return [
        version
        for version in lockable_versions(state, target)
        if version not in new and version.id not in target.record.given_up and version.id not in locked
    ]


def missed_as_a_hook(state: State, target: Target) -> VersionNode | None:
    """What was locked last, while the member was a hook, and has not run: no next cycle brings it by itself any more."""
    site, name = target.site, target.deployment.name
    if site is None or name in shape.of_site(site).hooks:
        return None
    newest = state.version(site.record.watermarks.get(name))
    return newest if newest is not None and newest in passed_over(state, site, target) else None


def _is_new_way_back(
    site: Site, target: Target, deployed: VersionNode, version: VersionNode, watermark: VersionNode | None
) -> bool:
    """Taken once: what was locked as the way back is not new again, whatever becomes of it."""
    if site.record.backs.get(target.deployment.name) == (deployed.id, version.id):
        return False
    return version.sort_key < deployed.sort_key or watermark is None or version.sort_key > watermark.sort_key


def opening(
    state: State,
    site: Site,
    fresh: Fresh,
    now: Instant,
    blockers: Blockers,
    prospects_of: Callable[[str, VersionNode], Prospects],
) -> Instant | None:
    """The publication of the first new version; with `windowTrigger: eligible`, when one first passed its gates."""
    if site.rule.spec.window_trigger == "published":
        return min(version.published_at for versions in fresh.values() for version in versions)
    moments = []
    for name, versions in fresh.items():
        for version in versions:
            prospects = prospects_of(name, version)
            at = eligible_since(state, site.members[name], version, now, blockers, prospects)
            if at is not None:
                moments.append(at)
    return min(moments, default=None)


def eligible_since(
    state: State,
    target: Target,
    version: VersionNode,
    now: Instant,
    blockers: Blockers,
    prospects: Prospects = NO_PROSPECTS,
) -> Instant | None:
    """When the last of the version's gates was satisfied; None while one is not."""
    passed: list[GateResult] = []
    for judged in gates.of_version(state, target, version, now, prospects):
        if not judged.is_allowed:
            blockers.stop_at(judged, passed)
            return None
        passed.append(judged)
    return max((version.published_at, *(one.verdict.satisfied_at or 0 for one in passed)))


def open_group(
    state: State, site: Site, opened_at: Instant, now: Instant, *, without_window: bool = False
) -> Group:
    spec = site.rule.spec
    is_immediate = without_window or spec.readiness_mode == "immediate"
    window = 0 if is_immediate else instants.seconds(spec.readiness_window_seconds or 0)
    group = Group(
        id=state.new_id("group", site.sort_key, now),
        policy=site.rule.policy.name,
        rule=site.rule.id,
        environment=site.environment.name,
        resource=site.resource.name,
        status="collecting",
        collection_started_at=opened_at,
        collection_ends_at=opened_at + window,
        created_at=now,
        without_window=without_window,
        hooks=hooks.of_open_group(site),
    )
    state.groups[group.id] = group
    site.collecting = group
    state.group_changed(group, "collecting", now)
    return group


def close_time(site: Site, group: Group, fresh: Fresh) -> Instant:
    """When the window closes, as far as is known now; it may lie in the past for a site that joined late."""
    spec = site.rule.spec
    ends_at = group.collection_ends_at
    if spec.readiness_mode != "wait_for_all" and spec.unchanged_member_strategy != "require_all":
        return ends_at
    everyone_at = _everyone_has_one_at(site, fresh)
    if spec.readiness_mode == "wait_for_all" and everyone_at is not None:
        return min(max(everyone_at, group.collection_started_at), ends_at)
    if spec.unchanged_member_strategy == "require_all":
        extra = spec.require_all_timeout_seconds
        if extra is None:
            extra = spec.readiness_window_seconds or 0
        deadline = ends_at + instants.seconds(extra)
        return deadline if everyone_at is None else min(max(ends_at, everyone_at), deadline)
    return ends_at


def _everyone_has_one_at(site: Site, fresh: Fresh) -> Instant | None:
    """When the last member that is not a hook got its first new version; None while one has none."""
    if not fresh or without_new_version(site, fresh):
        return None
    return max(versions[-1].published_at for versions in fresh.values())


def without_new_version(site: Site, fresh: Fresh) -> list[str]:
    """Members that are not hooks and have nothing new. Who only stays for the end of a cycle is not waited for."""
    return [
        name
        for name in shape.of_site(site).others
        if name not in fresh and site.is_home_of(site.members[name])
    ]
