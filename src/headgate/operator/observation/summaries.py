"""What sets and graphs say of themselves in their status: enough for a line of a list, without asking for their parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.graph.compile import loops
from headgate.graph.reconcile import conditions as graph_conditions
from headgate.graph.reconcile import labels
from headgate.kernel import conditions as written_conditions
from headgate.kernel.explanations import PartState
from headgate.kernel.objects import Object
from headgate.workload.plan import conditions, set_states

UNSEEN = "unseen"
"""The operator has not said anything of it yet."""
_NOT_SEEN = "the operator has not seen it as it is now"


class SetSummary(msgspec.Struct, frozen=True, rename="camel"):
    state: str
    message: str
    replicas: int
    updated_replicas: int
    available_replicas: int
    is_paused: bool
    partition: int


class GraphSummary(msgspec.Struct, frozen=True, rename="camel"):
    """`revision` is the graph revision that a definition is at, or that an instance was granted."""

    state: str
    message: str
    is_ready: bool
    is_paused: bool
    revision: int | None


def of_set(item: Object) -> SetSummary:
    strategy = _map(item.spec.get("updateStrategy"))
    state, message = _state_of_set(item)
    replicas = item.spec.get("replicas")
    return SetSummary(
        state,
        message,
        replicas if isinstance(replicas, int) else 1,
        _count(item.status, "updatedReplicas"),
        _count(item.status, "availableReplicas"),
        strategy.get("paused") is True,
        _count(strategy, "partition"),
    )


def _state_of_set(item: Object) -> tuple[str, str]:
    if item.deleted_at is not None:
        return PartState.DELETING.value, "on its way out"
    condition = _condition(item, conditions.PROGRESSING)
    if condition is None or _count(item.status, "observedGeneration") < item.generation:
        return UNSEEN, _NOT_SEEN
    reason, message = condition
    available = _condition(item, conditions.AVAILABLE)
    state = set_states.by_conditions(reason, available[0] if available is not None else None)
    if state == PartState.STARTING and available is not None:
        message = available[1]
    return state, message


def of_definition(item: Object) -> GraphSummary:
    return _of_graph(item, _count(item.status, "lastIssuedRevision") or None)


def instance_kind(definition: Object) -> str:
    return loops.defined_kind(definition.spec)[1]


def of_instance(item: Object) -> GraphSummary:
    own = _map(item.status.get(graph_conditions.OWN))
    return _of_graph(item, _count(own, "graphRevision") or None)


class GraphNode(msgspec.Struct, frozen=True, rename="camel"):
    """One of a definition, as it is written; `depends_on` is what the operator found that it reads."""

    id: str
    kind: str
    is_collection: bool
    is_external: bool
    depends_on: tuple[str, ...]
    include_when: tuple[str, ...]
    ready_when: tuple[str, ...]
    propagate_when: tuple[str, ...]


def nodes_of(definition: Object) -> list[GraphNode]:
    """In the order in which the operator goes through them, as far as it has said it."""
    edges = {
        str(entry.get("id")): tuple(str(_map(each).get("id")) for each in _maps(entry.get("dependencies")))
        for entry in _maps(definition.status.get("resources"))
    }
    order = {str(name): number for number, name in enumerate(_list(definition.status, "topologicalOrder"))}
    nodes = [_node(entry, edges) for entry in _maps(definition.spec.get("resources"))]
    return sorted(nodes, key=lambda node: order.get(node.id, len(order)))


def _node(entry: Mapping[str, Any], edges: Mapping[str, tuple[str, ...]]) -> GraphNode:
    identifier = str(entry.get("id") or "")
    is_external = isinstance(entry.get("externalRef"), Mapping)
    part = _map(entry.get("externalRef") if is_external else entry.get("template"))
    return GraphNode(
        identifier,
        str(part.get("kind") or ""),
        bool(_list(entry, "forEach")),
        is_external,
        edges.get(identifier, ()),
        *(
            tuple(str(text) for text in _list(entry, key))
            for key in ("includeWhen", "readyWhen", "propagateWhen")
        ),
    )


def _of_graph(item: Object, revision: int | None) -> GraphSummary:
    state, message = _state_of_graph(item)
    own = _map(item.status.get(graph_conditions.OWN))
    is_ready = own.get("isReady") is True if own else item.status.get("state") == "Active"
    return GraphSummary(state, message, is_ready, labels.is_paused(item.annotations), revision)


def _state_of_graph(item: Object) -> tuple[str, str]:
    if item.deleted_at is not None:
        return PartState.DELETING.value, "on its way out"
    condition = _condition(item, graph_conditions.RESOURCES_PROPAGATED)
    ready = _condition(item, graph_conditions.READY)
    if ready is not None and (condition is None or item.status.get("state") == "Inactive"):
        return ready
    if condition is not None:
        return condition
    own = _map(item.status.get(graph_conditions.OWN))
    if own:
        is_propagated = own.get("isPropagated") is True
        return (PartState.PROPAGATED if is_propagated else PartState.PROPAGATING).value, ""
    return UNSEEN, _NOT_SEEN


def _condition(item: Object, kind: str) -> tuple[str, str] | None:
    """Reason and message."""
    condition = written_conditions.find(item.status, kind)
    return (
        None
        if condition is None
        else (str(condition.get("reason") or ""), str(condition.get("message") or ""))
    )


def _count(source: Mapping[str, Any], key: str) -> int:
    number = source.get(key)
    return number if isinstance(number, int) else 0


def _list(source: Mapping[str, Any], key: str) -> list[Any]:
    items = source.get(key)
    return items if isinstance(items, list) else []


def _maps(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
