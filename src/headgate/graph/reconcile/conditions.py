"""The conditions of instances and definitions, and what stands in an instance's status beside them.

A healthy instance that waits on an old revision stays Ready; how far a propagation has come is told by
ResourcesPropagated alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate import cel
from headgate.graph.compile import crd, names
from headgate.graph.reconcile import contents, judging
from headgate.graph.reconcile.instances import InstancePass
from headgate.graph.reconcile.nodes import NodeState, NodeUnit
from headgate.kernel.conditions import Condition, WrittenReason, documents, refusal, root
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant

READY = "Ready"
INSTANCE_MANAGED = "InstanceManaged"
GRAPH_RESOLVED = "GraphResolved"
RESOURCES_READY = "ResourcesReady"
RESOURCES_PROPAGATED = "ResourcesPropagated"

OWN = crd.OWN_STATUS


class InstanceStatus(msgspec.Struct, frozen=True):
    """Where an instance stands, in a few words that are kept in its status."""

    state: str
    conditions: tuple[Condition, ...]
    is_ready: bool
    is_propagated: bool
    landed_revision: int
    """The last revision that all of it was at and ready."""


def instance_status(instance_pass: InstancePass, landed_before: int) -> InstanceStatus:
    states = [state for state in instance_pass.states if state.node.template is not None]
    propagated = _propagated(instance_pass, states)
    is_propagated = propagated.status == "True"
    ready = _resources_ready(instance_pass, states, had_landed=landed_before > 0)
    is_ready = ready.status == "True"
    managed = Condition(INSTANCE_MANAGED, "True", Reason.MANAGED)
    resolved = _graph_resolved(instance_pass, states)
    whole = root(READY, (managed, resolved, ready))
    landed = instance_pass.number if is_ready and is_propagated else landed_before
    failed = (
        resolved.status == "False"
        or any(unit.problem for unit in instance_pass.units)
        or refusal(instance_pass.instance.status) is not None
    )
    state = "ERROR" if failed else ("ACTIVE" if is_ready else "IN_PROGRESS")
    return InstanceStatus(
        state, (whole, managed, resolved, ready, propagated), is_ready, is_propagated, landed
    )


def _graph_resolved(instance_pass: InstancePass, states: Sequence[NodeState]) -> Condition:
    for state in states:
        if state.resolved.state == "failed":
            return Condition(GRAPH_RESOLVED, "False", Reason.RESOLUTION_FAILED, f"{state.id}: {state.reason}")
    return Condition(GRAPH_RESOLVED, "True", Reason.RESOLVED, f"at revision {instance_pass.number}")


def _resources_ready(
    instance_pass: InstancePass, states: Sequence[NodeState], *, had_landed: bool
) -> Condition:
    for state in states:
        for unit in (each.last_applied for each in state.units):
            if unit.object is not None and unit.object.deleted_at is not None:
                message = f"{state.id}: {unit.key.kind} {unit.name} is being deleted"
                return Condition(RESOURCES_READY, "False", Reason.RESOURCE_DELETING, message)
    for state in states:
        reason = _not_ready(state, had_landed)
        if reason:
            return Condition(RESOURCES_READY, "False", Reason.NOT_READY, reason)
    for state in instance_pass.states:
        if state.node.template is None and not had_landed and (state.reason or not state.is_ready):
            return Condition(
                RESOURCES_READY, "False", Reason.NOT_READY, f"{state.id}: {state.reason or 'is not ready'}"
            )
    return Condition(RESOURCES_READY, "True", Reason.ALL_RESOURCES_READY)


def _not_ready(state: NodeState, had_landed: bool) -> str:
    """What was never granted is missing only as long as the instance was never whole."""
    unready = [unit.last_applied for unit in state.units if unit.stands and not unit.is_ready]
    if unready:
        return f"{state.id}: {_named(unready)} not ready"
    if had_landed:
        return ""
    missing = [unit for unit in state.units if not unit.stands]
    if missing:
        why = next((unit.problem for unit in missing if unit.problem), "")
        return f"{state.id}: {_named(missing)} not created yet" + (f": {why}" if why else "")
    if not state.is_resolved:
        return f"{state.id}: {state.reason}"
    return ""


def _named(units: Sequence[NodeUnit]) -> str:
    if len(units) == 1:
        return f"{units[0].key.kind} {units[0].name} is"
    return f"{len(units)} of {units[0].key.kind}, {units[0].name} the first, are"


def progress(instance_pass: InstancePass) -> tuple[int, int]:
    """How many objects are at the newest revision, of how many."""
    done = total = 0
    for state in instance_pass.states:
        if state.node.template is None or state.is_excluded:
            continue
        if state.had_reached:
            total += len(state.units)
            done += len(state.units)
        elif not state.is_resolved or state.number != instance_pass.number:
            total += max(1, len(state.units))
        else:
            total += len(state.units)
            done += sum(unit.is_updated for unit in state.units)
    return done, total


def _propagated(instance_pass: InstancePass, states: Sequence[NodeState]) -> Condition:
    done, total = progress(instance_pass)
    refused = refusal(instance_pass.instance.status)
    if refused is not None:
        arrived = [state for state in states if state.number == instance_pass.number]
        units = [unit for state in arrived for unit in state.units if unit.is_updated]
        done -= sum(unit.written_number != unit.number for unit in units)
        so_far = f"{done} of {total} at revision {instance_pass.number}"
        return Condition(RESOURCES_PROPAGATED, "False", Reason.WRITE_REFUSED, f"{so_far}; {refused.message}")
    if done == total and all(state.is_resolved or state.had_reached for state in states):
        return Condition(
            RESOURCES_PROPAGATED, "True", Reason.PROPAGATED, f"all at revision {instance_pass.number}"
        )
    so_far = f"{done} of {total} at revision {instance_pass.number}"
    if any(unit.is_in_flight for state in states for unit in state.units if unit.grant is not None):
        return Condition(RESOURCES_PROPAGATED, "Unknown", Reason.PROPAGATING, so_far)
    failure = _failure(states)
    if failure:
        return Condition(RESOURCES_PROPAGATED, "False", Reason.EVALUATION_FAILED, f"{so_far}; {failure}")
    blocked = _blocked(states)
    if blocked:
        return Condition(RESOURCES_PROPAGATED, "False", Reason.PROPAGATION_BLOCKED, f"{so_far}; {blocked}")
    waits = next((f"{state.id} {state.reason}" for state in states if state.reason), "")
    return Condition(
        RESOURCES_PROPAGATED, "Unknown", Reason.PROPAGATING, f"{so_far}; {waits}" if waits else so_far
    )


def _failure(states: Sequence[NodeState]) -> str:
    for state in states:
        if state.resolved.state == "failed":
            return f"{state.id}: {state.reason}"
        for unit in state.units:
            answer = unit.answer
            if answer is not None and answer.outcome == "error":
                gate = f"{judging.gate_of(answer)}: " if judging.gate_of(answer) else ""
                return f"{state.id} {unit.name}: {gate}{answer.message}"
    return ""


def _blocked(states: Sequence[NodeState]) -> str:
    for state in states:
        for unit in state.units:
            answer = unit.answer
            if answer is not None and answer.outcome == "pending":
                gate = f"{judging.gate_of(answer)} " if judging.gate_of(answer) else ""
                return f"{state.id} {unit.name}: {gate}{answer.message}"
    return ""


def status_of(instance_pass: InstancePass, summary: InstanceStatus, now: Instant) -> dict[str, Any]:
    """The author's own fields and conditions, and the built-in ones where the author has none."""
    bindings: dict[str, object] = {}
    for state in instance_pass.states:
        value = state.binding()
        if value is not None:
            bindings[state.id] = value
    schema = contents.document_of(instance_pass.instance)
    schema.pop("status", None)
    bindings[names.SCHEMA] = schema
    projected, _ = instance_pass.graph.status.project(bindings)
    before = instance_pass.instance.status.get("conditions") or ()
    generation = instance_pass.instance.generation
    conditions_now: Sequence[Condition] = summary.conditions
    named_state = summary.state
    if instance_pass.graph.conditions is not None:
        conditions_now, is_doubled = _author_conditions(instance_pass, bindings, before)
        if is_doubled:
            named_state = "ERROR"
    return {
        **projected,
        "state": named_state,
        "conditions": documents(conditions_now, instance_pass.instance.status, generation, now),
        OWN: {
            "revision": instance_pass.number,
            "graphRevision": instance_pass.graph_number,
            "landedRevision": summary.landed_revision,
            "landedGraphRevision": _landed_graph(instance_pass, summary),
            "isReady": summary.is_ready,
            "isPropagated": summary.is_propagated,
            "observedGeneration": generation,
        },
    }


def _landed_graph(instance_pass: InstancePass, summary: InstanceStatus) -> int:
    if summary.landed_revision == instance_pass.number:
        return instance_pass.graph_number
    return int((instance_pass.instance.status.get(OWN) or {}).get("landedGraphRevision") or 0)


def _author_conditions(
    instance_pass: InstancePass, bindings: Mapping[str, object], before: Sequence[Any]
) -> tuple[list[Condition], bool]:
    """One whose data is not there yet stays as it was; a type that two entries give is dropped."""
    known = {str(item.get("type")): item for item in before if isinstance(item, Mapping)}
    made: dict[str, Condition] = {}
    is_doubled = False
    for projection in instance_pass.graph.conditions or ():
        try:
            entries = projection.evaluate(
                {**bindings, names.SCHEMA: contents.document_of(instance_pass.instance)}
            )
        except cel.EvaluationError:
            old = known.get(projection.type or "")
            entries = [dict(old)] if old is not None else []
        for entry in entries:
            if entry["type"] in made:
                is_doubled = True
                continue
            status: Any = entry.get("status", "Unknown")
            made[entry["type"]] = Condition(
                entry["type"], status, WrittenReason(entry.get("reason", "")), entry.get("message", "")
            )
    return list(made.values()), is_doubled
