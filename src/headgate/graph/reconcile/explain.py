"""Why each object of an instance, and each instance of a definition, is where it is: one line for each, with what is
waited for and when it is looked at again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from headgate.graph.reconcile import contents, labels
from headgate.graph.reconcile.judging import GateVerdict
from headgate.graph.reconcile.nodes import NodeState, NodeUnit
from headgate.graph.reconcile.rollouts import RolloutMember
from headgate.kernel import instants
from headgate.kernel.conditions import RefusedWrite, refusal
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object

if TYPE_CHECKING:
    from headgate.graph.reconcile.propagate import DefinitionPlan, InstancePlan

_MOST_NAMED = 50
Verdict = Literal["allowed", "pending", "denied"]
LineKind = Literal[
    "definition", "dependency", "deletion", "externalRef", "includeWhen", "propagateWhen", "readyWhen", "removal",
    "suspension", "template", "write",
]  # fmt: skip


class ReasonLine(msgspec.Struct, frozen=True):
    """`node` and `item` say what it is about; `kind` which sort of reason it is."""

    node: str
    item: str
    kind: LineKind
    revision: int
    verdict: Verdict
    message: str
    requeue_at: Instant | None = None


def instance_lines(plan: InstancePlan) -> list[ReasonLine]:
    instance_pass = plan.instance_pass
    if instance_pass is None:
        return [_without_a_look(plan), *map(_left_line, plan.left[:_MOST_NAMED])]
    found: list[ReasonLine] = []
    refused = refusal(plan.instance.status)
    if refused is not None:
        found.append(_refused(refused, instance_pass.number))
    for state in instance_pass.states:
        if state.node.template is not None:
            found.extend(_node_lines(state, instance_pass.number, is_refused=refused is not None))
        elif state.reason:
            found.append(
                ReasonLine(state.id, "", "externalRef", instance_pass.number, "pending", state.reason)
            )
    for state in (*instance_pass.states, *instance_pass.leftovers):
        for unit in state.extras:
            what_follows = f"stays while {unit.held}" if unit.held else "is being removed"
            message = f"{unit.key.kind} {unit.name} is not wanted at revision {instance_pass.number} and {what_follows}"
            found.append(ReasonLine(state.id, unit.name, "removal", unit.number, "pending", message))
    return found


def _refused(refused: RefusedWrite, number: int) -> ReasonLine:
    message = f"the server refuses {refused.message}, since {instants.show(refused.since)}; it is tried again"
    return ReasonLine("", "", "write", number, "denied", message)


def _left_line(item: Object) -> ReasonLine:
    leaving = contents.on_its_way(item)
    message = f"is {leaving}" if leaving else "goes after what depends on it"
    node = item.labels.get(labels.NODE_ID, "")
    return ReasonLine(node, item.name, "deletion", 0, "pending", f"{item.kind} {item.name} {message}")


def _without_a_look(plan: InstancePlan) -> ReasonLine:
    annotations = plan.instance.annotations
    if plan.instance.deleted_at is not None:
        return ReasonLine("", "", "deletion", 0, "pending", "it is being deleted, its objects before it")
    if labels.is_suspended(annotations):
        message = f"it is suspended by the annotation {labels.RECONCILE}"
        return ReasonLine("", "", "suspension", 0, "pending", message)
    return ReasonLine("", "", "definition", 0, "pending", "it waits to be given a graph revision")


def _node_lines(state: NodeState, newest: int, *, is_refused: bool) -> list[ReasonLine]:
    if state.is_excluded:
        reason = state.resolved.reason or "it is left out by includeWhen"
        return [ReasonLine(state.id, "", "includeWhen", newest, "allowed", reason)]
    if not state.is_resolved:
        verdict: Verdict = "denied" if state.resolved.state == "failed" else "pending"
        kind: LineKind = "template" if verdict == "denied" else "dependency"
        reason = state.reason
        if state.had_reached:
            reason = f"it is at revision {newest}; before it changes again it {reason}"
        return [ReasonLine(state.id, "", kind, newest, verdict, reason)]
    return [_unit_line(state, unit, is_refused=is_refused) for unit in state.units]


def _unit_line(state: NodeState, unit: NodeUnit, *, is_refused: bool) -> ReasonLine:
    is_written = not is_refused or unit.written_number == unit.number
    if unit.is_updated and not is_written:
        message = f"{unit.key.kind} {unit.name} {_stays(unit.written_number)}: revision {unit.number} is granted and not written yet"
        return ReasonLine(state.id, unit.name, "write", state.number, "pending", message)
    if unit.is_updated:
        if unit.is_ready:
            message = f"{unit.key.kind} {unit.name} is at revision {state.number} and ready"
            return ReasonLine(state.id, unit.name, "propagateWhen", state.number, "allowed", message)
        message = f"{unit.key.kind} {unit.name} is at revision {state.number} and not ready yet"
        return ReasonLine(state.id, unit.name, "readyWhen", state.number, "pending", message)
    last = unit.last_applied
    stays = _stays(last.written_number if is_refused else last.number)
    if last is not unit:
        stays = f"is {'not created' if unit.grant is None else 'not taken over'}, {last.name} {stays}"
    message = f"{unit.key.kind} {unit.name} {stays}: {said(unit.answer)}"
    requeue_at = unit.answer.requeue_at if unit.answer is not None else None
    return ReasonLine(state.id, unit.name, "propagateWhen", state.number, "pending", message, requeue_at)


def _stays(number: int) -> str:
    return f"stays at revision {number}" if number else "is not created"


def said(answer: GateVerdict | None) -> str:
    if answer is None:
        return "it was not asked for yet"
    words = answer.message
    if answer.gate:
        words = (
            f"{answer.gate} cannot be evaluated: {words}"
            if answer.outcome == "error"
            else f"{answer.gate} {words}"
        )
        if answer.outcome == "pending" and answer.message != "is false":
            words = f"{answer.gate}: {answer.message}"
    if answer.requeue_at is not None:
        words += f"; looked at again at {instants.show(answer.requeue_at)}"
    return words


def definition_lines(plan: DefinitionPlan) -> list[ReasonLine]:
    rollout = plan.rollout
    found = [
        ReasonLine("", "", "definition", rollout.number, "denied", problem) for problem in rollout.problems
    ]
    refused = refusal(plan.definition.status)
    if refused is not None:
        found.append(_refused(refused, rollout.number))
    if rollout.leaving:
        message = f"it is being deleted: {rollout.leaving}"
        found.append(ReasonLine("", "", "deletion", rollout.number, "pending", message))
    found.extend(_member_line(member, rollout.number) for member in rollout.members)
    return found


def _member_line(member: RolloutMember, newest: int) -> ReasonLine:
    name = member.instance.name
    if member.is_updated:
        verdict: Verdict = "allowed" if member.is_ready else "pending"
        words = "and ready" if member.is_ready else "and not all of it is there and ready yet"
        if member.refusal is not None:
            words = f"and the server refuses {member.refusal.message}"
        return ReasonLine(
            "", name, "propagateWhen", newest, verdict, f"{name} is at graph revision {newest} {words}"
        )
    message = f"{name} stays at graph revision {member.number}: {said(member.answer)}"
    requeue_at = member.answer.requeue_at if member.answer is not None else None
    return ReasonLine("", name, "propagateWhen", newest, "pending", message, requeue_at)
