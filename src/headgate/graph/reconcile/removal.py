"""What is removed, and in which order: dependents before what they depend on.

Deletions are not gated. But an object stays as long as something wants it: its item, until its successor has landed; a
unit on an older revision that was built on it; a node that is not worked out yet and may have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from headgate.graph.compile.compiled import CompiledGraph
from headgate.graph.reconcile.nodes import NodeState, NodeUnit
from headgate.graph.reconcile.resolving import Resolver
from headgate.graph.reconcile.revision_ledger import RevisionLedger
from headgate.kernel.objects import Key, group_of

NodeMember = tuple[NodeState, NodeUnit]
"""A unit, and the node that it is of."""
Use = tuple[str, int, frozenset[str]]
"""A node, an older revision that something of it is at, and all that it depends on there."""


class ItemRemoval(msgspec.Struct):
    deleted: list[NodeMember]
    forgotten: list[NodeMember]
    """Gone already: what was granted to them is over."""
    kept: list[NodeMember]
    """Not wanted any more, and needed for a while yet; each says why."""


class Remover:
    """Built when all nodes have been looked at and the grants of the pass are made."""

    def __init__(
        self, states: Iterable[NodeState], ledger: RevisionLedger, resolver: Resolver, *, is_paused: bool
    ) -> None:
        self._states = list(states)
        self._ledger = ledger
        self._resolver = resolver
        self._is_paused = is_paused

    def plan(self) -> ItemRemoval:
        removals = ItemRemoval([], [], [])
        if not any(state.extras for state in self._states):
            return removals
        self._heirs = {
            id(old): unit for state in self._states for unit in state.units for old in unit.predecessors
        }
        self._users = {
            self._use(state, unit.last_applied)
            for state in self._states
            for unit in state.units
            if not unit.is_updated and unit.last_applied.number
        }
        self._places = dict(self._unresolved())
        leaving: set[str] = set()
        """Nodes that have something on its way out."""
        dependents = _dependents(self._states)
        for state in sorted(self._states, key=lambda state: -state.node.layer):
            for unit in state.extras:
                unit.held = self._held(state, unit)
                if unit.held:
                    removals.kept.append((state, unit))
                    self._users.add(self._use(state, unit))
                elif unit.object is None:
                    removals.forgotten.append((state, unit))
                else:
                    leaving.add(state.id)
                    is_in_line = any(name in leaving for name in dependents.get(state.id, ()))
                    if not is_in_line and unit.object.deleted_at is None:
                        removals.deleted.append((state, unit))
        return removals

    def _held(self, state: NodeState, unit: NodeUnit) -> str:
        if self._is_paused:
            return "propagation is paused"
        return self._user(state, unit) or self._heir(state, unit) or self._claimant(unit)

    def _user(self, state: NodeState, unit: NodeUnit) -> str:
        """What has not moved on, or stays itself, and was built on this object."""
        for user, number, needs in sorted(self._users, key=lambda use: use[:2]):
            if state.id in needs and user != state.id:
                revision = self._ledger.revisions[number]
                if self._resolver.wants(revision, state.id, unit.text):
                    return f"{user} is at revision {number} and uses it"
        return ""

    def _heir(self, state: NodeState, unit: NodeUnit) -> str:
        heir = self._heirs.get(id(unit))
        if heir is not None:
            line = (heir, *heir.predecessors)
            later = line[: next(index for index, each in enumerate(line) if each is unit)]
            if heir.has_landed or any(each.has_own_grant and each.is_ready for each in later):
                return ""
            return f"its successor {heir.key.kind} {heir.name} has not landed"
        is_known = not state.node.is_collection or unit.grant is None or bool(unit.grant.identity)
        if is_known or all(each.has_landed for each in state.units):
            return ""
        # Which item it was is not told: as a single resource that became a collection, it was all of them.
        return "its successors have not landed"

    def _claimant(self, unit: NodeUnit) -> str:
        for state in self._states:
            if state.is_resolved:
                continue
            places = self._places[state.id]
            is_claimed = unit.key in places if places is not None else _is_of_kind(unit.key, state)
            if is_claimed:
                return f"{state.id} {'may want' if places is None else 'wants'} it and {state.reason}"
        return ""

    def _use(self, state: NodeState, unit: NodeUnit) -> Use:
        graph = self._resolver.graph(self._ledger.revisions[unit.number])
        return state.id, unit.number, ancestors(graph, unit.origin)

    def _unresolved(self) -> Iterable[tuple[str, frozenset[Key] | None]]:
        for state in self._states:
            if not state.is_resolved and state.node.template is not None:
                yield state.id, self._resolver.places(state.node, self._ledger.newest)
            elif not state.is_resolved:
                yield state.id, frozenset()


def _is_of_kind(key: Key, state: NodeState) -> bool:
    return (key.group, key.kind) == (group_of(state.node.api_version), state.node.kind)


def _dependents(states: Iterable[NodeState]) -> Mapping[str, list[str]]:
    dependents: dict[str, list[str]] = {}
    for state in states:
        for name in state.node.depends_on:
            dependents.setdefault(name, []).append(state.id)
    return dependents


def ancestors(graph: CompiledGraph, node_id: str) -> frozenset[str]:
    edges = {node.id: node.depends_on for node in graph.nodes}
    names: set[str] = set()
    pending = list(edges.get(node_id, ()))
    while pending:
        name = pending.pop()
        if name not in names:
            names.add(name)
            pending.extend(edges.get(name, ()))
    return frozenset(names)
