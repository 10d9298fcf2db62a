"""One look at one instance: what its objects are, what they should be, and which of them may change now.

The order of what is written is the order of promises: first the revision with all that was granted, then the objects,
then what is removed, then the revisions that let go, and last the status. A crash between any two leaves a state from
which the next look goes on without granting anything twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from headgate.graph import contents, desired, inputs, judging, labels, names, nodes, removal, scene
from headgate.graph.compiled import CompiledGraph, CompiledNode
from headgate.graph.items import Item, Items
from headgate.graph.judging import Answer
from headgate.graph.ledger import Ledger
from headgate.graph.memory import Memory
from headgate.graph.nodes import NodeState, Unit
from headgate.graph.resolving import Resolver, Served
from headgate.graph.revisions import CARRIED, CARRIED_IN_FLIGHT, Grant, Revision
from headgate.graph.writing import Writer
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Delete, Key, Object

_PAUSED = Answer("block", "", "propagation is paused")
_BEING_DELETED = Answer("block", "", "the object is being deleted")


class Look(msgspec.Struct):
    """What one look found and decided."""

    instance: Object
    graph: CompiledGraph
    number: int
    states: list[NodeState]
    leftovers: list[NodeState]
    actions: list[Action]
    is_paused: bool
    next_look: Instant | None = None

    @property
    def units(self) -> Iterable[Unit]:
        for state in self.states:
            yield from state.units


def look(
    instance: Object,
    served: Served,
    view: scene.Scene,
    signals: Mapping[str, object],
    now: Instant,
    memory: Memory,
) -> Look:
    return _Pass(instance, served, view, signals, now, memory).run()


class _Pass:
    def __init__(
        self,
        instance: Object,
        served: Served,
        view: scene.Scene,
        signals: Mapping[str, object],
        now: Instant,
        memory: Memory,
    ) -> None:
        self._instance = instance
        self._served = served
        self._view = view
        self._signals = signals
        self._now = now
        self._memory = memory
        self._is_paused = served.is_paused or labels.is_paused(instance.annotations)
        parts = list(view.parts_of(instance.uid))
        self._children = {item.key: item for item in parts if not scene.is_revision(item)}
        self._ledger = Ledger(item for item in parts if scene.is_revision(item))
        self._writer = Writer(instance, served.name, memory)
        self._states: dict[str, NodeState] = {}
        self._taken: dict[Key, str] = {}
        self._looks: list[Instant] = []
        self._resolver = Resolver(instance, served, self._ledger, memory, self._states)

    def run(self) -> Look:
        graph = self._served.graphs[int(self._instance.annotations[labels.GRAPH_REVISION])]
        gathered = inputs.Gathered(self._instance, graph, self._children.values(), self._view, self._memory)
        self._externals = gathered.externals
        self._newest = self._ledger.open(gathered.inputs, graph.topological_order)
        for node in graph.nodes:
            state = self._external(node) if node.template is None else self._resource(node)
            self._states[node.id] = state
        leftovers = self._leftovers(graph)
        for state in (*self._states.values(), *leftovers):
            self._repair(state)
        deletes = self._removals(leftovers)
        return Look(
            self._instance,
            graph,
            self._newest.number,
            list(self._states.values()),
            leftovers,
            [
                *self._ledger.grants(self._instance, self._served.name),
                *self._writer.actions,
                *deletes,
                *self._ledger.releases(),
            ],
            self._is_paused,
            min(self._looks, default=None),
        )

    def _external(self, node: CompiledNode) -> NodeState:
        external = self._externals.get(node.id) or desired.External(reason="waits")
        gates = self._served.gates_of(node).ready_when
        item_names = frozenset((node.id, names.EACH))
        members: list[Item] = []
        units: list[Unit] = []
        for index, found in enumerate(external.objects):
            item = Item(found, True, False, is_member=node.is_list, index=index)
            item.set_ready(nodes.readiness(found, gates, item_names, self._memory.ready, item))
            members.append(item)
            text = contents.key_text(found.key)
            units.append(Unit(found.key, text, None, self._newest.number, Grant("", CARRIED), found, item))
        resolved = (
            desired.Resolved("waiting", reason=external.reason)
            if external.reason
            else desired.Resolved("resolved")
        )
        return NodeState(node, self._newest.number, resolved, units, Items(members), reason=external.reason)

    def _target(self, node: CompiledNode) -> Revision:
        """The newest; with Concurrent, the one that everything it depends on is at, if that is an older one."""
        if self._served.newest.propagation_policy != "Concurrent":
            return self._newest
        dependencies = [self._states[name] for name in node.depends_on if name in self._states]
        if all(state.has_reached and state.number == self._newest.number for state in dependencies):
            return self._newest
        numbers = {
            self._ledger.number_of(state.id)
            for state in dependencies
            if state.node.template is not None and not state.is_excluded
        }
        if len(numbers) != 1:
            return self._newest
        (number,) = numbers
        revision = self._ledger.revisions.get(number or 0)
        if revision is None or self._ledger.highest_of(node.id) >= revision.number:
            return self._newest
        is_there = any(each.id == node.id for each in self._resolver.graph(revision).nodes)
        return revision if is_there else self._newest

    def _resource(self, newest_node: CompiledNode) -> NodeState:
        revision = self._target(newest_node)
        node = (
            newest_node if revision is self._newest else self._resolver.graph(revision).node(newest_node.id)
        )
        gates = self._served.gates_of(node)
        resolved = self._resolver.resolved(node, gates, revision)
        item_names = nodes.names_of_item(gates)
        if resolved.state != "resolved":
            state = self._at_rest(node, gates, revision, resolved)
        else:
            state = self._wanted_units(node, gates, revision, resolved)
            self._carry(state, revision)
            self._admit(state, gates, item_names, revision)
        return state

    def _at_rest(
        self,
        node: CompiledNode,
        gates: CompiledNode,
        revision: Revision,
        resolved: desired.Resolved,
    ) -> NodeState:
        """A node that cannot be worked out now keeps what it was granted; one that is excluded loses it."""
        judge = self._judge(gates)
        units: list[Unit] = []
        for text, (number, grant) in self._ledger.granted.get(node.id, {}).items():
            key = contents.key_from(text)
            found = self._children.get(key)
            item = Item(found, False, judge, is_member=node.is_list, index=len(units))
            units.append(Unit(key, text, None, number, grant, found, item))
        if resolved.state == "excluded":
            return NodeState(node, revision.number, resolved, [], Items(), units)
        members = Items(unit.item for unit in units)
        return NodeState(node, revision.number, resolved, units, members, reason=resolved.reason)

    def _judge(self, gates: CompiledNode) -> Callable[[Item], bool]:
        """Says of each item of a node whether it is ready; one for all of them, so that items hold no closures."""
        item_names = nodes.names_of_item(gates)
        ready_when, memory = gates.ready_when, self._memory.ready
        return lambda item: nodes.readiness(item.object, ready_when, item_names, memory, item)

    def _wanted_units(
        self,
        node: CompiledNode,
        gates: CompiledNode,
        revision: Revision,
        resolved: desired.Resolved,
    ) -> NodeState:
        granted = self._ledger.granted.get(node.id, {})
        record = revision.start(node.id, resolved.digest, len(resolved.wanted))
        judge = self._judge(gates)
        units: list[Unit] = []
        older: list[Item] = []
        for wanted in resolved.wanted:
            number, grant = granted.get(wanted.text, (0, None))
            found = self._children.get(wanted.key)
            problem = ""
            if found is None:
                found, problem = self._foreign(wanted.key)
            is_updated = grant is not None and grant.hash == wanted.hash
            item = Item(
                found,
                is_updated,
                judge,
                is_member=node.is_collection,
                value=wanted.value,
                index=wanted.index,
            )
            if is_updated and grant is not None:
                if not self._writer.is_in_force(found, wanted.content, grant.hash, node.id):
                    # Granted, and not there: whatever the object shows is about something else.
                    item.set_ready(False)
                if number == revision.number and grant.step == record.step:
                    item.is_changed = True
                elif grant.step != CARRIED:
                    older.append(item)
            unit = Unit(wanted.key, wanted.text, wanted, number, grant, found, item)
            unit.problem = problem or self._claimed(wanted.key, node.id)
            units.append(unit)
        members = Items((unit.item for unit in units), older)
        wanted_texts = {unit.text for unit in units}
        extras: list[Unit] = []
        for text, (number, grant) in granted.items():
            if text not in wanted_texts:
                key = contents.key_from(text)
                found = self._children.get(key)
                item = Item(found, False, judge)
                extras.append(Unit(key, text, None, number, grant, found, item))
        return NodeState(node, revision.number, resolved, units, members, extras)

    def _foreign(self, key: Key) -> tuple[Object | None, str]:
        """An object that is nobody's is taken over; one of another instance is not."""
        found = self._view.get(key)
        if found is None:
            return None, ""
        owner = found.labels.get(labels.INSTANCE_ID)
        if owner is not None and owner != self._instance.uid:
            holder = found.labels.get(labels.INSTANCE_NAME, owner)
            return None, f"{key.kind} {key.name} belongs to the instance {holder}"
        return found, ""

    def _claimed(self, key: Key, node: str) -> str:
        holder = self._taken.setdefault(key, node)
        return "" if holder == node else f"{key.kind} {key.name} is also made by {holder}"

    def _carry(self, state: NodeState, revision: Revision) -> None:
        """What the revision does not change has reached it without a write; it may still be in flight."""
        for unit in state.units:
            if unit.grant is None or not unit.is_updated or unit.number >= revision.number:
                continue
            is_in_flight = unit.grant.step != CARRIED and not unit.item.is_ready()
            grant = Grant(unit.grant.hash, CARRIED_IN_FLIGHT if is_in_flight else CARRIED)
            self._record_grant(state, unit, revision, grant)

    def _record_grant(self, state: NodeState, unit: Unit, revision: Revision, grant: Grant) -> None:
        kept = None if self._resolver.is_pure(state.node) or unit.wanted is None else unit.wanted.content
        self._ledger.grant(state.id, unit, revision, grant, kept)

    def _admit(
        self, state: NodeState, gates: CompiledNode, item_names: frozenset[str], revision: Revision
    ) -> None:
        pending = [unit for unit in state.units if not unit.is_updated]
        if not pending:
            return
        if self._is_paused:
            for unit in pending:
                unit.answer = _PAUSED
            return
        bench = self._bench(state, gates, item_names, revision)
        record = revision.record(state.id)
        for unit in pending:
            unit.answer = self._answer(unit, bench)
            if unit.answer.outcome == "pass" and unit.wanted is not None:
                before = self._content_before(state, unit)
                bench.admit(unit.item)
                self._record_grant(state, unit, revision, Grant(unit.wanted.hash, record.step))
                unit.is_granted_now = True
                self._writer.write(state, unit, unit.wanted.content, before)
            elif unit.answer.next_look is not None:
                self._looks.append(unit.answer.next_look)

    def _answer(self, unit: Unit, bench: judging.Bench) -> Answer:
        if unit.problem:
            return Answer("error", "", unit.problem)
        if unit.object is not None and unit.object.deleted_at is not None:
            return _BEING_DELETED
        return bench.ask(unit.item)

    def _bench(
        self, state: NodeState, gates: CompiledNode, item_names: frozenset[str], revision: Revision
    ) -> judging.Bench:
        bindings: dict[str, object] = {
            **self._resolver.item_bindings(),
            names.SCHEMA: inputs.schema_document(self._instance, revision.inputs),
            names.SIGNALS: self._signals,
        }
        if state.node.is_collection:
            bindings[state.id] = state.items
        return judging.Bench(
            gates.propagate_when,
            state.items,
            state.id if state.node.is_collection else "",
            item_names,
            bindings,
            self._now,
            self._memory.gates,
            has_default_waves=state.node.is_collection,
        )

    def _repair(self, state: NodeState) -> None:
        """Whatever was granted is put back as it was granted, also where nothing may move on."""
        if state.node.template is None:
            return
        for unit in state.units:
            if unit.grant is None or unit.is_granted_now:
                continue
            found = unit.object
            if found is not None and (
                found.deleted_at is not None or self._memory.is_in_force(found, unit.grant.hash)
            ):
                continue
            is_current = unit.wanted is not None and unit.wanted.hash == unit.grant.hash
            content = (
                unit.wanted.content
                if is_current and unit.wanted
                else self._resolver.granted_content(state.id, unit)
            )
            if content is not None and not self._writer.is_in_force(
                found, content, unit.grant.hash, state.id
            ):
                self._writer.write(state, unit, content, self._content_before(state, unit))

    def _content_before(self, state: NodeState, unit: Unit) -> contents.Content | None:
        """What the object was last written with, as far as a revision still tells."""
        if unit.object is None or unit.grant is None:
            return None
        written = unit.object.annotations.get(labels.CONTENT, unit.grant.hash)
        revision = self._ledger.granted_by_hash(state.id, unit.text, written)
        return self._resolver.content_at(revision, state.id, unit.text, written) if revision else None

    def _leftovers(self, graph: CompiledGraph) -> list[NodeState]:
        """Nodes that the newest graph does not have any more and that still have objects."""
        known = {node.id for node in graph.nodes}
        found: list[NodeState] = []
        for node_id, granted in self._ledger.granted.items():
            if node_id in known or not granted:
                continue
            number = max(number for number, _ in granted.values())
            older = self._resolver.graph(self._ledger.revisions[number])
            node = next((each for each in older.nodes if each.id == node_id), None)
            if node is None:
                continue
            state = self._at_rest(node, node, self._newest, desired.EXCLUDED)
            found.append(state)
        return found

    def _removals(self, leftovers: list[NodeState]) -> list[Action]:
        states = [*self._states.values(), *leftovers]
        plan = removal.plan(states, self._edges_of_units(states), is_paused=self._is_paused)
        for state, unit in plan.forgotten:
            self._ledger.forget(state.id, unit)
        for state, unit in plan.kept:
            found = unit.object
            content = self._resolver.granted_content(state.id, unit)
            if content is None or (found is not None and found.deleted_at is not None):
                continue
            if found is None or not contents.is_in_force(found, content, {}):
                self._writer.write(state, unit, content, self._content_before(state, unit))
        return [
            Delete(unit.key, unit.object.uid, f"{state.id} is not wanted at revision {self._newest.number}")
            for state, unit in plan.deleted
            if unit.object is not None
        ]

    def _edges_of_units(self, states: Iterable[NodeState]) -> dict[str, frozenset[str]]:
        """For each node that still has a unit on an older revision: everything it depends on there."""
        found: dict[str, frozenset[str]] = {}
        for state in states:
            numbers = {unit.number for unit in state.units if unit.number and not unit.is_updated}
            for number in numbers:
                graph = self._resolver.graph(self._ledger.revisions[number])
                found[state.id] = found.get(state.id, frozenset()) | _ancestors(graph, state.id)
        return found


def _ancestors(graph: CompiledGraph, node_id: str) -> frozenset[str]:
    edges = {node.id: node.depends_on for node in graph.nodes}
    found: set[str] = set()
    pending = list(edges.get(node_id, ()))
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(edges.get(name, ()))
    return frozenset(found)
