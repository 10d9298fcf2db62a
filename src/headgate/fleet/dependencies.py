"""Order among deployments on one resource: who is upstream of whom, and whether upstream is done."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.fleet.rules import deployment_dependency
from headgate.fleet.rules.deployment_dependency import Upstream
from headgate.fleet.state import Judged, State
from headgate.fleet.units import BoundRule, Target
from headgate.kernel import instants


def upstream_targets(rule: BoundRule, target: Target) -> list[Target]:
    """Targets on the same resource whose deployment the rule names; in another environment only if not in this one."""
    selector = rule.selector(rule.spec.depends_on)
    matched = [
        other
        for other in target.resource.targets.values()
        if other.deployment is not target.deployment and selector.matches(other.bindings())
    ]
    here = {other.deployment.name for other in matched if other.environment is target.environment}
    return [
        other
        for other in matched
        if other.environment is target.environment or other.deployment.name not in here
    ]


def outside_brackets(state: State, target: Target) -> Iterator[Judged]:
    """Each rule's question: has the newest release of every upstream on this resource succeeded?"""
    for rule in target.rules.of("deploymentDependency"):
        yield judge_outside(state, rule, target)


def judge_outside(state: State, rule: BoundRule, target: Target) -> Judged:
    upstreams = [newest_release(state, other) for other in upstream_targets(rule, target)]
    return Judged(
        rule,
        rule.kind,
        deployment_dependency.judge(rule.spec, upstreams),
        (("resource", target.resource.name),),
    )


def newest_release(state: State, upstream: Target) -> Upstream:
    record = upstream.record
    name = upstream.deployment.name
    if record.job is not None:
        job = state.jobs[record.job]
        since = instants.show_clock(job.started_at or job.created_at)
        return Upstream(name, False, f"job {job.status} since {since}")
    if record.retry_at is not None:
        return Upstream(name, False, f"job failed, retried at {instants.show_clock(record.retry_at)}")
    if record.failed_at is not None:
        return Upstream(name, False, f"job failed at {instants.show_clock(record.failed_at)}")
    if record.deployed is None:
        return Upstream(name, False, "not deployed yet")
    if record.verification == "running":
        return Upstream(name, False, "verification is running")
    if record.verification == "failed":
        return Upstream(name, False, "verification failed")
    return Upstream(name, True, "succeeded", record.deployed_at)
