"""Works out what each node is to be at a revision, or what it waits for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from headgate import cel
from headgate.graph.compile import names
from headgate.graph.compile.compiled import CompiledGraph, CompiledNode, GateExpression
from headgate.graph.reconcile import contents, desired, inputs, nodes
from headgate.graph.reconcile.nodes import NodeState, NodeUnit
from headgate.graph.reconcile.planner_cache import PlannerCache
from headgate.graph.reconcile.revision_ledger import RevisionLedger
from headgate.graph.reconcile.revisions import InstanceRevision
from headgate.kernel import decisions
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.objects import Key, Object


class AcceptedGraph(msgspec.Struct, frozen=True, eq=False):
    """A definition as its instances meet it: gates and readyWhen of the newest, objects of what each was granted."""

    name: str
    newest: CompiledGraph
    graphs: Mapping[int, CompiledGraph]
    is_paused: bool = False
    let_on: Mapping[str, int] = {}
    """The graph revision that an instance, by its uid, may go on to now."""

    def gates_of(self, node: CompiledNode) -> CompiledNode:
        """The newest form of the node, for its gates; its own where it is gone from the definition."""
        return next((each for each in self.newest.nodes if each.id == node.id), node)


class Resolver:
    """`states` are the nodes that were looked at so far, which is all that later ones can depend on."""

    def __init__(
        self,
        instance: Object,
        accepted: AcceptedGraph,
        ledger: RevisionLedger,
        planner_cache: PlannerCache,
        states: Mapping[str, NodeState],
    ) -> None:
        self._instance = instance
        self._accepted = accepted
        self._ledger = ledger
        self._planner_cache = planner_cache
        self._states = states
        self._rendered: dict[tuple[int, str], dict[str, desired.DesiredItem]] = {}

    def graph(self, revision: InstanceRevision) -> CompiledGraph:
        return self._accepted.graphs[revision.inputs.graph]

    def resolved(self, node: CompiledNode, revision: InstanceRevision) -> desired.Resolved:
        for name, state in self._states.items():
            if name in node.depends_on and state.is_excluded:
                return desired.Resolved("excluded", reason=f"it is left out with {name}")
        schema = {names.SCHEMA: inputs.schema_document(self._instance, revision.inputs)}
        early = [gate for gate in node.include_when if gate.reads <= {names.SCHEMA}]
        answer = _included(early, schema)
        if answer is not None:
            return answer
        for name in self._in_line(node.depends_on):
            waits = self._waits_for(name, revision)
            if waits:
                return desired.Resolved("waiting", reason=waits, is_in_line=True)
        late = [gate for gate in node.include_when if gate not in early]
        if late:
            bindings = {**self.item_bindings(), **schema}
            answer = _included(late, bindings)
            if answer is not None:
                return answer
        return self._render(node, revision)

    def _render(self, node: CompiledNode, revision: InstanceRevision) -> desired.Resolved:
        is_pure = self.is_pure(node)
        key = (self._instance.uid, revision.number, node.id)
        if is_pure:
            known = self._planner_cache.resolved(*key, revision.inputs_hash)
            if known is not None:
                return known
        bindings: dict[str, object] = {names.SCHEMA: inputs.schema_document(self._instance, revision.inputs)}
        bindings.update(revision.inputs.external)
        for name in node.depends_on:
            state = self._states.get(name)
            if state is not None and name not in revision.inputs.external:
                value = nodes.document_binding(state)
                if value is not None:
                    bindings[name] = value
        resolved = desired.resolve(
            node, bindings, self._instance.namespace, self._accepted.newest.is_namespaced
        )
        if is_pure:
            self._planner_cache.keep_resolved(*key, revision.inputs_hash, resolved)
        return resolved

    def is_pure(self, node: CompiledNode) -> bool:
        """Whether the inputs of a revision alone say what the node is."""
        return all(
            (state := self._states.get(name)) is not None and state.node.template is None
            for name in node.depends_on
        )

    def _in_line(self, read: frozenset[str]) -> Iterator[str]:
        """Of what is read, what a node has to wait for, in the order of the graph."""
        return (name for name, state in self._states.items() if name in read and not state.is_excluded)

    def _waits_for(self, name: str, revision: InstanceRevision) -> str:
        state = self._states[name]
        if state.node.template is None:
            if state.reason:
                return f"waits for {name}: {state.reason}"
        elif state.had_reached:
            return f"waits for {name}, which {state.reason}"
        elif revision is self._ledger.newest and not state.has_reached:
            return f"waits for {name} to reach revision {revision.number}"
        return "" if state.is_ready else f"waits for {name} to be ready"

    def gates_wait(
        self, node: CompiledNode, gates: CompiledNode, revision: InstanceRevision
    ) -> Verdict | None:
        """What the gates alone read holds back only what is about to change. One that is missing is an error."""
        for name in self._in_line(gates.gate_reads - node.depends_on):
            waits = self._waits_for(name, revision)
            if not waits:
                continue
            if not self._states[name].reason or self._states[name].node.template is not None:
                return decisions.pending(Reason.AWAITING_DEPENDENCY, waits)
            asking = next(gate.text for gate in gates.propagate_when or () if name in gate.reads)
            return decisions.error(f"{name}: {self._states[name].reason}", gate=asking)
        return None

    def item_bindings(self) -> dict[str, object]:
        bindings: dict[str, object] = {}
        for name, state in self._states.items():
            value = state.binding()
            if value is not None:
                bindings[name] = value
        return bindings

    def granted_content(self, unit: NodeUnit) -> contents.Content | None:
        """What the unit was last granted."""
        if unit.grant is None:
            return None
        return self.content_at(self._ledger.revisions[unit.number], unit.origin, unit.text, unit.grant.hash)

    def wants(self, revision: InstanceRevision, node_id: str, text: str) -> bool:
        """Whether a node had the object at a revision; where that cannot be told any more, it had."""
        graph = self.graph(revision)
        node = next((each for each in graph.nodes if each.id == node_id), None)
        if node is None or node.template is None:
            return False
        record = revision.nodes.get(node_id)
        if record is not None and text in record.granted:
            return True
        if any(graph.node(name).template is not None for name in node.depends_on):
            return True
        early = [gate for gate in node.include_when if gate.reads <= {names.SCHEMA}]
        schema = {names.SCHEMA: inputs.schema_document(self._instance, revision.inputs)}
        return _included(early, schema) is None and text in self._rendered_at(node, revision)

    def places(self, node: CompiledNode, revision: InstanceRevision) -> frozenset[Key] | None:
        """The objects of a node that is not worked out yet, as far as the inputs alone tell; None if they do not."""
        bindings = {
            names.SCHEMA: inputs.schema_document(self._instance, revision.inputs),
            **revision.inputs.external,
        }
        return desired.places(node, bindings, self._instance.namespace, self._accepted.newest.is_namespaced)

    def content_at(
        self, revision: InstanceRevision, node_id: str, text: str, content_hash: str
    ) -> contents.Content | None:
        """As it was kept, or rendered again from the inputs of the revision; None if it cannot be had any more."""
        kept = revision.record(node_id).contents.get(text)
        if kept is not None:
            return kept
        node = next((each for each in self.graph(revision).nodes if each.id == node_id), None)
        if node is None:
            return None
        wanted = self._rendered_at(node, revision).get(text)
        return wanted.content if wanted is not None and wanted.hash == content_hash else None

    def _rendered_at(self, node: CompiledNode, revision: InstanceRevision) -> dict[str, desired.DesiredItem]:
        key = (revision.number, node.id)
        if key not in self._rendered:
            self._rendered[key] = {each.text: each for each in self._render(node, revision).wanted}
        return self._rendered[key]


def _included(gates: Iterable[GateExpression], bindings: Mapping[str, object]) -> desired.Resolved | None:
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
