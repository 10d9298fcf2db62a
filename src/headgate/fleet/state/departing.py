"""What stays known of a release target that has ended, in case it comes back, and for how long."""

from __future__ import annotations

from headgate.fleet.model.records import Left, TargetRecord
from headgate.fleet.state.state import State
from headgate.fleet.state.units import DeploymentNode, ResourceNode, Target
from headgate.kernel import instants
from headgate.kernel.instants import Instant

KEPT = instants.hours(90 * 24)
"""Of a target whose environment was deleted."""


def leave(state: State, target: Target, now: Instant) -> None:
    """What runs there stays known, what was ahead does not. A machine or a deployment that is gone takes it along: what
    comes back under its name is another one."""
    record = target.record
    record.job = record.retry_at = record.ordered = record.rollback_to = None
    record.attempts = []
    if record.verification == "running":
        record.verification = "none"
    record.left = Left(now, target.deployment.object.id, target.resource.object.id)
    if target.deployment.name not in state.deployments or target.resource.name not in state.resources:
        state.departed.pop(target.name, None)


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
