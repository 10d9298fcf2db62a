"""Explanations of graphs as the tree that all levels share: a definition, its instances, their nodes, their objects."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.graph.reconcile.conditions import RESOURCES_PROPAGATED
from headgate.graph.reconcile.explain import ReasonLine, Verdict
from headgate.graph.reconcile.propagate import DefinitionPlan, InstancePlan
from headgate.graph.reconcile.rollouts import propagated
from headgate.kernel.explanations import Below, ExplanationLine, ExplanationTree
from headgate.kernel.objects import Object

_STATES: dict[Verdict, str] = {"allowed": "ready", "pending": "waiting", "denied": "failed"}


def of_definition(plan: DefinitionPlan, below: Below) -> ExplanationTree:
    """`below` explains the instances, and whatever else a level knows more about than the object's status."""
    found = propagated(plan.rollout.number, plan.rollout.members)
    lines = plan.lines()
    instances = {member.instance.name: member.instance for member in plan.rollout.members}
    return ExplanationTree(
        f"ResourceGraphDefinition {plan.definition.name}",
        "graph",
        found.reason,
        found.message,
        tuple(_line(line) for line in lines if not line.item),
        tuple(_item(line, instances.get(line.item), below) for line in lines if line.item),
    )


def of_instance(plan: InstancePlan, below: Below) -> ExplanationTree:
    state, message = state_and_message(plan)
    lines = plan.lines()
    nodes: dict[str, list[ReasonLine]] = {}
    for line in lines:
        if line.node:
            nodes.setdefault(line.node, []).append(line)
    objects = _objects(plan)
    return ExplanationTree(
        f"{plan.instance.kind} {plan.instance.name}",
        "graph",
        state,
        message,
        tuple(_line(line) for line in lines if not line.node),
        tuple(_node(name, found, objects, below) for name, found in nodes.items()),
    )


def state_and_message(plan: InstancePlan | DefinitionPlan) -> tuple[str, str]:
    """The reason and message of ResourcesPropagated."""
    if isinstance(plan, DefinitionPlan):
        found = propagated(plan.rollout.number, plan.rollout.members)
        return found.reason, found.message
    for condition in plan.instance_status.conditions if plan.instance_status is not None else ():
        if condition.type == RESOURCES_PROPAGATED:
            return condition.reason, condition.message
    return "Waiting", ""


def _objects(plan: InstancePlan) -> dict[tuple[str, str], Object]:
    states = plan.instance_pass.states if plan.instance_pass is not None else ()
    return {
        (state.id, unit.name): unit.object
        for state in states
        for unit in state.units
        if unit.object is not None
    }


def _node(
    name: str, lines: list[ReasonLine], objects: dict[tuple[str, str], Object], below: Below
) -> ExplanationTree:
    return ExplanationTree(
        name,
        "graph",
        _STATES[_worst(line.verdict for line in lines)],
        "",
        tuple(_line(line) for line in lines if not line.item),
        tuple(_item(line, objects.get((name, line.item)), below) for line in lines if line.item),
    )


def _item(line: ReasonLine, item: Object | None, below: Below) -> ExplanationTree:
    found = below(item) if item is not None else None
    return ExplanationTree(
        f"{item.kind} {item.name}" if item is not None else line.item,
        "graph",
        _STATES[line.verdict],
        line.message,
        (_line(line),),
        () if found is None else (found,),
    )


def _worst(verdicts: Iterator[Verdict]) -> Verdict:
    order: tuple[Verdict, ...] = ("allowed", "pending", "denied")
    return max(verdicts, key=order.index)


def _line(line: ReasonLine) -> ExplanationLine:
    return ExplanationLine(line.kind, line.verdict, line.message, "", line.requeue_at)
