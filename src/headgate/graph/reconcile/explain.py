"""Why each object of an instance, and each instance of a definition, is where it is: one line for each, with what is
waited for and when it is looked at again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from headgate.graph.reconcile import contents, judging, labels
from headgate.graph.reconcile.nodes import NodeState, NodeUnit
from headgate.graph.reconcile.rollouts import RolloutMember
from headgate.kernel import decisions, instants
from headgate.kernel.conditions import RefusedWrite, refusal
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.explanations import ExplanationLine
from headgate.kernel.objects import Object

if TYPE_CHECKING:
    from headgate.graph.reconcile.propagate import DefinitionPlan, InstancePlan

_MOST_NAMED = 50
LineKind = Literal[
    "definition", "dependency", "deletion", "externalRef", "includeWhen", "propagateWhen", "readyWhen", "removal",
    "suspension", "template", "write",
]  # fmt: skip


class GraphLine(msgspec.Struct, frozen=True):
    """What is said, and of what: an object or instance `item`, a `node` as a whole, or with neither all of it."""

    node: str
    item: str
    revision: int
    line: ExplanationLine


def _line(
    node: str, item: str, kind: LineKind, revision: int, verdict: Verdict, message: str = ""
) -> GraphLine:
    """The message is the verdict's own unless there is more to say."""
    line = ExplanationLine(
        kind, "", verdict.outcome, verdict.reason, message or verdict.message, verdict.requeue_at
    )
    return GraphLine(node, item, revision, line)


def instance_lines(plan: InstancePlan) -> list[GraphLine]:
    instance_pass = plan.instance_pass
    if instance_pass is None:
        return [_without_a_look(plan), *map(_left_line, plan.left[:_MOST_NAMED])]
    lines: list[GraphLine] = []
    number = instance_pass.number
    refused = refusal(plan.instance.status)
    if refused is not None:
        lines.append(_refused(refused, number))
    for state in instance_pass.states:
        if state.node.template is not None:
            lines.extend(_node_lines(state, number, is_refused=refused is not None))
        elif state.reason:
            waits = decisions.pending(Reason.AWAITING_DEPENDENCY, state.reason)
            lines.append(_line(state.id, "", "externalRef", number, waits))
    for state in (*instance_pass.states, *instance_pass.leftovers):
        for unit in state.extras:
            verdict = _removal(unit, number, is_paused=instance_pass.is_paused)
            lines.append(_line(state.id, unit.name, "removal", unit.number, verdict))
    return lines


def _refused(refused: RefusedWrite, number: int) -> GraphLine:
    message = f"the server refuses {refused.message}, since {instants.show(refused.since)}; it is tried again"
    return _line("", "", "write", number, decisions.denied(Reason.WRITE_REFUSED, message))


def _removal(unit: NodeUnit, number: int, *, is_paused: bool) -> Verdict:
    unwanted = f"{unit.key.kind} {unit.name} is not wanted at revision {number} and"
    if not unit.held:
        return decisions.pending(Reason.TERMINATING, f"{unwanted} is being removed")
    reason = Reason.PAUSED if is_paused else Reason.AWAITING_DEPENDENCY
    return decisions.pending(reason, f"{unwanted} stays while {unit.held}")


def _left_line(item: Object) -> GraphLine:
    leaving = contents.on_its_way(item)
    reason = Reason.TERMINATING if leaving else Reason.AWAITING_DEPENDENCY
    message = f"{item.kind} {item.name} {f'is {leaving}' if leaving else 'goes after what depends on it'}"
    node = item.labels.get(labels.NODE_ID, "")
    return _line(node, item.name, "deletion", 0, decisions.pending(reason, message))


_WITHOUT_A_LOOK: dict[Reason, tuple[LineKind, str]] = {
    Reason.UNDER_DELETION: ("deletion", "it is being deleted, its objects before it"),
    Reason.RECONCILIATION_SUSPENDED: (
        "suspension",
        f"it is suspended by the annotation {labels.RECONCILE}",
    ),
    Reason.AWAITING_DEPENDENCY: ("definition", "it waits to be given a graph revision"),
}


def _without_a_look(plan: InstancePlan) -> GraphLine:
    reason = plan.not_looked_at
    kind, message = _WITHOUT_A_LOOK[reason]
    return _line("", "", kind, 0, decisions.pending(reason, message))


