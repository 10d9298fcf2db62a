"""The planner of the graph level: given what is there, what is written next, when to look again, and why.

`plan_definition` decides which instance may take the newest graph revision, `plan_instance` which objects of one
instance may change. Both are pure: the same objects, signals and time give the same plan, and everything that has to be
remembered is in the objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from headgate.graph.reconcile import (
    cluster_view,
    conditions,
    deletion,
    explain,
    granted_graph,
    instances,
    labels,
    rollouts,
)
from headgate.graph.reconcile.conditions import InstanceStatus
from headgate.graph.reconcile.explain import GraphLine
from headgate.graph.reconcile.instances import InstancePass
from headgate.graph.reconcile.planner_cache import PlannerCache
from headgate.graph.reconcile.resolving import AcceptedGraph
from headgate.graph.reconcile.rollouts import DefinitionRollout
from headgate.kernel.conditions import Condition, documents, refusal, root
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Object, UpdateStatus


class InstancePlan(msgspec.Struct):
    """`instance_pass` is None for an instance that is going, suspended, or not granted any graph revision yet."""

    instance: Object
    actions: tuple[Action, ...]
    status: dict[str, Any]
    requeue_at: Instant | None = None
    instance_pass: InstancePass | None = None
    instance_status: InstanceStatus | None = None
    left: tuple[Object, ...] = ()
    """Of an instance that is going: what is still there."""

    @property
    def events(self) -> tuple[()]:
        """What becomes of an instance is told by its conditions."""
        return ()

    def lines(self) -> list[GraphLine]:
        return explain.instance_lines(self)

    @property
    def not_looked_at(self) -> Reason:
        """Why there is no pass, where there is none."""
        if self.instance.deleted_at is not None:
            return Reason.UNDER_DELETION
        if labels.is_suspended(self.instance.annotations):
            return Reason.RECONCILIATION_SUSPENDED
        return Reason.AWAITING_DEPENDENCY

    def waiting(self) -> Iterator[Reason]:
        """Of its objects, and of the instance where they are not looked at; of a node that is not worked out yet nobody
        knows how many it has, so that it is one."""
        if self.instance_pass is None:
            yield self.not_looked_at
        for state in self.instance_pass.states if self.instance_pass is not None else ():
            if state.unresolved is not None:
                yield state.unresolved
            for unit in state.units:
                if unit.answer is not None and not unit.is_updated:
                    yield unit.answer.reason
        if refusal(self.instance.status) is not None:
            yield Reason.WRITE_REFUSED


class DefinitionPlan(msgspec.Struct):
    definition: Object
    actions: tuple[Action, ...]
    rollout: DefinitionRollout

    @property
    def requeue_at(self) -> Instant | None:
        return self.rollout.requeue_at

    @property
    def events(self) -> tuple[()]:
        return ()

    def lines(self) -> list[GraphLine]:
        return explain.definition_lines(self)

    def waiting(self) -> Iterator[Reason]:
        """Of its instances, and of the definition itself if it is not accepted as it is, refused or to go."""
        if self.rollout.problems:
            yield Reason.MISCONFIGURED
        if refusal(self.definition.status) is not None:
            yield Reason.WRITE_REFUSED
        if self.rollout.leaving is not None:
            yield Reason(self.rollout.leaving.reason)
        for member in self.rollout.members:
            if member.answer is not None and not member.is_updated:
                yield member.answer.reason


def plan_definition(
    definition: Object,
    view: cluster_view.ClusterView,
    signals: Mapping[str, object],
    now: Instant,
    planner_cache: PlannerCache,
) -> DefinitionPlan:
    rollout = rollouts.reconcile(definition, view, signals, now, planner_cache)
    return DefinitionPlan(definition, tuple(rollout.actions), rollout)


def plan_instance(
    instance: Object,
    accepted: AcceptedGraph | None,
    view: cluster_view.ClusterView,
    signals: Mapping[str, object],
    now: Instant,
    planner_cache: PlannerCache,
) -> InstancePlan:
    """`served` may be None only for an instance that is going."""
    if instance.deleted_at is not None:
        leaving = deletion.reconcile(instance, view, now)
        return InstancePlan(instance, leaving.actions, instance.status, left=leaving.left)
    number = granted_graph.number_of(instance, view)
    if accepted is not None and not (accepted.is_paused or labels.is_paused(instance.annotations)):
        number = accepted.let_on.get(instance.uid, number)
    if accepted is None or number not in accepted.graphs:
        return InstancePlan(instance, (), instance.status)
    if labels.is_suspended(instance.annotations):
        return _suspended(instance, now)
    instance_pass = instances.reconcile(instance, number, accepted, view, signals, now, planner_cache)
    own = instance.status.get(conditions.OWN) or {}
    instance_status = conditions.instance_status(instance_pass, int(own.get("landedRevision") or 0))
    status = conditions.status_of(instance_pass, instance_status, now)
    status_writes = () if status == instance.status else (UpdateStatus(instance.key, instance.uid, status),)
    # While a write is refused nothing after it is written, and what stands in the way has to be told all the same.
    is_told_first = refusal(instance.status) is not None
    actions = (
        (*status_writes, *instance_pass.actions)
        if is_told_first
        else (*instance_pass.actions, *status_writes)
    )
    return InstancePlan(instance, actions, status, instance_pass.requeue_at, instance_pass, instance_status)


def _suspended(instance: Object, now: Instant) -> InstancePlan:
    parts = (
        Condition(conditions.INSTANCE_MANAGED, "True", Reason.MANAGED),
        Condition(
            conditions.RESOURCES_READY,
            "False",
            Reason.RECONCILIATION_SUSPENDED,
            f"the annotation {labels.RECONCILE} says {instance.annotations[labels.RECONCILE]}",
        ),
    )
    own_conditions = (root(conditions.READY, parts), *parts)
    before = instance.status.get("conditions") or ()
    kept = {str(item.get("type")): item for item in before if isinstance(item, Mapping)}
    written = documents(own_conditions, instance.status, instance.generation, now)
    for each in written:
        kept.pop(each["type"], None)
    own = {**(instance.status.get(conditions.OWN) or {}), "isReady": False}
    status = {**instance.status, "conditions": [*written, *kept.values()], conditions.OWN: own}
    actions = () if status == instance.status else (UpdateStatus(instance.key, instance.uid, status),)
    return InstancePlan(instance, actions, status)
