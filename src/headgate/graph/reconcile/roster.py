"""Which objects belong to which item of which node: what is wanted, what was granted, and what one leaves to another.

An item is its node and its forEach value, a single resource is its node. When its object gets another name, the new
object is the successor of the old one. An object that another node was granted before is handed over together with
that grant, whichever of the two was made first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from headgate.graph.compile.compiled import CompiledNode
from headgate.graph.reconcile import cluster_view, contents, desired, labels, nodes
from headgate.graph.reconcile.items import GraphItem, GraphItems
from headgate.graph.reconcile.nodes import NodeState, NodeUnit
from headgate.graph.reconcile.planner_cache import PlannerCache
from headgate.graph.reconcile.revision_ledger import RevisionLedger
from headgate.graph.reconcile.revisions import CARRIED, GrantedChange, InstanceRevision, NodeRecord
from headgate.graph.reconcile.writing import Writer
from headgate.kernel.objects import Key, Object

Judge = Callable[[GraphItem], bool]


class Roster:
    """`children` are the objects that carry the instance's id."""

    def __init__(
        self,
        instance: Object,
        view: cluster_view.ClusterView,
        children: Mapping[Key, Object],
        ledger: RevisionLedger,
        writer: Writer,
        planner_cache: PlannerCache,
    ) -> None:
        self._instance = instance
        self._view = view
        self._children = children
        self._ledger = ledger
        self._writer = writer
        self._planner_cache = planner_cache
        self._taken: dict[Key, NodeUnit] = {}
        """What is wanted in this pass, and by whom."""
        self._takers: dict[Key, str] = {}

    def at_rest(
        self, node: CompiledNode, gates: CompiledNode, revision: InstanceRevision, resolved: desired.Resolved
    ) -> NodeState:
        """A node that cannot be worked out now keeps what it was granted; one that is excluded loses it."""
        judge = self._judge(gates)
        units = [
            self._granted(node, text, number, grant, judge, index)
            for index, (text, (number, grant)) in enumerate(self._ledger.granted.get(node.id, {}).items())
        ]
        if resolved.state == "excluded":
            return NodeState(node, revision.number, resolved, [], GraphItems(), units)
        members = GraphItems(unit.item for unit in units)
        had_reached = resolved.is_in_line and self._ledger.has_reached(node.id)
        return NodeState(
            node,
            revision.number,
            resolved,
            units,
            members,
            reason=resolved.reason,
            had_reached=had_reached,
        )

    def wanted(
        self, node: CompiledNode, gates: CompiledNode, revision: InstanceRevision, resolved: desired.Resolved
    ) -> NodeState:
        record = revision.start(node.id, resolved.digest, len(resolved.wanted))
        judge = self._judge(gates)
        extras = self._extras(node, resolved, judge)
        ancestry = _Ancestry(node, extras) if extras else None
        granted = self._ledger.granted.get(node.id, {})
        units: list[NodeUnit] = []
        older: list[GraphItem] = []
        for wanted in resolved.wanted:
            unit = self._wanted_unit(node, wanted, judge, granted.get(wanted.text), ancestry)
            if unit.is_updated and unit.grant is not None:
                self._distrust(node, unit, wanted)
                if _is_of_step(unit, node, revision, record):
                    unit.item.is_changed = True
                elif unit.grant.step != CARRIED:
                    older.append(unit.item)
            units.append(unit)
        members = GraphItems((unit.item for unit in units), older)
        return NodeState(node, revision.number, resolved, units, members, extras)

    def _wanted_unit(
        self,
        node: CompiledNode,
        wanted: desired.DesiredItem,
        judge: Judge,
        own: tuple[int, GrantedChange] | None,
        ancestry: _Ancestry | None,
    ) -> NodeUnit:
        live, problem = self._children.get(wanted.key), ""
        is_granted = own is not None or self._ledger.holder(wanted.text) is not None
        if live is None or not is_granted:
            live, problem = self._foreign(wanted, is_granted=is_granted)
        taker = self._takers.setdefault(wanted.key, node.id)
        if taker != node.id:
            problem = problem or f"{wanted.key.kind} {wanted.key.name} is also made by {taker}"
        origin, number, grant = (
            self._handed_over(node.id, wanted.text, is_ours=not problem) if own is None else (node.id, *own)
        )
        predecessors = ancestry.of(wanted) if ancestry is not None else ()
        is_current = grant is not None and grant.hash == wanted.hash
        is_own = grant is not None and (is_current or origin == node.id)
        item = GraphItem(
            live if is_own or not predecessors else predecessors[0].object,
            is_current,
            judge,
            is_member=node.is_collection,
            value=wanted.value,
            index=wanted.index,
        )
        unit = NodeUnit(wanted.key, wanted.text, wanted, number, grant, live, item, origin)
        unit.predecessors = predecessors
        unit.problem = problem
        if taker == node.id:
            self._taken[wanted.key] = unit
        return unit

    def _handed_over(self, node: str, text: str, *, is_ours: bool) -> tuple[str, int, GrantedChange | None]:
        """What the object was granted by the node that it is taken over from."""
        other = self._ledger.holder(text) if is_ours else None
        handed = self._ledger.granted.get(other, {}).get(text) if other is not None else None
        return (node, 0, None) if handed is None or other is None else (other, *handed)

    def _distrust(self, node: CompiledNode, unit: NodeUnit, wanted: desired.DesiredItem) -> None:
        """Granted, and not there: whatever the object shows is about something else."""
        item, grant = unit.object, unit.grant
        if grant is None or (item is not None and self._planner_cache.is_in_force(item, grant.hash)):
            return
        if not self._writer.is_in_force(item, wanted.content, grant.hash, makers_of(node.id, unit)):
            unit.item.set_ready(False)

    def _extras(self, node: CompiledNode, resolved: desired.Resolved, judge: Judge) -> list[NodeUnit]:
        """Granted and not wanted any more."""
        granted = self._ledger.granted.get(node.id)
        if not granted:
            return []
        texts = {wanted.text for wanted in resolved.wanted}
        return [
            self._granted(node, text, number, grant, judge)
            for text, (number, grant) in granted.items()
            if text not in texts
        ]

    def _granted(
        self, node: CompiledNode, text: str, number: int, grant: GrantedChange, judge: Judge, index: int = 0
    ) -> NodeUnit:
        key = contents.key_from(text)
        live = self._children.get(key)
        item = GraphItem(live, False, judge, is_member=node.is_list, index=index)
        return NodeUnit(key, text, None, number, grant, live, item, node.id)

    def _judge(self, gates: CompiledNode) -> Judge:
        """Says of each item of a node whether it is ready; one for all of them, so that items hold no closures."""
        item_names = nodes.names_of_item(gates)
        ready_when, planner_cache = gates.ready_when, self._planner_cache.ready
        return lambda item: nodes.readiness(item.object, ready_when, item_names, planner_cache, item)

    def _foreign(self, wanted: desired.DesiredItem, *, is_granted: bool) -> tuple[Object | None, str]:
        """An object that is nobody's is taken over; one of another instance, or that another object owns, is not. That
        it says it is this instance's makes it nobody's: what is this instance's was granted. That it says it is another's
        counts for nothing where this instance was granted it and the other was not."""
        key = wanted.key
        item = self._view.get(key)
        if item is None:
            return None, ""
        owner = item.labels.get(labels.INSTANCE_ID, self._instance.uid)
        if owner != self._instance.uid and not (
            is_granted and not cluster_view.is_granted_to(self._view, owner, wanted.text)
        ):
            holder = item.labels.get(labels.INSTANCE_NAME, owner)
            return None, f"{key.kind} {key.name} belongs to the instance {holder}"
        if item.owners:
            master = item.owners[0]
            return None, f"{key.kind} {key.name} belongs to {master.kind} {master.name}"
        return item, ""

    def hand_over(self, states: Iterable[NodeState]) -> list[tuple[str, NodeUnit]]:
        """What one node wants is nobody else's any more: neither to be kept as it was, nor to be removed. Says which
        grants are over once everything is written: until then they tell what an object was."""
        over: list[tuple[str, NodeUnit]] = []
        for state in states:
            for unit in state.extras:
                taker = self._taken.get(unit.key)
                if taker is not None and taker.grant is not None and taker.origin != state.id:
                    over.append((state.id, unit))
            state.extras = [unit for unit in state.extras if unit.key not in self._taken]
            if not state.is_resolved and any(unit.key in self._taken for unit in state.units):
                state.units = [unit for unit in state.units if unit.key not in self._taken]
                state.items = GraphItems(unit.item for unit in state.units)
        return over


