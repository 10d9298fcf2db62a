"""What versions depend on among the members of their own cycle: a lock counts as if it ran, and then it runs first.

Who stands before whom follows from the locks alone. So the close of a window, a look at the cycle and an engine that was
loaded in the middle of it see the same order, and what was locked is not dropped again for the same reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headgate.fleet.cycles import shape
from headgate.fleet.gates import dependencies, version_dependencies
from headgate.fleet.gates.version_dependencies import NO_PROSPECTS, Prospects
from headgate.fleet.model.records import Group, Member
from headgate.fleet.rules.deployment_dependency import DeploymentDependency
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Site, VersionNode

Locks = Mapping[str, VersionNode]


def locks_of(state: State, group: Group | None) -> dict[str, VersionNode]:
    """What the members of a group are about to run, or run without having ended."""
    locks: dict[str, VersionNode] = {}
    for member in group.members if group is not None else ():
        version = state.version(_coming(member))
        if version is not None:
            locks[member.deployment] = version
    return locks


def _coming(member: Member) -> str | None:
    match member.state:
        case "waiting" | "retrying" | "running":
            return member.next_version or member.version
        case "rollingBack":
            return member.previous
        case _:
            return None


def prospects_of(site: Site, name: str, version: VersionNode, locks: Locks, in_flight: Locks) -> Prospects:
    """What the version of a member may count on. A lock that comes after it is none of that: by its role, by a dependency
    rule, or because it depends on the member itself. Then what runs decides."""
    if not version.dependencies:
        return NO_PROSPECTS
    return Prospects(
        {
            other: locks[other]
            for other in version.dependencies
            if other in locks and other in site.members and _may_precede(site, other, name, locks)
        },
        {other: in_flight[other] for other in version.dependencies if other in in_flight},
    )


def _may_precede(site: Site, name: str, other: str, locks: Locks) -> bool:
    """Whether the first, with all that comes before it, can run before the second."""
    seen: set[str] = set()
    open_ends = [name]
    while open_ends:
        for upstream in _upstreams(site, open_ends.pop(), locks):
            if upstream not in seen:
                seen.add(upstream)
                open_ends.append(upstream)
    return other not in seen and _is_allowed_by_roles(site, name, other)


def _upstreams(site: Site, name: str, locks: Locks) -> Iterator[str]:
    target = site.members.get(name)
    if target is None:
        return
    named = set(locks[name].dependencies) if name in locks else set()
    for rule in target.rules.of(DeploymentDependency):
        named.update(
            other.deployment.name
            for other in dependencies.upstream_targets(rule, target)
            if other.site is site
        )
    for other in named:
        if other in site.members and other != name and _is_allowed_by_roles(site, other, name):
            yield other


def _is_allowed_by_roles(site: Site, name: str, other: str) -> bool:
    """Whether the roles let the first come before the second."""
    roles = shape.of_site(site).roles
    return shape.may_precede(roles.get(name, "member"), roles.get(other, "member"))


def verdict_of(state: State, site: Site, group: Group, member: Member) -> GateResult | None:
    """Whether what a locked version depends on is there, or is brought by its group; None where it depends on nothing or
    has been started before."""
    version, target = state.version(member.version), site.members.get(member.deployment)
    if version is None or target is None or not version.dependencies:
        return None
    is_new = member.kind in ("deploy", "hook") and version.id != target.record.deployed
    if not is_new or member.state != "waiting" or member.attempts:
        return None
    in_flight = {} if group is site.executing else locks_of(state, site.executing)
    prospects = prospects_of(site, member.deployment, version, locks_of(state, group), in_flight)
    return version_dependencies.judge(state, version, target, prospects)


def awaited(state: State, site: Site, group: Group, member: Member) -> list[Member]:
    """Members of the group whose locks run before the member's version, because it depends on them."""
    version = state.version(member.version)
    if version is None or member.kind != "deploy":
        return []
    prospects = prospects_of(site, member.deployment, version, locks_of(state, group), {})
    return [other for name in prospects.locked if (other := group.member(name)) is not None]


def upstreams_by_version(state: State, site: Site, group: Group, names: list[str]) -> dict[str, list[str]]:
    """For each of the members, those of the others that its version in the group depends on and came after."""
    members = {name: member for name in names if (member := group.member(name)) is not None}
    locks = {name: version for name, member in members.items() if (version := state.version(member.version))}
    return {
        name: list(prospects_of(site, name, version, locks, {}).locked)
        for name, version in locks.items()
        if version.dependencies
    }


def are_met_in(state: State, site: Site, host: Group, group: Group) -> bool:
    """Whether what a group has locked would have what it depends on in another one that it joins, where its own hooks do not
    run."""
    joining = {member.deployment: member for member in group.members if member.role == "member"}
    own = {name: version for name, version in locks_of(state, group).items() if name in joining}
    locks = locks_of(state, host) | own
    for name, version in own.items():
        target = site.members.get(name)
        if joining[name].kind != "deploy" or target is None or version.id == target.record.deployed:
            continue
        prospects = prospects_of(site, name, version, locks, {})
        if (
            version.dependencies
            and not version_dependencies.judge(state, version, target, prospects).is_allowed
        ):
            return False
    return True


def has_any(state: State, group: Group) -> bool:
    """Whether a version that the group has locked depends on anything."""
    for member in group.members:
        version = state.version(member.version)
        if version is not None and version.dependencies:
            return True
    return False


def first_lost(state: State, site: Site, group: Group) -> tuple[Member, str] | None:
    """A member whose lock cannot run in this group any more, and why: nothing that is there, under way or still to come on
    the resource meets what it depends on."""
    for member in group.members:
        judged = verdict_of(state, site, group, member) if member.role == "member" else None
        if judged is not None and not judged.is_allowed and not _is_moving(state, site, member):
            return member, f"{state.tag(member.version)} {judged.verdict.message}"
    return None


def is_hook_lost(state: State, site: Site, group: Group, member: Member) -> bool:
    """It was locked with a version that depends on a lock which is no longer in the group."""
    judged = verdict_of(state, site, group, member) if member.role != "member" else None
    return judged is not None and not judged.is_allowed and not _is_moving(state, site, member)


def _is_moving(state: State, site: Site, member: Member) -> bool:
    """What it depends on runs a job or is verified: what comes of that decides."""
    version, target = state.versions[member.version or ""], site.members[member.deployment]
    records = [
        other.record
        for name in version.dependencies
        for other in version_dependencies.same_resource(target, name)
    ]
    return any(one.job is not None or one.verification == "running" for one in records)