def _node_lines(state: NodeState, newest: int, *, is_refused: bool) -> list[GraphLine]:
    if state.is_excluded:
        passes = decisions.allowed(state.resolved.reason or "it is left out by includeWhen")
        return [_line(state.id, "", "includeWhen", newest, passes)]
    if state.unresolved is not None:
        message = state.reason
        if state.had_reached:
            message = f"it is at revision {newest}; before it changes again it {message}"
        if state.resolved.state == "failed":
            return [_line(state.id, "", "template", newest, decisions.denied(state.unresolved, message))]
        return [_line(state.id, "", "dependency", newest, decisions.pending(state.unresolved, message))]
    return [_unit_line(state, unit, is_refused=is_refused) for unit in state.units]


def _unit_line(state: NodeState, unit: NodeUnit, *, is_refused: bool) -> GraphLine:
    subject = f"{unit.key.kind} {unit.name}"
    is_written = not is_refused or unit.written_number == unit.number
    if unit.is_updated and not is_written:
        message = (
            f"{subject} {_stays(unit.written_number)}: revision {unit.number} is granted and not written yet"
        )
        verdict = decisions.pending(Reason.WRITE_REFUSED, message)
        return _line(state.id, unit.name, "write", state.number, verdict)
    if unit.is_updated:
        at = f"{subject} is at revision {state.number}"
        if unit.is_ready:
            passes = decisions.allowed(f"{at} and ready")
            return _line(state.id, unit.name, "propagateWhen", state.number, passes)
        verdict = decisions.pending(Reason.NOT_READY, f"{at} and not ready yet")
        return _line(state.id, unit.name, "readyWhen", state.number, verdict)
    last = unit.last_applied
    stays = _stays(last.written_number if is_refused else last.number)
    if last is not unit:
        stays = f"is {'not created' if unit.grant is None else 'not taken over'}, {last.name} {stays}"
    message = f"{subject} {stays}: {message_of(unit.answer)}"
    return _line(state.id, unit.name, "propagateWhen", state.number, _waiting(unit.answer), message)


def _stays(number: int) -> str:
    return f"stays at revision {number}" if number else "is not created"


_NOT_ASKED = decisions.pending(Reason.AWAITING_TURN, "it was not asked for yet")


def _waiting(answer: Verdict | None) -> Verdict:
    """Of what has not moved: as it was answered; what was let on and not yet moved is on its way."""
    if answer is None:
        return _NOT_ASKED
    return decisions.pending(Reason.PROPAGATING, answer.words) if answer.is_allowed else answer


def message_of(answer: Verdict | None) -> str:
    if answer is None:
        return _NOT_ASKED.message
    words = answer.message
    gate = judging.gate_of(answer)
    if gate:
        words = f"{gate} cannot be evaluated: {words}" if answer.outcome == "error" else f"{gate} {words}"
        if answer.outcome == "pending" and answer.message != "is false":
            words = f"{gate}: {answer.message}"
    if answer.requeue_at is not None:
        words += f"; looked at again at {instants.show(answer.requeue_at)}"
    return words


def definition_lines(plan: DefinitionPlan) -> list[GraphLine]:
    rollout = plan.rollout
    lines = [
        _line("", "", "definition", rollout.number, decisions.denied(Reason.MISCONFIGURED, problem))
        for problem in rollout.problems
    ]
    refused = refusal(plan.definition.status)
    if refused is not None:
        lines.append(_refused(refused, rollout.number))
    if rollout.leaving is not None:
        message = f"it is being deleted: {rollout.leaving.message}"
        verdict = decisions.pending(Reason(rollout.leaving.reason), message)
        lines.append(_line("", "", "deletion", rollout.number, verdict))
    lines.extend(_member_line(member, rollout.number) for member in rollout.members)
    return lines


def _member_line(member: RolloutMember, newest: int) -> GraphLine:
    name = member.instance.name
    if not member.is_updated:
        message = f"{name} stays at graph revision {member.number}: {message_of(member.answer)}"
        return _line("", name, "propagateWhen", newest, _waiting(member.answer), message)
    at = f"{name} is at graph revision {newest}"
    words = "and ready" if member.is_ready else "and not all of it is there and ready yet"
    if member.refusal is not None:
        words = f"and the server refuses {member.refusal.message}"
    if member.is_ready:
        verdict = decisions.allowed(f"{at} {words}")
    else:
        reason = Reason.NOT_READY if member.refusal is None else Reason.WRITE_REFUSED
        verdict = decisions.pending(reason, f"{at} {words}")
    return _line("", name, "propagateWhen", newest, verdict)
