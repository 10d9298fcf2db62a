"""Who may run now inside a group: the dependency rules asked about this group, and the hooks around everyone."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.fleet.cycles import prerequisites, shape
from headgate.fleet.gates import dependencies, gates
from headgate.fleet.model.records import Group, Member
from headgate.fleet.rules import deployment_dependency
from headgate.fleet.rules.deployment_dependency import DeploymentDependency, Upstream
from headgate.fleet.state import wakes
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import BoundRule, Site, Target, VersionNode
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant

NO_OP = frozenset({"unchanged", "dropped", "skipped", "rolledBack"})


def verdicts_of(state: State, site: Site, group: Group, member: Member, now: Instant) -> Iterator[GateResult]:
    """A hook's place is given by its role, whatever the rules say; other members follow the rules. A group that has started
    was able to end when it did: an upstream that has gone since is not waited for, or the resource would stay prepared."""
    target = site.members[member.deployment]
    around = _hooks_verdict(state, site, group, member)
    if around is not None:
        yield around
    depends = _version_verdict(state, site, group, member)
    if depends is not None:
        yield depends
    for rule in target.rules.of(DeploymentDependency):
        skip = gates.skipped(state, rule, state.version(member.version), target, now)
        if skip is not None:
            yield skip
            continue
        matched = dependencies.upstream_targets(rule, target)
        inside = [other for other in matched if _inside(site, group, other) is not None]
        upstreams = [
            _upstream(state, site, group, other)
            for other in inside
            if _may_precede(group, member, site, other)
        ]
        if upstreams:
            verdict = deployment_dependency.judge(rule.spec, upstreams)
            ring = (
                _ring_through(state, site, group, target, now)
                if _may_be_in_ring(site, group, verdict)
                else []
            )
            if ring:
                yield _ring_result(rule, ring)
                continue
        elif (
            matched
            or group.started_at is not None
            or rule.is_upstream(target)
            or shape.covers_upstream(site, rule)
        ):
            continue
        else:
            verdict = deployment_dependency.matches_nothing(rule.spec, "of this bracket")
        yield GateResult(rule, rule.kind, verdict, (wakes.resource(target.resource.name),))


def _may_be_in_ring(site: Site, group: Group, verdict: decisions.Verdict) -> bool:
    is_waiting = group.started_at is None and not verdict.is_allowed
    return is_waiting and dependencies.may_have_rings(site.resource)


def _ring_through(state: State, site: Site, group: Group, target: Target, now: Instant) -> list[Target]:
    """Members that wait for each other, and would leave the resource prepared for ever. Whoever skips the rule of one of them
    that is to run opens the ring."""

    def upstreams_of(member_target: Target) -> Iterator[Target]:
        member = _inside(site, group, member_target)
        for rule in member_target.rules.of(DeploymentDependency) if member is not None else ():
            assert member is not None
            version = state.version(member.version)
            is_to_run = member.state not in NO_OP
            if is_to_run and gates.skipped(state, rule, version, member_target, now) is not None:
                continue
            for upstream in dependencies.upstream_targets(rule, member_target):
                if _may_precede(group, member, site, upstream):
                    yield upstream

    return dependencies.ring_through(target, upstreams_of)


def _ring_result(rule: BoundRule[DeploymentDependency], ring: list[Target]) -> GateResult:
    """A skip of any of the rules may end it."""
    verdict = decisions.denied(Reason.MISCONFIGURED, f"the dependency {dependencies.ring_sentence(ring)}")
    rules = [one for target in ring for one in target.rules.of(DeploymentDependency)]
    reasons = dict.fromkeys((wakes.resource(ring[0].resource.name), *(wakes.skips(one.id) for one in rules)))
    return GateResult(rule, rule.kind, verdict, tuple(reasons))


def paused(state: State, member: Member) -> list[GateResult]:
    """What holds a member whose version somebody has paused after it was locked."""
    version = state.version(member.version)
    judged = gates.paused(version) if version is not None and member.kind in ("deploy", "hook") else None
    return [judged] if judged is not None else []


def _version_verdict(state: State, site: Site, group: Group, member: Member) -> GateResult | None:
    """What its version depends on is there; what the group brings for that has come first. Hooks have their place."""
    judged = prerequisites.verdict_of(state, site, group, member) if member.role == "member" else None
    if judged is None or not judged.is_allowed:
        return judged
    awaited = prerequisites.awaited(state, site, group, member)
    missing = [_message(state, other) for other in awaited if not is_done(state, site, group, other)]
    if not missing:
        return judged
    message = f"waits for what {state.tag(member.version)} depends on, in this group: {', '.join(missing)}"
    return GateResult(None, judged.kind, decisions.pending(Reason.AWAITING_DEPENDENCY, message), judged.wakes)


def verdicts_outside(
    state: State, site: Site, group: Group, target: Target, version: VersionNode, now: Instant
) -> Iterator[GateResult]:
    """Upstreams that are not in the group: judged before it starts, never inside it."""
    for rule in target.rules.of(DeploymentDependency):
        outside = [
            dependencies.newest_release(state, other)
            for other in dependencies.upstream_targets(rule, target)
            if _inside(site, group, other) is None
        ]
        if outside:
            skip = gates.skipped(state, rule, version, target, now)
            yield (
                skip
                if skip is not None
                else GateResult(
                    rule,
                    rule.kind,
                    deployment_dependency.judge(rule.spec, outside),
                    (wakes.resource(target.resource.name),),
                )
            )


def _hooks_verdict(state: State, site: Site, group: Group, member: Member) -> GateResult | None:
    if member.role == "preHook":
        return None
    ahead = [
        other
        for other in group.members
        if other is not member
        and (other.role == "preHook" or (member.role == "postHook" and other.role == "member"))
    ]
    if not ahead:
        return None
    missing = [_message(state, other) for other in ahead if not is_done(state, site, group, other)]
    what = "pre-hooks" if member.role == "member" else "all other members"
    if missing:
        verdict = decisions.pending(
            Reason.AWAITING_CYCLE, f"waits for {what} of this group: {', '.join(missing)}"
        )
    else:
        verdict = decisions.allowed(f"{what} of this group are done")
    return GateResult(site.rule, site.rule.kind, verdict, (wakes.resource(site.resource.name),))


def _inside(site: Site, group: Group, other: Target) -> Member | None:
    return group.member(other.deployment.name) if other.site is site else None


def _may_precede(group: Group, member: Member, site: Site, other: Target) -> bool:
    """Rules that would put a hook on the wrong side of the others are overruled by its role."""
    upstream = _inside(site, group, other)
    return upstream is not None and shape.may_precede(upstream.role, member.role)


def _upstream(state: State, site: Site, group: Group, other: Target) -> Upstream:
    member = _inside(site, group, other)
    assert member is not None
    if is_done(state, site, group, member):
        return Upstream(member.deployment, True, "succeeded in this group", member.settled_at)
    return Upstream(member.deployment, False, status_of(state, member))


def is_done(
    state: State, site: Site, group: Group, member: Member, trail: frozenset[str] = frozenset()
) -> bool:
    """Succeeded in this group with the group's version; a no-op is done as soon as its own upstreams are."""
    if member.state == "succeeded":
        return True
    if member.state not in NO_OP or member.deployment in trail:
        return False
    target = site.members.get(member.deployment)
    if target is None or member.role != "member":
        return True
    trail = trail | {member.deployment}
    for other in group.members:
        if other.role == "preHook" and not is_done(state, site, group, other, trail):
            return False
    for rule in target.rules.of(DeploymentDependency):
        for upstream in dependencies.upstream_targets(rule, target):
            inside = _inside(site, group, upstream)
            if (
                inside is not None
                and inside.role == "member"
                and not is_done(state, site, group, inside, trail)
            ):
                return False
    return True


