"""Objects that pass from one node to another while both are there, as two that swap their names.

An item whose object gets another name keeps the old one until its successor has landed. That holds against other nodes of
the instance too: one that wants the old object waits, and behind a closed gate nobody writes into what stands there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headgate.graph.compile.compiled import CompiledGraph
from headgate.graph.reconcile import judging, removal
from headgate.graph.reconcile.nodes import NodeState, NodeUnit
from headgate.kernel import decisions
from headgate.kernel.decisions import Reason, Verdict


class Takeovers:
    """`states` is filled while nodes are looked at. Who may take over what is decided when all have been: until then
    whoever asks is put off."""

    def __init__(self, graph: CompiledGraph, states: Mapping[str, NodeState]) -> None:
        self._graph = graph
        self._nodes = frozenset(node.id for node in graph.nodes)
        self._states = states
        self._put_off: dict[str, NodeState] = {}
        self._are_all_seen = False

    def decide(self) -> Iterable[NodeState]:
        """The nodes that are to ask again."""
        self._are_all_seen = True
        return self._put_off.values()

    def ask(self, state: NodeState, unit: NodeUnit) -> Verdict:
        """A node that the graph does not have any more has nothing to keep its object for."""
        if unit.origin == state.id or unit.origin not in self._nodes:
            return judging.PASS
        if not self._are_all_seen:
            self._put_off[state.id] = state
            return _kept(unit)
        return self._answer(state, unit)

    def _answer(self, state: NodeState, unit: NodeUnit) -> Verdict:
        """What waits for the taker itself cannot be waited for, and of a ring of nodes that wait for each other the first
        goes."""
        holder = self._states[unit.origin]
        if state.id in removal.ancestors(self._graph, holder.id):
            return judging.PASS
        if not holder.is_resolved:
            return _kept(unit, f", which {holder.reason}")
        heir = self._heir(unit)
        if heir is None or heir.has_landed or self._is_in_a_ring(unit):
            return judging.PASS
        return _kept(unit, f" until its successor {heir.key.kind} {heir.name} has landed")

    def _heir(self, unit: NodeUnit) -> NodeUnit | None:
        """What the item that has the object now is to have instead."""
        for each in self._states[unit.origin].units:
            if any(old.key == unit.key for old in each.predecessors):
                return each
        return None

    def _is_in_a_ring(self, unit: NodeUnit) -> bool:
        current: NodeUnit | None = unit
        for _ in self._states:
            current = self._heir(current) if current is not None else None
            if current is None or current is unit:
                return current is unit
            if current.answer is None or current.answer.reason is not Reason.NAME_TAKEN:
                return False
        return False


def _kept(unit: NodeUnit, why: str = "") -> Verdict:
    return decisions.pending(Reason.NAME_TAKEN, f"it is the object of {unit.origin}{why}")
