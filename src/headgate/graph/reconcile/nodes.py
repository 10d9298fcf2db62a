"""Where the nodes of an instance stand: each object that is wanted or was granted, and whether it is ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from headgate import cel
from headgate.graph.compile import crd, names
from headgate.graph.compile.compiled import CompiledNode, GateExpression
from headgate.graph.reconcile import contents, labels
from headgate.graph.reconcile.desired import DesiredItem, Resolved
from headgate.graph.reconcile.items import GraphItem, GraphItems
from headgate.graph.reconcile.revisions import GrantedChange
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.objects import Key, Object


class NodeUnit:
    """One object of a node. What is granted and not wanted any more has no `wanted`.

    An item whose object gets another name has two for a while: the unit that is wanted, and behind it the objects
    that it is the successor of.
    """

    __slots__ = (
        "answer",
        "grant",
        "held",
        "is_granted_now",
        "is_written",
        "item",
        "key",
        "number",
        "object",
        "origin",
        "predecessors",
        "problem",
        "text",
        "wanted",
    )

    def __init__(
        self,
        key: Key,
        text: str,
        wanted: DesiredItem | None,
        number: int,
        grant: GrantedChange | None,
        live: Object | None,
        item: GraphItem,
        origin: str = "",
    ) -> None:
        self.key = key
        self.text = text
        self.wanted = wanted
        self.number = number
        """The revision that it is at; 0 if none granted it yet."""
        self.grant = grant
        self.object = live
        self.item = item
        self.origin = origin
        """The node whose grant it is, which may be another than the one that wants it now."""
        self.predecessors: Sequence[NodeUnit] = ()
        """Objects of the same item under earlier names, the latest first."""
        self.held = ""
        """Why it stays although it is not wanted any more."""
        self.answer: Verdict | None = None
        self.problem = ""
        self.is_granted_now = False
        self.is_written = False
        """Something is written in this pass, so that what was observed of it does not count."""

    @property
    def is_updated(self) -> bool:
        return self.item.is_current

    @property
    def stands(self) -> bool:
        """Whether the item has an object, be it under its earlier name."""
        return self.grant is not None or bool(self.predecessors)

    @property
    def last_applied(self) -> NodeUnit:
        """The item as it was last granted: itself, or what it is the successor of."""
        return self if not self.predecessors or self.has_own_grant else self.predecessors[0]

    @property
    def has_own_grant(self) -> bool:
        """Not that of another node, which has the object until it is taken over; one of the same content will do."""
        if self.grant is None or not self.predecessors:
            return self.grant is not None
        return self.is_updated or self.origin == self.predecessors[0].origin

    @property
    def written_number(self) -> int:
        """The revision that the object itself carries: a write that was granted may have been refused."""
        if self.grant is None or self.object is None:
            return 0
        if self.object.annotations.get(labels.CONTENT) == self.grant.hash:
            return self.number
        text = self.object.annotations.get(labels.REVISION, "")
        return int(text) if text.isascii() and text.isdigit() else 0

    @property
    def is_ready(self) -> bool:
        return self.stands and not self.last_applied.is_written and self.item.is_ready()

    @property
    def has_landed(self) -> bool:
        return self.is_updated and self.is_ready

    @property
    def is_in_flight(self) -> bool:
        return self.is_updated and not self.is_ready

    @property
    def name(self) -> str:
        return self.key.name


Phase = Literal["settled", "moving", "blocked", "waiting", "failed", "excluded"]


class NodeState(msgspec.Struct):
    """`number` is the revision that the node is on its way to; `reason` why it is not there."""

    node: CompiledNode
    number: int
    resolved: Resolved
    units: list[NodeUnit]
    items: GraphItems
    extras: list[NodeUnit] = []
    """Granted and not wanted any more."""
    reason: str = ""
    had_reached: bool = False
    """Waits for what it depends on before it can change again, and is there meanwhile."""

    @property
    def id(self) -> str:
        return self.node.id

    @property
    def is_excluded(self) -> bool:
        return self.resolved.state == "excluded"

    @property
    def is_resolved(self) -> bool:
        return self.resolved.state in ("resolved", "excluded")

    @property
    def unresolved(self) -> Reason | None:
        """Why it is not worked out what the node wants."""
        if self.is_resolved:
            return None
        return Reason.EVALUATION_FAILED if self.resolved.state == "failed" else Reason.AWAITING_DEPENDENCY

    @property
    def has_reached(self) -> bool:
        return self.is_resolved and all(unit.is_updated for unit in self.units)

    @property
    def is_ready(self) -> bool:
        return all(unit.is_ready for unit in self.units)

    @property
    def phase(self) -> Phase:
        if self.is_excluded:
            return "excluded"
        if self.resolved.state == "failed":
            return "failed"
        if self.resolved.state == "waiting":
            return "waiting"
        if any(unit.is_in_flight for unit in self.units):
            return "moving"
        return "settled" if self.has_reached else "blocked"

    def binding(self) -> object:
        """What the node's name stands for in gates, includeWhen and status."""
        if self.node.is_list:
            return self.items
        return self.items[0] if self.items else None


class ReadinessCache:
    """Answers of readyWhen by version of the object; forgetting them changes nothing."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, Sequence[GateExpression], bool]] = {}

    def ask(self, item: Object, gates: Sequence[GateExpression], judge: Callable[[], bool]) -> bool:
        known = self._known.get(item.uid)
        if known is not None and known[0] == item.resource_version and known[1] is gates:
            return known[2]
        if len(self._known) > 200_000:
            self._known.clear()
        answer = judge()
        self._known[item.uid] = (item.resource_version, gates, answer)
        return answer


def is_observed(item: Object) -> bool:
    """Whether the status is about what the object is now, where the status says so. That of an instance of a graph is
    its author's, and says so in the part that is ours."""
    own = item.status.get(crd.OWN_STATUS)
    return _is_of_generation(item.status, item.generation) and (
        not isinstance(own, dict) or _is_of_generation(own, item.generation)
    )


def _is_of_generation(status: Mapping[str, object], generation: int) -> bool:
    seen = status.get("observedGeneration")
    return not isinstance(seen, int) or seen >= generation


def meets(gates: Sequence[GateExpression], bindings: Mapping[str, object]) -> bool:
    """Missing data, or any other failure, means not ready."""
    try:
        return all(gate.evaluate(bindings) for gate in gates)
    except cel.EvaluationError:
        return False


def readiness(
    item: Object | None,
    gates: Sequence[GateExpression],
    item_names: frozenset[str],
    planner_cache: ReadinessCache,
    own: GraphItem,
) -> bool:
    if item is None or item.deleted_at is not None or not is_observed(item):
        return False
    if not gates:
        return True
    return planner_cache.ask(item, gates, lambda: meets(gates, dict.fromkeys(item_names, own)))


def names_of_item(node: CompiledNode) -> frozenset[str]:
    """The names by which gates and readyWhen call the current item."""
    if node.is_collection:
        return frozenset((names.EACH, *(dimension.name for dimension in node.for_each)))
    return frozenset((node.id, names.EACH))


def document_binding(state: NodeState) -> object:
    """What the node's name stands for in templates: plain documents, in the desired order."""
    observed = [unit.last_applied.object for unit in state.units]
    documents = [contents.document_of(item) for item in observed if item is not None]
    if state.node.is_list:
        return documents
    return documents[0] if documents else None
