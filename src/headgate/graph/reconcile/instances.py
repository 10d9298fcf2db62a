"""One look at one instance: what its objects are, what they should be, and which of them may change now.

The order of what is written is the order of promises: first the revision with all that was granted, then the objects,
then what is removed, then the revisions that let go, and last the status. A crash between any two leaves a state from
which the next look goes on without granting anything twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from headgate.graph.compile import definition, names
from headgate.graph.compile.compiled import CompiledGraph, CompiledNode
from headgate.graph.reconcile import (
    cluster_view,
    contents,
    desired,
    inputs,
    judging,
    labels,
    nodes,
    removal,
    roster,
    takeovers,
)
from headgate.graph.reconcile.items import GraphItem, GraphItems
from headgate.graph.reconcile.nodes import NodeState, NodeUnit
from headgate.graph.reconcile.planner_cache import PlannerCache
from headgate.graph.reconcile.resolving import AcceptedGraph, Resolver
from headgate.graph.reconcile.revision_ledger import RevisionLedger
from headgate.graph.reconcile.revisions import CARRIED, CARRIED_IN_FLIGHT, GrantedChange, InstanceRevision
from headgate.graph.reconcile.writing import Writer
from headgate.kernel import decisions
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, DeleteObject, Object


class InstancePass(msgspec.Struct):
    """What one look found and decided."""

    instance: Object
    graph_number: int
    graph: CompiledGraph
    number: int
    states: list[NodeState]
    leftovers: list[NodeState]
    actions: list[Action]
    is_paused: bool
    requeue_at: Instant | None = None

    @property
    def units(self) -> Iterable[NodeUnit]:
        for state in self.states:
            yield from state.units


def reconcile(
    instance: Object,
    graph_number: int,
    accepted: AcceptedGraph,
    view: cluster_view.ClusterView,
    signals: Mapping[str, object],
    now: Instant,
    planner_cache: PlannerCache,
) -> InstancePass:
    """`graph_number` is the graph revision that it has or may have from now on."""
    return _Pass(instance, graph_number, accepted, view, signals, now, planner_cache).run()


class _Pass:
    def __init__(
        self,
        instance: Object,
        graph_number: int,
        accepted: AcceptedGraph,
        view: cluster_view.ClusterView,
        signals: Mapping[str, object],
        now: Instant,
        planner_cache: PlannerCache,
    ) -> None:
        self._instance = instance
        self._graph_number = graph_number
        self._accepted = accepted
        self._view = view
        self._signals = signals
        self._now = now
        self._planner_cache = planner_cache
        self._is_paused = accepted.is_paused or labels.is_paused(instance.annotations)
        parts = list(view.parts_of(instance.uid))
        self._children = {item.key: item for item in parts if not cluster_view.is_revision(item)}
        self._ledger = RevisionLedger(cluster_view.revisions_among(parts, instance))
        self._writer = Writer(instance, accepted.name, planner_cache)
        self._roster = roster.Roster(
            instance, view, self._children, self._ledger, self._writer, planner_cache
        )
        self._states: dict[str, NodeState] = {}
        self._looks: list[Instant] = []
        self._resolver = Resolver(instance, accepted, self._ledger, planner_cache, self._states)

    def run(self) -> InstancePass:
        graph = self._accepted.graphs[self._graph_number]
        gathered = inputs.Gathered(
            self._instance, self._graph_number, graph, self._made_by, self._view, self._planner_cache
        )
        self._externals = gathered.externals
        self._newest = self._ledger.open(gathered.inputs, graph.topological_order)
        self._takeovers = takeovers.Takeovers(graph, self._states)
        for node in graph.nodes:
            state = self._external(node) if node.template is None else self._resource(node)
            self._states[node.id] = state
        for state in self._takeovers.decide():
            self._admit(state, self._accepted.gates_of(state.node), self._ledger.revisions[state.number])
        leftovers = self._leftovers(graph)
        states = [*self._states.values(), *leftovers]
        outlived = self._roster.hand_over(states)
        for state in states:
            self._repair(state)
        for node_id, unit in outlived:
            self._ledger.forget(node_id, unit)
        deletes = self._removals(states)
        return InstancePass(
            self._instance,
            self._graph_number,
            graph,
            self._newest.number,
            list(self._states.values()),
            leftovers,
            [
                *self._ledger.grants(self._instance, self._accepted.name),
                *self._writer.actions,
                *deletes,
                *self._ledger.releases(),
            ],
            self._is_paused,
            min(self._looks, default=None),
        )

    def _made_by(self, node: CompiledNode) -> list[Object]:
        """The objects that a node was granted and that are there, the latest first."""
        granted = self._ledger.granted.get(node.id, {})
        texts = sorted(granted, key=lambda text: (-granted[text][0], text))
        return [self._children[key] for text in texts if (key := contents.key_from(text)) in self._children]

    def _external(self, node: CompiledNode) -> NodeState:
        external = self._externals.get(node.id) or desired.External(reason="waits")
        gates = self._accepted.gates_of(node).ready_when
        item_names = frozenset((node.id, names.EACH))
        members: list[GraphItem] = []
        units: list[NodeUnit] = []
        for index, foreign in enumerate(external.objects):
            item = GraphItem(foreign, True, False, is_member=node.is_list, index=index)
            item.set_ready(nodes.readiness(foreign, gates, item_names, self._planner_cache.ready, item))
            members.append(item)
            text = contents.key_text(foreign.key)
            units.append(
                NodeUnit(
                    foreign.key, text, None, self._newest.number, GrantedChange("", CARRIED), foreign, item
                )
            )
        resolved = (
            desired.Resolved("waiting", reason=external.reason)
            if external.reason
            else desired.Resolved("resolved")
        )
        return NodeState(
            node, self._newest.number, resolved, units, GraphItems(members), reason=external.reason
        )

    def _target(self, node: CompiledNode) -> InstanceRevision:
        """The newest; with Concurrent, the one that everything it depends on is at, if that is an older one."""
        if self._accepted.newest.propagation_policy != "Concurrent":
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
        gates = self._accepted.gates_of(node)
        resolved = self._resolver.resolved(node, revision)
        if resolved.state != "resolved":
            return self._roster.at_rest(node, gates, revision, resolved)
        state = self._roster.wanted(node, gates, revision, resolved)
        if not self._is_paused:
            self._carry(state, revision)
        self._admit(state, gates, revision)
        return state

    def _carry(self, state: NodeState, revision: InstanceRevision) -> None:
        """What the revision does not change has reached it without a write; it may still be in flight."""
        for unit in state.units:
            if unit.grant is None or not unit.is_updated:
                continue
            is_handed_over = unit.origin != state.id
            if unit.number >= revision.number and not is_handed_over:
                continue
            is_in_flight = unit.grant.step != CARRIED and not unit.item.is_ready()
            step = CARRIED_IN_FLIGHT if is_in_flight else CARRIED
            maker = unit.origin if is_handed_over and not unit.grant.maker else unit.grant.maker
            self._record_grant(state, unit, revision, step, maker)

    def _record_grant(
        self, state: NodeState, unit: NodeUnit, revision: InstanceRevision, step: int, maker: str = ""
    ) -> None:
        assert unit.wanted is not None
        identity = roster.identity_of(unit.wanted, is_single=not state.node.is_collection)
        kept = None if self._resolver.is_pure(state.node) else unit.wanted.content
        grant = GrantedChange(unit.wanted.hash, step, identity, maker)
        self._ledger.grant(state.id, unit, revision, grant, kept)

    def _admit(self, state: NodeState, gates: CompiledNode, revision: InstanceRevision) -> None:
        pending = [unit for unit in state.units if not unit.is_updated]
        if not pending:
            return
        waits = self._held(revision) or self._resolver.gates_wait(state.node, gates, revision)
        if waits is not None:
            for unit in pending:
                unit.answer = waits
            return
        evaluator = self._evaluator(state, gates, revision)
        record = revision.record(state.id)
        for unit in pending:
            unit.answer = self._answer(state, unit, evaluator)
            if unit.answer.is_allowed and unit.wanted is not None:
                before = self._content_before(unit)
                evaluator.admit(unit.item)
                self._record_grant(state, unit, revision, record.step)
                unit.is_granted_now = True
                self._writer.write(state, unit, unit.wanted.content, before)
            elif unit.answer.requeue_at is not None:
                self._looks.append(unit.answer.requeue_at)

    def _held(self, revision: InstanceRevision) -> Verdict | None:
        """By somebody, whatever the gates say."""
        subject = f"{self._instance.kind} {self._instance.name}"
        if labels.is_paused(self._instance.annotations):
            return judging.paused(subject)
        if self._is_paused:
            return judging.paused(f"{definition.KIND} {self._accepted.name}")
        if labels.is_given_up(self._instance.annotations, revision.number):
            return judging.given_up(subject, f"revision {revision.number}")
        return None

    def _answer(self, state: NodeState, unit: NodeUnit, evaluator: judging.GateEvaluator) -> Verdict:
        if unit.problem:
            return decisions.error(unit.problem)
        if unit.object is not None and unit.object.deleted_at is not None:
            return decisions.pending(Reason.TERMINATING, f"the object is {contents.on_its_way(unit.object)}")
        answer = evaluator.ask(unit.item)
        return self._takeovers.ask(state, unit) if answer.is_allowed else answer

    def _evaluator(
        self, state: NodeState, gates: CompiledNode, revision: InstanceRevision
    ) -> judging.GateEvaluator:
        bindings: dict[str, object] = {
            **self._resolver.item_bindings(),
            names.SCHEMA: inputs.schema_document(self._instance, revision.inputs),
            names.SIGNALS: self._signals,
        }
        if state.node.is_collection:
            bindings[state.id] = state.items
        return judging.GateEvaluator(
            gates.propagate_when,
            state.items,
            state.id if state.node.is_collection else "",
            nodes.names_of_item(gates),
            bindings,
            self._now,
            self._planner_cache.gates,
            has_default_waves=state.node.is_collection,
        )

    def _repair(self, state: NodeState) -> None:
        """Whatever was granted is put back as it was granted, also where nothing may move on."""
        if state.node.template is None:
            return
        for unit in state.units:
            if unit.grant is None or unit.is_granted_now:
                continue
            item = unit.object
            if item is not None and (
                item.deleted_at is not None or self._planner_cache.is_in_force(item, unit.grant.hash)
            ):
                continue
            is_current = unit.wanted is not None and unit.wanted.hash == unit.grant.hash
            content = (
                unit.wanted.content if is_current and unit.wanted else self._resolver.granted_content(unit)
            )
            if content is not None and not self._writer.is_in_force(
                item, content, unit.grant.hash, roster.makers_of(state.id, unit)
            ):
                self._writer.write(state, unit, content, self._content_before(unit))

    def _content_before(self, unit: NodeUnit) -> contents.Content | None:
        """What the object was last written with, as far as a revision still tells."""
        if unit.object is None or unit.grant is None:
            return None
        written = unit.object.annotations.get(labels.CONTENT, unit.grant.hash)
        grant = self._ledger.granted_by_hash(unit.text, written)
        return self._resolver.content_at(*grant, unit.text, written) if grant is not None else None

    def _leftovers(self, graph: CompiledGraph) -> list[NodeState]:
        """Nodes that the newest graph does not have any more and that still have objects."""
        known = {node.id for node in graph.nodes}
        states: list[NodeState] = []
        for node_id, granted in self._ledger.granted.items():
            if node_id in known or not granted:
                continue
            number = max(number for number, _ in granted.values())
            older = self._resolver.graph(self._ledger.revisions[number])
            node = next((each for each in older.nodes if each.id == node_id), None)
            if node is None:
                continue
            states.append(self._roster.at_rest(node, node, self._newest, desired.EXCLUDED))
        return states

    def _removals(self, states: Iterable[NodeState]) -> list[Action]:
        plan = removal.Remover(states, self._ledger, self._resolver, is_paused=self._is_paused).plan()
        for state, unit in plan.forgotten:
            self._ledger.forget(state.id, unit)
        for state, unit in plan.kept:
            item = unit.object
            content = self._resolver.granted_content(unit)
            if content is None or (item is not None and item.deleted_at is not None):
                continue
            if item is None or not contents.is_in_force(item, content, {}):
                self._writer.write(state, unit, content, self._content_before(unit))
        return [
            DeleteObject(
                unit.key, unit.object.uid, f"{state.id} is not wanted at revision {self._newest.number}"
            )
            for state, unit in plan.deleted
            if unit.object is not None
        ]
