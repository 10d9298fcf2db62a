"""Order among deployments on one resource: who is upstream of whom, and whether upstream is done."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from headgate.fleet.gates import version_dependencies
from headgate.fleet.rules import deployment_dependency
from headgate.fleet.rules.deployment_dependency import DeploymentDependency, Upstream
from headgate.fleet.state import repairs, wakes
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import BoundRule, KnownOrder, ResourceNode, Site, Target
from headgate.kernel import instants


def upstream_targets(rule: BoundRule[DeploymentDependency], target: Target) -> list[Target]:
    """Targets on the same resource whose deployment the rule names, by name; in another environment only if not in this
    one."""
    known = target.resource.order or _known_order(target.resource)
    targets = known.upstreams.get((rule, target))
    if targets is None:
        targets = known.upstreams[(rule, target)] = _upstream_targets(known, rule, target)
    return targets


def _known_order(resource: ResourceNode) -> KnownOrder:
    if resource.order is None:
        resource.order = KnownOrder()
    return resource.order


def _upstream_targets(
    known: KnownOrder, rule: BoundRule[DeploymentDependency], target: Target
) -> list[Target]:
    named = _named(known, rule, target)
    matched = [other for other in named if other.deployment is not target.deployment]
    here = {other.deployment.name for other in matched if other.environment is target.environment}
    return [
        other
        for other in matched
        if other.environment is target.environment or other.deployment.name not in here
    ]


def _named(known: KnownOrder, rule: BoundRule[DeploymentDependency], target: Target) -> list[Target]:
    """Everybody whom the rule names where the target stands, itself included."""
    named = known.matched.get((rule, target.site))
    if named is None:
        beside = sorted(_beside(target).items())
        named = known.matched[rule, target.site] = [other for _, other in beside if rule.is_upstream(other)]
    return named


def _beside(target: Target) -> dict[str, Target]:
    """Targets of the resource, and who is at the target's site for the end of its cycle although it is none any more: the
    cycle keeps its order."""
    if target.site is None:
        return target.resource.targets
    return {**target.resource.targets, **{other.name: other for other in target.site.members.values()}}


def names_only_itself(rule: BoundRule[DeploymentDependency], target: Target) -> bool:
    """A deployment never depends on itself: a rule that matches nothing else here does not apply to it."""
    return rule.is_upstream(target) and not upstream_targets(rule, target)


def judge_outside(state: State, rule: BoundRule[DeploymentDependency], target: Target) -> GateResult:
    upstreams = [newest_release(state, other) for other in upstream_targets(rule, target)]
    return GateResult(
        rule,
        rule.kind,
        deployment_dependency.judge(rule.spec, upstreams),
        (wakes.resource(target.resource.name),),
    )


def newest_release(state: State, upstream: Target) -> Upstream:
    record = upstream.record
    name = upstream.deployment.name
    if record.job is not None:
        job = state.jobs[record.job]
        since = instants.show_to_the_second(job.started_at or job.created_at)
        return Upstream(name, False, f"job {job.status} since {since}")
    retry_at = upstream.retry_at()
    if retry_at is not None:
        again = instants.show_to_the_second(retry_at)
        return Upstream(name, False, f"job {_last_status(state, upstream)}, tried again at {again}")
    if record.failed_at is not None:
        return Upstream(
            name,
            False,
            f"job {_last_status(state, upstream)} at {instants.show_to_the_second(record.failed_at)}",
        )
    repair = repairs.ahead(state, upstream)
    if repair is not None:
        return Upstream(name, False, f"job {_last_status(state, upstream)}, {repair}")
    if record.deployed is None:
        return Upstream(name, False, "not deployed yet")
    if record.verification == "running":
        return Upstream(name, False, "verification is running")
    if record.verification == "failed":
        return Upstream(name, False, "verification failed")
    return Upstream(name, True, "succeeded", version_dependencies.succeeded_at(state, upstream))


def _last_status(state: State, target: Target) -> str:
    last = state.last_attempt(target.record.attempts)
    return last.status if last is not None else "failure"


def all_upstreams(target: Target) -> Iterator[Target]:
    """By every rule that binds the target."""
    for rule in target.rules.of(DeploymentDependency):
        yield from upstream_targets(rule, target)


def may_have_rings(resource: ResourceNode) -> bool:
    """Whether any targets on the resource wait for each other, whatever of it a cycle runs or a skip opens. Asked once, so
    that who waits in a plain order, as nearly everybody does, need not look for a ring of its own."""
    known = _known_order(resource)
    if known.has_ring is None:
        known.has_ring = _do_rules_lead_back(known, resource) and _do_targets_lead_back(resource)
    return known.has_ring


def _do_rules_lead_back(known: KnownOrder, resource: ResourceNode) -> bool:
    """Whether following the rules of whom a rule names, and theirs, one can come to the same rule again. Rules are few
    where targets are many, and without such a way there is no ring of targets either."""
    leads_to: dict[tuple[BoundRule[DeploymentDependency], Site | None], set[Hashable]] = {}
    open_ends = [
        (rule, target)
        for target in resource.targets.values()
        for rule in target.rules.of(DeploymentDependency)
    ]
    while open_ends:
        rule, target = open_ends.pop()
        if (rule, target.site) in leads_to:
            continue
        following = [
            (further, other)
            for other in _named(known, rule, target)
            for further in other.rules.of(DeploymentDependency)
            if any(each.deployment is not other.deployment for each in _named(known, further, other))
        ]
        leads_to[rule, target.site] = {(further, other.site) for further, other in following}
        open_ends.extend(following)
    return _leads_back(leads_to)


def _do_targets_lead_back(resource: ResourceNode) -> bool:
    upstreams: dict[Target, set[Target]] = {}
    open_ends = list(resource.targets.values())
    while open_ends:
        target = open_ends.pop()
        if target not in upstreams:
            upstreams[target] = set(all_upstreams(target))
            open_ends.extend(upstreams[target])
    return _leads_back(upstreams)


def _leads_back(leads_to: Mapping[Any, Set[Any]]) -> bool:
    """Whether a way comes back to where it was. Who leads to nobody that is left is taken away, until nobody is left or
    nobody can go."""
    left = dict(leads_to)
    while left:
        ends = [one for one, others in left.items() if left.keys().isdisjoint(others)]
        if not ends:
            return True
        for target_end in ends:
            del left[target_end]
    return False


def ring_through(
    target: Target, upstreams_of: Callable[[Target], Iterable[Target]] = all_upstreams
) -> list[Target]:
    """Targets on this resource that wait for each other, from the target round to itself; empty if it stands in no ring.
    Whatever the rules read: they are asked about these very targets."""
    came_from: dict[str, Target] = {}
    open_ends = [target]
    while open_ends:
        target_next = open_ends.pop(0)
        for upstream in upstreams_of(target_next):
            if upstream is target:
                return _path_of_ring(target_next, target, came_from)
            if upstream.name not in came_from:
                came_from[upstream.name] = target_next
                open_ends.append(upstream)
    return []


def _path_of_ring(last: Target, target: Target, came_from: dict[str, Target]) -> list[Target]:
    path = [target]
    while last is not target:
        path.append(last)
        last = came_from[last.name]
    return [target, *reversed(path)]


def ring_sentence(ring: Sequence[Target]) -> str:
    return f"rules form a cycle: {' -> '.join(one.deployment.name for one in ring)}"
