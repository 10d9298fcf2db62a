"""What a version says it depends on: other deployments' versions on the same resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate import cel
from headgate.fleet.rules import always_on
from headgate.fleet.state import candidates, wakes
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel import decisions
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant


class Prospects(msgspec.Struct, frozen=True):
    """What the other members of a bracket are about to run on the same resource, by deployment."""

    locked: Mapping[str, VersionNode] = {}
    """In the same cycle, and before the one that asks."""
    in_flight: Mapping[str, VersionNode] = {}
    """In a cycle that has started: not there yet, but what runs now will be gone."""


NO_PROSPECTS = Prospects()


def judge(
    state: State, version: VersionNode, target: Target, prospects: Prospects = NO_PROSPECTS
) -> GateResult:
    """Always on: each named deployment must run a matching version on the same resource, or be brought to one first by the
    same cycle."""
    missing: list[str] = []
    brought: list[str] = []
    latest = version.published_at
    for name, selector in version.dependencies.items():
        lock = prospects.locked.get(name)
        if lock is not None:
            is_met = selector.matches(_as_upstream(same_resource(target, name)[0], lock))
            if is_met:
                brought.append(f"{name} {lock.tag}")
            else:
                missing.append(f"{name} ({lock.tag} comes first here, needed is {selector.text})")
            continue
        upstreams = same_resource(target, name)
        matching = [one for one in upstreams if _is_met(state, selector, one, prospects.in_flight.get(name))]
        if matching:
            latest = max(latest, succeeded_at(state, matching[-1]) or latest)
        elif upstreams:
            runs = ", ".join(_what_runs(state, upstream) for upstream in upstreams)
            coming = f" and is to run {prospects.in_flight[name].tag}" if name in prospects.in_flight else ""
            missing.append(f"{name} (runs {runs}{coming}, needed is {selector.text})")
        else:
            missing.append(f"{name} (has no target on {target.resource.name})")
    if missing:
        verdict = decisions.pending(Reason.AWAITING_DEPENDENCY, "waits for " + "; ".join(missing))
    elif brought:
        message = f"what it depends on is brought first by the same cycle: {', '.join(brought)}"
        verdict = decisions.allowed(message, satisfied_at=latest)
    else:
        verdict = decisions.allowed("all versions it depends on run here", satisfied_at=latest)
    return GateResult(None, always_on.DEPENDENCIES, verdict, (wakes.resource(target.resource.name),))


def _is_met(state: State, selector: cel.Selector, upstream: Target, in_flight: VersionNode | None) -> bool:
    """By what runs there, and by what is on its way there as well: it may have gone when the version that asks comes."""
    deployed = candidates.deployed_version(state, upstream)
    if deployed is None or not upstream.record.is_proven:
        return False
    return all(
        selector.matches(_as_upstream(upstream, one)) for one in (deployed, in_flight) if one is not None
    )


def _as_upstream(upstream: Target, version: VersionNode) -> dict[str, Any]:
    return {**upstream.bindings(), "version": version.view}


def succeeded_at(state: State, target: Target) -> Instant | None:
    """When what runs here was there and, where that is asked for, verified."""
    record = target.record
    verified_at = state.verified.get(record.deployed or "", {}).get(target.name)
    if record.deployed_at is None or verified_at is None:
        return record.deployed_at
    return max(record.deployed_at, verified_at)


def _what_runs(state: State, target: Target) -> str:
    tag = state.tag(target.record.deployed)
    if target.record.is_proven:
        return tag
    return f"{tag} ({'being verified' if target.record.verification == 'running' else 'not verified'})"


def same_resource(target: Target, deployment: str) -> list[Target]:
    """The deployment's targets on the same resource: that of the same environment, else all of them."""
    own = target.resource.targets.get(f"{deployment}/{target.environment.name}/{target.resource.name}")
    if own is not None:
        return [own]
    return [other for other in target.resource.targets.values() if other.deployment.name == deployment]
