"""What a planner may remember between passes to be quick. Nothing here decides: an empty memory gives the same plan."""

from __future__ import annotations

from typing import Any

from headgate.graph.compile import compiler as compiling
from headgate.graph.compile.compiled import CompiledGraph
from headgate.graph.reconcile import contents, desired, judging, nodes, revisions
from headgate.kernel.object_kinds import KindSource
from headgate.kernel.objects import Object
from headgate.kernel.problems import Rejected

MOST_KEPT = 50_000


class PlannerCache:
    """`compiled` may be handed on from an earlier memory of the same `source`: a graph follows from its text and from
    the kinds it speaks of alone."""

    def __init__(
        self,
        compiled: dict[str, CompiledGraph | Rejected] | None = None,
        source: KindSource = compiling.BUILT_IN,
    ) -> None:
        self._source = source
        self.gates = judging.GateCache()
        self.ready = nodes.ReadinessCache()
        self.compiled: dict[str, CompiledGraph | Rejected] = {} if compiled is None else compiled
        self._paths: dict[str, desired.Paths] = {}
        self._resolved: dict[tuple[str, int, str], tuple[str, desired.Resolved]] = {}
        self._in_force: dict[str, tuple[int, str]] = {}
        self._specs: dict[tuple[str, str], tuple[int, dict[str, Any]]] = {}

    def graph(self, definition: Object, *, is_stored: bool = False) -> CompiledGraph:
        """Raises Rejected. Compiled by what it says, whoever says it."""
        key = contents.content_hash([definition.name, definition.spec, is_stored])
        known = self.compiled.get(key)
        if known is None:
            try:
                known = compiling.compile_definition(definition, source=self._source, is_stored=is_stored)
            except Rejected as rejected:
                known = rejected
            if len(self.compiled) > 1_000:
                self.compiled.clear()
            self.compiled[key] = known
        if isinstance(known, Rejected):
            raise known
        return known

    def graph_of(self, revision: revisions.GraphRevision, definition: Object) -> CompiledGraph:
        """A revision was accepted once, maybe by an earlier version, so it compiles."""
        snapshot = Object(
            api_version=definition.api_version,
            kind=definition.kind,
            namespace="",
            name=definition.name,
            uid=definition.uid,
            spec=revision.spec,
        )
        return self.graph(snapshot, is_stored=True)

    def spec(self, instance: Object, graph: CompiledGraph) -> dict[str, Any]:
        """The instance's spec as the graph's schema reads it: with its defaults, without what it does not know."""
        key = (instance.uid, graph.content_hash)
        known = self._specs.get(key)
        if known is None or known[0] != instance.generation:
            if len(self._specs) > MOST_KEPT:
                self._specs.clear()
            known = self._specs[key] = (instance.generation, _defaulted(instance, graph))
        return known[1]

    def paths(self, graph: CompiledGraph) -> desired.Paths:
        known = self._paths.get(graph.content_hash)
        if known is None:
            known = self._paths[graph.content_hash] = desired.content_paths(graph)
        return known

    def resolved(self, instance: str, number: int, node: str, inputs_hash: str) -> desired.Resolved | None:
        known = self._resolved.get((instance, number, node))
        return known[1] if known is not None and known[0] == inputs_hash else None

    def keep_resolved(
        self, instance: str, number: int, node: str, inputs_hash: str, resolved: desired.Resolved
    ) -> None:
        if len(self._resolved) > MOST_KEPT:
            self._resolved.clear()
        self._resolved[instance, number, node] = (inputs_hash, resolved)

    def is_in_force(self, item: Object, content_hash: str) -> bool:
        return self._in_force.get(item.uid) == (item.resource_version, content_hash)

    def keep_in_force(self, item: Object, content_hash: str) -> None:
        if len(self._in_force) > MOST_KEPT * 4:
            self._in_force.clear()
        self._in_force[item.uid] = (item.resource_version, content_hash)


def _defaulted(instance: Object, graph: CompiledGraph) -> dict[str, Any]:
    """An instance that an older schema accepted may not fit; then it is taken as it is."""
    try:
        accepted: dict[str, Any] = graph.schema.accept({"spec": instance.spec}, unknown="prune")["spec"]
    except Rejected:
        return instance.spec
    return accepted
