"""What an instance or a definition that is not done waits for, as news of objects."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.cluster.cache import ObjectCache
from headgate.graph.compile import definition
from headgate.graph.controller import GraphPlan
from headgate.graph.reconcile import conditions, labels
from headgate.graph.reconcile.accepted_graphs import request_for
from headgate.graph.reconcile.instances import InstancePass
from headgate.graph.reconcile.propagate import DefinitionPlan, InstancePlan
from headgate.kernel.objects import Key, Object
from headgate.promises import requests
from headgate.promises.requests import MadeUpNews


def waits(request: Key, plan: GraphPlan, cache: ObjectCache) -> Iterator[MadeUpNews]:
    item = cache.get(request)
    if item is None or item.deleted_at is not None:
        return
    if isinstance(plan, DefinitionPlan):
        if plan.rollout.problems or not all(member.is_updated for member in plan.rollout.members):
            yield MadeUpNews("definition", item, requests.edited)
            yield from _of_members(plan, cache)
    elif _is_under_way(plan):
        yield MadeUpNews("instance", item, requests.edited)
        top = cache.get(request_for(item.labels.get(labels.DEFINITION_NAME, "")))
        if top is not None and _serves(top, item):
            yield MadeUpNews("definition of the instance", top, requests.edited)
        if plan.instance_pass is not None:
            yield from _of_objects(plan.instance_pass, cache)


def _serves(top: Object, instance: Object) -> bool:
    """An instance that another graph holds may still carry the name of that one's definition."""
    schema = top.spec.get("schema") or {}
    kind = (schema.get("group") or definition.DEFAULT_GROUP, schema.get("kind"))
    return kind == (instance.group, instance.kind)


def _is_under_way(plan: InstancePlan) -> bool:
    status = plan.instance_status
    return status is None or not (status.is_ready and status.is_propagated)


def _of_members(plan: DefinitionPlan, cache: ObjectCache) -> Iterator[MadeUpNews]:
    for member in plan.rollout.members:
        item = cache.get(member.instance.key)
        if item is not None:
            yield MadeUpNews("member", item, _got_further, is_own_status=True)


def _got_further(instance: Object) -> Object:
    """As the planner writes it into its status."""
    further = {**(instance.status.get(conditions.OWN) or {}), requests.MADE_UP: True}
    return requests.with_status(instance, conditions.OWN, further)


def _of_objects(instance_pass: InstancePass, cache: ObjectCache) -> Iterator[MadeUpNews]:
    """Its own, those that stand in its way, and what others own and it reads."""
    for state in (*instance_pass.states, *instance_pass.leftovers):
        for unit in (*state.units, *state.extras):
            item = cache.get(unit.key)
            if item is None:
                continue
            if unit.problem:
                yield MadeUpNews("in the way", item, requests.leaving)
            elif unit.grant is not None:
                yield MadeUpNews("object", item, requests.reporting)
                yield MadeUpNews("object that goes", item, requests.leaving)
        reference = state.node.external_ref
        if reference is not None:
            place = (instance_pass.instance.namespace, requests.MADE_UP)
            yield MadeUpNews("external", Object(reference.api_version, reference.kind, *place))
