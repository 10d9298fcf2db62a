"""What is not done, and why: for convergence, for the end of a run, and in a word for explanations."""

from collections.abc import Mapping

from headgate.cluster.simulated.store import ObjectStore
from headgate.graph.controller import GraphPlan
from headgate.graph.reconcile import explain_tree, labels
from headgate.graph.reconcile.accepted_graphs import is_definition
from headgate.graph.reconcile.instances import InstancePass
from headgate.graph.reconcile.nodes import NodeUnit
from headgate.graph.reconcile.propagate import DefinitionPlan, InstancePlan
from headgate.graph.reconcile.rollouts import DefinitionRollout
from headgate.kernel.objects import Key
from headgate.promises.base import Unfinished


def unfinished(plans: Mapping[Key, GraphPlan], store: ObjectStore) -> list[Unfinished]:
    unfinished_parts: list[Unfinished] = []
    for request, plan in sorted(plans.items(), key=lambda entry: _sort_key(entry[0])):
        if isinstance(plan, InstancePlan):
            if store.get(plan.instance.key) is None:
                continue
            if not _is_done(plan):
                unfinished_parts.append(_instance(plan))
        elif not all(member.is_updated for member in plan.rollout.members):
            unfinished_parts.append(_definition(request.name, plan))
    return unfinished_parts


def left_waiting(
    plans: Mapping[Key, GraphPlan], store: ObjectStore
) -> list[InstancePass | DefinitionRollout]:
    """The last plans of what may not be done."""
    waiting_parts: list[InstancePass | DefinitionRollout] = []
    for _, plan in sorted(plans.items(), key=lambda entry: _sort_key(entry[0])):
        if isinstance(plan, DefinitionPlan):
            waiting_parts.append(plan.rollout)
        elif plan.instance_pass is not None and store.get(plan.instance.key) is not None:
            waiting_parts.append(plan.instance_pass)
    return waiting_parts


def _sort_key(request: Key) -> str:
    return request.name if is_definition(request) else str(request)


def _is_done(plan: InstancePlan) -> bool:
    instance_status = plan.instance_status
    if plan.instance_pass is None or instance_status is None:
        return False
    return (
        instance_status.is_ready and instance_status.is_propagated and not _has_leftovers(plan.instance_pass)
    )


def _has_leftovers(instance_pass: InstancePass) -> bool:
    """Objects that are not wanted any more and not gone yet."""
    return any(
        unit.object is not None
        for state in (*instance_pass.states, *instance_pass.leftovers)
        for unit in state.extras
    )


def _instance(plan: InstancePlan) -> Unfinished:
    reasons = tuple(
        explained.line.message for explained in plan.lines() if explained.line.verdict != "allowed"
    )[:5]
    instance_pass = plan.instance_pass
    if instance_pass is None:
        is_held = labels.is_suspended(plan.instance.annotations)
        return Unfinished(plan.instance.name, state_of(plan), reasons, is_held, not is_held)
    answers = [unit.answer for unit in instance_pass.units if unit.answer is not None]
    is_held = instance_pass.is_paused or not all(answer.is_allowed for answer in answers)
    is_held = is_held or any(state.resolved.state == "failed" for state in instance_pass.states)
    waits = any((unit.stands and not unit.is_ready) for unit in instance_pass.units) or any(
        state.resolved.state == "waiting" for state in instance_pass.states
    )
    waits = waits or _has_leftovers(instance_pass)
    if any(_is_unwritten(unit) for unit in instance_pass.units):
        is_held = waits = instance_pass.is_paused
    return Unfinished(plan.instance.name, state_of(plan), reasons, is_held, waits)


def _is_unwritten(unit: NodeUnit) -> bool:
    """Granted, in nobody's way, and not there as it was granted: that is the planner's own work, not another's."""
    if unit.grant is None or unit.wanted is None or unit.problem:
        return False
    return unit.object is None or unit.object.annotations.get(labels.CONTENT) != unit.grant.hash


def _definition(name: str, plan: DefinitionPlan) -> Unfinished:
    reasons = tuple(
        explained.line.message for explained in plan.lines() if explained.line.verdict != "allowed"
    )[:5]
    answers = [member.answer for member in plan.rollout.members if member.answer is not None]
    is_held = plan.rollout.is_paused or not all(answer.is_allowed for answer in answers)
    waits = any(not member.is_ready for member in plan.rollout.members)
    return Unfinished(f"definition {name}", state_of(plan), reasons, is_held, waits)


def state_of(plan: GraphPlan) -> str:
    return explain_tree.state_and_message(plan)[0].value
