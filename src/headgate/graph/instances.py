"""One look at one instance: what its objects are, what they should be, and which of them may change now.

The order of what is written is the order of promises: first the revision with all that was granted, then the objects,
then what is removed, then the revisions that let go, and last the status. A crash between any two leaves a state from
which the next look goes on without granting anything twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from headgate import cel
from headgate.graph import contents, desired, judging, labels, names, nodes, removal, revisions, scene
from headgate.graph.compiled import CompiledGraph, CompiledNode, Gate
from headgate.graph.items import Item, Items
from headgate.graph.judging import Answer
from headgate.graph.memory import Memory
from headgate.graph.nodes import NodeState, Unit
from headgate.graph.revisions import CARRIED, CARRIED_IN_FLIGHT, Grant, Inputs, Revision
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Create, Delete, Key, Object, Update, UpdateStatus

_PAUSED = Answer("block", "", "propagation is paused")
_BEING_DELETED = Answer("block", "", "the object is being deleted")


class Served(msgspec.Struct, frozen=True, eq=False):
    """A definition as its instances meet it: gates and readyWhen of the newest, objects of what each was granted."""

    name: str
    newest: CompiledGraph
    graphs: Mapping[int, CompiledGraph]
    is_paused: bool = False

    def gates_of(self, node: CompiledNode) -> CompiledNode:
        """The newest form of the node, for its gates; its own where it is gone from the definition."""
        return next((each for each in self.newest.nodes if each.id == node.id), node)


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
        self._children: dict[Key, Object] = {}
        revision_objects: list[Object] = []
        for item in view.parts_of(instance.uid):
            if scene.is_revision(item):
                revision_objects.append(item)
            else:
                self._children[item.key] = item
        self._highest_number = revisions.highest_number(revision_objects)
        self._revision_objects = {item.uid: item for item in revision_objects}
        found = (revisions.from_object(item) for item in revision_objects)
        self._revisions = {revision.number: revision for revision in found if revision is not None}
        self._granted: dict[str, dict[str, tuple[int, Grant]]] = {}
        for number in sorted(self._revisions):
            for node, record in self._revisions[number].nodes.items():
                own = self._granted.setdefault(node, {})
                for text, grant in record.granted.items():
                    own[text] = (number, grant)
        self._states: dict[str, NodeState] = {}
        self._externals: dict[str, desired.External] = {}
        self._taken: dict[Key, str] = {}
        self._writes: list[Action] = []
        self._looks: list[Instant] = []
        self._rendered: dict[tuple[int, str], dict[str, desired.Wanted]] = {}

    def run(self) -> Look:
        graph = self._served.graphs[int(self._instance.annotations[labels.GRAPH_REVISION])]
        self._newest = self._newest_revision(graph)
        for node in graph.nodes:
            state = self._external(node) if node.template is None else self._resource(node)
            self._states[node.id] = state
        leftovers = self._leftovers(graph)
        for state in (*self._states.values(), *leftovers):
            self._repair(state)
        deletes = self._removals(graph, leftovers)
        look_at = min(self._looks, default=None)
        return Look(
            self._instance,
            graph,
            self._newest.number,
            list(self._states.values()),
            leftovers,
            [*self._grants_written(), *self._writes, *deletes, *self._revisions_let_go()],
            self._is_paused,
            look_at,
        )

    # Inputs and revisions

    def _newest_revision(self, graph: CompiledGraph) -> Revision:
        inputs = self._inputs(graph)
        inputs_hash = inputs.hash()
        newest = self._revisions.get(max(self._revisions, default=0))
        if newest is not None and newest.inputs_hash == inputs_hash:
            return newest
        made = Revision(
            self._highest_number + 1, inputs, inputs_hash, graph.topological_order, {}, is_changed=True
        )
        self._revisions[made.number] = made
        return made

    def _inputs(self, graph: CompiledGraph) -> Inputs:
        paths = self._memory.paths(graph)
        read_of_metadata = {
            path[2] for path in paths if path[:2] == (names.SCHEMA, "metadata") and len(path) > 2
        }
        if any(path in ((names.SCHEMA,), (names.SCHEMA, "metadata")) for path in paths):
            read_of_metadata = {"labels", "annotations"}
        metadata: dict[str, object] = {}
        for name, own in (("labels", self._instance.labels), ("annotations", self._instance.annotations)):
            if name in read_of_metadata:
                metadata[name] = {key: value for key, value in own.items() if not _is_bookkeeping(key)}
        external: dict[str, object] = {}
        if any(node.external_ref is not None for node in graph.nodes):
            external = self._external_inputs(graph, paths)
        number = int(self._instance.annotations[labels.GRAPH_REVISION])
        spec = self._memory.spec(self._instance, graph)
        return Inputs(number, graph.content_hash, spec, metadata, external)

    def _external_inputs(self, graph: CompiledGraph, paths: desired.Paths) -> dict[str, object]:
        """Only what goes into objects: what gates alone read is looked at live and makes no revision."""
        read = {path[0] for path in paths}
        bindings = {
            **self._observed_documents(graph),
            names.SCHEMA: self._schema(self._memory.spec(self._instance, graph)),
        }
        found: dict[str, object] = {}
        for node in graph.nodes:
            if node.external_ref is None:
                continue
            external = desired.external(node, bindings, self._instance.namespace, self._view)
            self._externals[node.id] = external
            documents = [contents.document_of(item) for item in external.objects]
            bindings[node.id] = documents if node.is_list else (documents[0] if documents else {})
            if node.id not in read:
                continue
            if node.is_list:
                found[node.id] = [desired.without_bookkeeping(document) for document in documents]
            elif documents:
                found[node.id] = desired.projected(node.id, documents[0], paths)
        return found

    def _observed_documents(self, graph: CompiledGraph) -> dict[str, object]:
        """For the rare external reference that is found through what the graph made."""
        by_node: dict[str, list[Object]] = {}
        for item in self._children.values():
            by_node.setdefault(item.labels.get(labels.NODE_ID, ""), []).append(item)
        found: dict[str, object] = {}
        for node in graph.nodes:
            documents = [contents.document_of(item) for item in by_node.get(node.id, ())]
            if node.is_list:
                found[node.id] = documents
            elif documents:
                found[node.id] = documents[0]
        return found

    def _schema(self, spec: Mapping[str, object]) -> dict[str, object]:
        document = contents.document_of(self._instance)
        document.pop("status", None)
        document["spec"] = spec
        return document

    def _graph(self, revision: Revision) -> CompiledGraph:
        return self._served.graphs[revision.inputs.graph]

    # Nodes

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
            self._number_of(state.id)
            for state in dependencies
            if state.node.template is not None and not state.is_excluded
        }
        if len(numbers) != 1:
            return self._newest
        (number,) = numbers
        own = max((granted[0] for granted in self._granted.get(node.id, {}).values()), default=0)
        revision = self._revisions.get(number or 0)
        if revision is None or own >= revision.number:
            return self._newest
        is_there = any(each.id == node.id for each in self._graph(revision).nodes)
        return revision if is_there else self._newest

    def _number_of(self, node: str) -> int | None:
        """The revision that all objects of the node are at, and complete."""
        granted = self._granted.get(node, {})
        numbers = {number for number, _ in granted.values()}
        if len(numbers) != 1:
            return None
        (number,) = numbers
        revision = self._revisions.get(number)
        return number if revision is not None and revision.record(node).size == len(granted) else None

    def _resource(self, newest_node: CompiledNode) -> NodeState:
        revision = self._target(newest_node)
        node = newest_node if revision is self._newest else self._graph(revision).node(newest_node.id)
        gates = self._served.gates_of(node)
        resolved = self._resolved(node, gates, revision)
        item_names = nodes.names_of_item(gates)
        if resolved.state != "resolved":
            state = self._at_rest(node, gates, revision, resolved)
        else:
            state = self._wanted_units(node, gates, revision, resolved)
            self._carry(state, revision)
            self._admit(state, gates, item_names, revision)
        return state

    def _resolved(self, node: CompiledNode, gates: CompiledNode, revision: Revision) -> desired.Resolved:
        if any(self._states[name].is_excluded for name in node.depends_on if name in self._states):
            return desired.EXCLUDED
        schema = {names.SCHEMA: self._schema(revision.inputs.spec)}
        early = [gate for gate in node.include_when if gate.reads <= {names.SCHEMA}]
        answer = _included(early, schema)
        if answer is not None:
            return answer
        waits = self._waits_for(node, gates, revision)
        if waits:
            return desired.Resolved("waiting", reason=waits)
        late = [gate for gate in node.include_when if gate not in early]
        if late:
            bindings = {**self._item_bindings(), **schema}
            answer = _included(late, bindings)
            if answer is not None:
                return answer
        return self._render(node, revision)

    def _render(self, node: CompiledNode, revision: Revision) -> desired.Resolved:
        is_pure = self._is_pure(node)
        key = (self._instance.uid, revision.number, node.id)
        if is_pure:
            known = self._memory.resolved(*key, revision.inputs_hash)
            if known is not None:
                return known
        bindings: dict[str, object] = {names.SCHEMA: self._schema(revision.inputs.spec)}
        bindings.update(revision.inputs.external)
        for name in node.depends_on:
            state = self._states.get(name)
            if state is not None and name not in revision.inputs.external:
                value = nodes.document_binding(state)
                if value is not None:
                    bindings[name] = value
        resolved = desired.resolve(
            node, bindings, self._instance.namespace, self._served.newest.is_namespaced
        )
        if is_pure:
            self._memory.keep_resolved(*key, revision.inputs_hash, resolved)
        return resolved

    def _is_pure(self, node: CompiledNode) -> bool:
        """Whether the inputs of a revision alone say what the node is."""
        return all(
            self._states[name].node.template is None for name in node.depends_on if name in self._states
        ) and node.depends_on <= set(self._states)

    def _waits_for(self, node: CompiledNode, gates: CompiledNode, revision: Revision) -> str:
        read = node.depends_on | gates.gate_reads
        for name, state in self._states.items():
            if name not in read or state.is_excluded:
                continue
            if state.node.template is None:
                if state.reason:
                    return f"waits for {name}: {state.reason}"
                if not state.is_ready:
                    return f"waits for {name} to be ready"
                continue
            if revision is self._newest and not state.has_reached:
                return f"waits for {name} to reach revision {revision.number}"
            if not state.is_ready:
                return f"waits for {name} to be ready"
        return ""

    def _item_bindings(self) -> dict[str, object]:
        bindings: dict[str, object] = {}
        for name, state in self._states.items():
            value = state.binding()
            if value is not None:
                bindings[name] = value
        return bindings

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
        for text, (number, grant) in self._granted.get(node.id, {}).items():
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
        granted = self._granted.get(node.id, {})
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
                if not self._is_in_force(found, wanted.content, grant.hash, node.id):
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

    # Propagation

    def _carry(self, state: NodeState, revision: Revision) -> None:
        """What the revision does not change has reached it without a write; it may still be in flight."""
        for unit in state.units:
            if unit.grant is None or not unit.is_updated or unit.number >= revision.number:
                continue
            is_in_flight = unit.grant.step != CARRIED and not unit.item.is_ready()
            grant = Grant(unit.grant.hash, CARRIED_IN_FLIGHT if is_in_flight else CARRIED)
            self._record_grant(state, unit, revision, grant)

    def _record_grant(self, state: NodeState, unit: Unit, revision: Revision, grant: Grant) -> None:
        kept = None if self._is_pure(state.node) or unit.wanted is None else unit.wanted.content
        revision.grant(state.id, unit.text, grant, kept)
        if unit.number and unit.number != revision.number:
            self._revisions[unit.number].forget(state.id, unit.text)
        self._granted.setdefault(state.id, {})[unit.text] = (revision.number, grant)
        unit.number, unit.grant = revision.number, grant

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
                before = self._granted_content(state.id, unit)
                bench.admit(unit.item)
                self._record_grant(state, unit, revision, Grant(unit.wanted.hash, record.step))
                unit.is_granted_now = True
                self._write(state, unit, unit.wanted.content, before)
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
            **self._item_bindings(),
            names.SCHEMA: self._schema(revision.inputs.spec),
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

    # Writing objects

    def _granted_content(self, node_id: str, unit: Unit) -> contents.Content | None:
        """What the unit was last granted: as it was kept, or rendered again from the inputs of its revision."""
        if unit.grant is None:
            return None
        revision = self._revisions[unit.number]
        kept = revision.record(node_id).contents.get(unit.text)
        if kept is not None:
            return kept
        graph = self._graph(revision)
        node = next((each for each in graph.nodes if each.id == node_id), None)
        if node is None:
            return None
        wanted = self._rendered_at(node, revision).get(unit.text)
        return wanted.content if wanted is not None and wanted.hash == unit.grant.hash else None

    def _rendered_at(self, node: CompiledNode, revision: Revision) -> dict[str, desired.Wanted]:
        key = (revision.number, node.id)
        if key not in self._rendered:
            self._rendered[key] = {each.text: each for each in self._render(node, revision).wanted}
        return self._rendered[key]

    def _write(
        self, state: NodeState, unit: Unit, content: contents.Content, before: contents.Content | None
    ) -> None:
        marks = self._marks(state, unit)
        annotations = {labels.REVISION: str(unit.number), labels.APPLY_ORDER: str(state.node.layer)}
        unit.is_written = True
        if unit.object is None:
            self._writes.append(Create(contents.created(content, marks, annotations)))
        else:
            self._writes.append(Update(contents.written(unit.object, content, before, marks, annotations)))

    def _marks(self, state: NodeState, unit: Unit) -> dict[str, str]:
        marks = {
            labels.OWNED: "true",
            labels.MANAGED_BY: labels.MANAGER,
            labels.DEFINITION_NAME: self._served.name,
            labels.INSTANCE_ID: self._instance.uid,
            labels.INSTANCE_NAME: self._instance.name,
            labels.INSTANCE_NAMESPACE: self._instance.namespace,
            labels.INSTANCE_KIND: self._instance.kind,
            labels.NODE_ID: state.id,
        }
        if state.node.is_collection and unit.wanted is not None:
            marks[labels.COLLECTION_INDEX] = str(unit.wanted.index)
            marks[labels.COLLECTION_SIZE] = str(len(state.units))
        return marks

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
                unit.wanted.content if is_current and unit.wanted else self._granted_content(state.id, unit)
            )
            if content is not None and not self._is_in_force(found, content, unit.grant.hash, state.id):
                self._write(state, unit, content, content)

    def _is_in_force(
        self, found: Object | None, content: contents.Content, content_hash: str, node: str
    ) -> bool:
        if found is None or labels.REVISION not in found.annotations:
            return False
        if self._memory.is_in_force(found, content_hash):
            return True
        marks = {labels.INSTANCE_ID: self._instance.uid, labels.NODE_ID: node}
        if not contents.is_in_force(found, content, marks):
            return False
        self._memory.keep_in_force(found, content_hash)
        return True

    # Removal and revisions

    def _leftovers(self, graph: CompiledGraph) -> list[NodeState]:
        """Nodes that the newest graph does not have any more and that still have objects."""
        known = {node.id for node in graph.nodes}
        found: list[NodeState] = []
        for node_id, granted in self._granted.items():
            if node_id in known or not granted:
                continue
            number = max(number for number, _ in granted.values())
            older = self._graph(self._revisions[number])
            node = next((each for each in older.nodes if each.id == node_id), None)
            if node is None:
                continue
            state = self._at_rest(node, node, self._newest, desired.EXCLUDED)
            found.append(state)
        return found

    def _removals(self, graph: CompiledGraph, leftovers: list[NodeState]) -> list[Action]:
        states = [*self._states.values(), *leftovers]
        plan = removal.plan(states, self._edges_of_units(states), is_paused=self._is_paused)
        for state, unit in plan.forgotten:
            self._revisions[unit.number].forget(state.id, unit.text)
        for state, unit in plan.kept:
            found = unit.object
            content = self._granted_content(state.id, unit)
            if content is None or (found is not None and found.deleted_at is not None):
                continue
            if found is None or not contents.is_in_force(found, content, {}):
                self._write(state, unit, content, content)
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
                graph = self._graph(self._revisions[number])
                found[state.id] = found.get(state.id, frozenset()) | _ancestors(graph, state.id)
        return found

    def _grants_written(self) -> list[Action]:
        """Before anything acts on them. Those of the newest revision are never cut short by letting go of others."""
        actions: list[Action] = []
        for number in sorted(self._revisions):
            revision = self._revisions[number]
            if not revision.uid:
                actions.append(Create(revisions.to_object(revision, self._instance, self._served.name)))
            elif revision.is_changed and revision.is_in_use:
                item = self._revision_objects[revision.uid]
                status = revision.status()
                if item.status != status:
                    actions.append(UpdateStatus(item.key, revision.uid, status))
        # The newest first: it holds the new grants, and whatever lets go of one must come after.
        actions.reverse()
        return actions

    def _revisions_let_go(self) -> list[Action]:
        gone: list[Action] = []
        for uid, item in self._revision_objects.items():
            number = int(item.spec.get("number", 0))
            revision = self._revisions.get(number)
            if number != self._newest.number and (revision is None or not revision.is_in_use):
                gone.append(Delete(item.key, uid, "nothing is at this revision any more"))
        return gone


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


def _included(gates: Iterable[Gate], bindings: Mapping[str, object]) -> desired.Resolved | None:
    """None if all of them hold."""
    for gate in gates:
        try:
            if not gate.evaluate(bindings):
                return desired.EXCLUDED
        except cel.MissingKey as error:
            if gate.reads <= {names.SCHEMA}:
                return desired.Resolved("failed", reason=f"includeWhen: {gate.text}: {error.message}")
            return desired.Resolved("waiting", reason=f"waits for includeWhen: {gate.text}: {error.message}")
        except cel.EvaluationError as error:
            return desired.Resolved("failed", reason=f"includeWhen: {gate.text}: {error.message}")
    return None


def _is_bookkeeping(key: str) -> bool:
    return key.startswith(("kro.run/", "internal.kro.run/", "headgate.dev/", "applyset.kubernetes.io/"))