def status_of(state: State, member: Member) -> str:
    job = state.jobs.get(member.job or "")
    if job is not None and member.state == "running":
        if job.completed_at is not None:
            return f"verification running since {instants.show_to_the_second(job.completed_at)}"
        return f"job {job.status} since {instants.show_to_the_second(job.started_at or job.created_at)}"
    if member.state == "retrying" and member.retry_at is not None:
        return f"failed, retried at {instants.show_to_the_second(member.retry_at)}"
    if member.state == "failed" and member.settled_at is not None:
        return f"failed at {instants.show_to_the_second(member.settled_at)}"
    return "not started" if member.state == "waiting" else member.state


def _message(state: State, member: Member) -> str:
    return f"{member.deployment} ({status_of(state, member)})"


def downstream_first(state: State, site: Site, group: Group, names: list[str]) -> dict[str, set[str]]:
    """For each of the members, those of the others that depend on it: they are put back before it."""
    after: dict[str, set[str]] = {name: set() for name in names}
    for name in names:
        target = site.members.get(name)
        if target is None:
            continue
        for rule in target.rules.of(DeploymentDependency):
            for upstream in dependencies.upstream_targets(rule, target):
                if upstream.site is site and upstream.deployment.name in after:
                    after[upstream.deployment.name].add(name)
    for name, upstreams in prerequisites.upstreams_by_version(state, site, group, names).items():
        for upstream_name in upstreams:
            after[upstream_name].add(name)
    return after
