"""Explanations of graphs as the tree that all levels share: a definition, its instances, their nodes, their objects."""

from __future__ import annotations

from collections.abc import Callable

from headgate.graph.reconcile.conditions import RESOURCES_PROPAGATED
from headgate.graph.reconcile.explain import GraphLine
from headgate.graph.reconcile.nodes import NodeUnit
from headgate.graph.reconcile.propagate import DefinitionPlan, InstancePlan
from headgate.graph.reconcile.rollouts import RolloutMember, propagated
from headgate.kernel.decisions import Outcome
from headgate.kernel.explanations import Below, ExplanationTree, PartFacts, PartState
from headgate.kernel.objects import Object

_STATES: dict[Outcome, PartState] = {
    "allowed": PartState.READY,
    "pending": PartState.WAITING,
    "error": PartState.WAITING,
    "denied": PartState.FAILED,
}
"""From the best to the worst. What cannot be asked now is asked again."""


def of_definition(
    plan: DefinitionPlan, below: Below, shows: Callable[[Object], bool] = lambda _: True
) -> ExplanationTree:
    """`below` explains the instances, and whatever else a level knows more about than the object's status. `shows` says
    which instances whoever asks may see."""
    state, message = state_and_message(plan)
    lines = plan.lines()
    of_members = [line for line in lines if line.item]
    return ExplanationTree(
        f"ResourceGraphDefinition {plan.definition.name}",
        "graph",
        state,
        message,
        PartFacts("definition", plan.rollout.number or None),
        tuple(line.line for line in lines if not line.item),
        tuple(
            _item(line, member.instance, PartFacts("instance", _revision(member, plan.rollout.number)), below)
            for line, member in zip(of_members, plan.rollout.members, strict=True)
            if shows(member.instance)
        ),
    )


def _revision(member: RolloutMember, newest: int) -> int | None:
    """Whose content a newer revision does not change is at that one."""
    return (newest if member.is_updated else member.number) or None


def of_instance(plan: InstancePlan, below: Below) -> ExplanationTree:
    state, message = state_and_message(plan)
    lines = plan.lines()
    nodes: dict[str, list[GraphLine]] = {}
    for line in lines:
        if line.node:
            nodes.setdefault(line.node, []).append(line)
    units = _units(plan)
    reads = _reads(plan)
    return ExplanationTree(
        f"{plan.instance.kind} {plan.instance.name}",
        "graph",
        state,
        message,
        PartFacts("instance", plan.instance_pass.number if plan.instance_pass is not None else None),
        tuple(line.line for line in lines if not line.node),
        tuple(
            _node(name, nodes_named, units.get(name, {}), reads.get(name, ()), below)
            for name, nodes_named in nodes.items()
        ),
    )


def state_and_message(plan: InstancePlan | DefinitionPlan) -> tuple[PartState, str]:
    """The reason and message of ResourcesPropagated."""
    if isinstance(plan, DefinitionPlan):
        propagation = propagated(plan.rollout.number, plan.rollout.members)
        return PartState(propagation.reason), propagation.message
    for condition in plan.instance_status.conditions if plan.instance_status is not None else ():
        if condition.type == RESOURCES_PROPAGATED:
            return PartState(condition.reason), condition.message
    return PartState.WAITING, ""


def _units(plan: InstancePlan) -> dict[str, dict[str, NodeUnit]]:
    """By node and name."""
    units: dict[str, dict[str, NodeUnit]] = {}
    for state in (
        (*plan.instance_pass.states, *plan.instance_pass.leftovers) if plan.instance_pass is not None else ()
    ):
        named = units.setdefault(state.id, {})
        named.update((unit.name, unit) for unit in (*state.extras, *state.units))
    return units


def _reads(plan: InstancePlan) -> dict[str, tuple[str, ...]]:
    """Of each node the others that it reads, by its template or its gates."""
    states = plan.instance_pass.states if plan.instance_pass is not None else ()
    ids = {state.id for state in states}
    return {state.id: tuple(sorted(state.node.edges & ids)) for state in states}


def _node(
    name: str,
    lines: list[GraphLine],
    units: dict[str, NodeUnit],
    reads: tuple[str, ...],
    below: Below,
) -> ExplanationTree:
    numbers = {unit.last_applied.number for unit in units.values()}
    revision = numbers.pop() if len(numbers) == 1 else None
    return ExplanationTree(
        name,
        "graph",
        _STATES[max((line.line.verdict for line in lines), key=list(_STATES).index)],
        "",
        PartFacts("node", revision or None, depends_on=reads),
        tuple(line.line for line in lines if not line.item),
        tuple(_object(line, units.get(line.item), below) for line in lines if line.item),
    )


def _object(line: GraphLine, unit: NodeUnit | None, below: Below) -> ExplanationTree:
    number = unit.last_applied.number if unit is not None else None
    item = unit.object if unit is not None else None
    return _item(line, item, PartFacts("object", number or None), below)


def _item(line: GraphLine, item: Object | None, part: PartFacts, below: Below) -> ExplanationTree:
    explanation = below(item) if item is not None else None
    return ExplanationTree(
        f"{item.kind} {item.name}" if item is not None else line.item,
        "graph",
        _STATES[line.line.verdict],
        line.line.message,
        part,
        (line.line,),
        () if explanation is None else (explanation,),
    )
