"""What stays known of a release target that has ended, in case it comes back, and for how long."""

from __future__ import annotations

from headgate.fleet.model.records import Job, Left, TargetRecord
from headgate.fleet.state.state import State
from headgate.fleet.state.units import DeploymentNode, ResourceNode, Target
from headgate.kernel import instants
from headgate.kernel.instants import Instant

KEPT = instants.hours(90 * 24)
"""Of a target whose environment was deleted."""


def leave(state: State, target: Target, now: Instant) -> None:
    """What runs there stays known, what was ahead does not. A machine or a deployment that is gone takes it along: what
    comes back under its name is another one.

    What was to go back still is, coming back: what it leaves is bad. What was still being measured is not known to be good:
    it is deployed and measured again, a hook with its next cycle.
    """
    record = target.record
    record.job = record.retry_at = record.ordered = None
    record.attempts = []
    if record.verification == "running":
        record.verification = "failed"
        record.ordered = "redeploy"
    record.left = Left(now, target.deployment.object.id, target.resource.object.id)
    if is_gone(state, target):
        state.departed.pop(target.name, None)
        state.journal.changed("target", target.name)


def is_gone(state: State, target: Target) -> bool:
    """For good: what has its name later is another one."""
    return target.deployment.name not in state.deployments or target.resource.name not in state.resources


def is_left_bad(record: TargetRecord, rollback: Job) -> bool:
    """Whether what a rollback left before it was done is no good by itself. A member that went back with a sibling is."""
    return not record.is_proven or record.deployed == rollback.version


def come_back(
    state: State, name: str, deployment: DeploymentNode, resource: ResourceNode
) -> TargetRecord | None:
    """What is known of it, if it is the same deployment on the same resource."""
    record = state.departed.pop(name, None)
    if record is None or record.left is None or _is_of(record.left, deployment, resource):
        return record
    state.journal.changed("target", name)
    return None


def _is_of(left: Left, deployment: DeploymentNode, resource: ResourceNode) -> bool:
    return (left.deployment, left.resource) == (deployment.object.id, resource.object.id)


def forget_old(state: State, now: Instant) -> None:
    """Whenever environments come and go, which is seldom: those are what is waited for here."""
    for name, record in list(state.departed.items()):
        deployment, environment, resource = name.split("/")
        if name in state.lingering:
            continue
        is_over = record.left is not None and record.left.at + KEPT <= now
        if (environment not in state.environments and is_over) or (
            deployment not in state.deployments or resource not in state.resources
        ):
            del state.departed[name]
            state.journal.changed("target", name)