class _Ancestry:
    """Finds the objects that an item had under other names."""

    def __init__(self, node: CompiledNode, extras: Iterable[NodeUnit]) -> None:
        self._is_single = not node.is_collection
        self._by_identity: dict[str, list[NodeUnit]] = {}
        for unit in sorted(extras, key=lambda unit: -unit.number):
            identity = "" if self._is_single or unit.grant is None else unit.grant.identity
            self._by_identity.setdefault(identity, []).append(unit)

    def of(self, wanted: desired.DesiredItem) -> tuple[NodeUnit, ...]:
        if not self._by_identity:
            return ()
        return tuple(self._by_identity.get(identity_of(wanted, is_single=self._is_single), ()))


def identity_of(wanted: desired.DesiredItem, *, is_single: bool) -> str:
    return "" if is_single else contents.value_hash(wanted.value)


def makers_of(node: str, unit: NodeUnit) -> tuple[str, ...]:
    """The nodes whose mark the object may carry."""
    maker = unit.grant.maker if unit.grant is not None else ""
    return (node, unit.origin, maker) if maker else (node, unit.origin)


def _is_of_step(unit: NodeUnit, node: CompiledNode, revision: InstanceRevision, record: NodeRecord) -> bool:
    return unit.grant is not None and (unit.origin, unit.number, unit.grant.step) == (
        node.id,
        revision.number,
        record.step,
    )
