"""What goes into one instance: its spec, what its graph reads of its metadata, and of the data of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from headgate.graph.compile import names
from headgate.graph.compile.compiled import CompiledGraph, CompiledNode
from headgate.graph.reconcile import cluster_view, contents, desired
from headgate.graph.reconcile.planner_cache import PlannerCache
from headgate.graph.reconcile.revisions import Inputs
from headgate.kernel.objects import Object

_BOOKKEEPING = ("kro.run/", "internal.kro.run/", "headgate.dev/", "applyset.kubernetes.io/")


MadeBy = Callable[[CompiledNode], Sequence[Object]]
"""The objects that a node has, the latest first."""


def schema_document(instance: Object, inputs: Inputs) -> dict[str, object]:
    """What `schema` stands for at one revision."""
    document = contents.document_of(instance)
    document.pop("status", None)
    document["spec"] = inputs.spec
    document["metadata"].update(inputs.metadata)
    return document


class Gathered:
    """The inputs as they are now, and what the external references of the graph find."""

    def __init__(
        self,
        instance: Object,
        graph_number: int,
        graph: CompiledGraph,
        made_by: MadeBy,
        view: cluster_view.ClusterView,
        planner_cache: PlannerCache,
    ) -> None:
        self._instance = instance
        self._graph = graph
        self._view = view
        self._paths = planner_cache.paths(graph)
        self.externals: dict[str, desired.External] = {}
        bare = Inputs(
            graph_number,
            graph.content_hash,
            planner_cache.spec(instance, graph),
            self._metadata(),
        )
        external: dict[str, object] = {}
        if any(node.external_ref is not None for node in graph.nodes):
            external = self._external(bare, made_by)
        self.inputs = Inputs(bare.graph, bare.graph_hash, bare.spec, bare.metadata, external)

    def _metadata(self) -> dict[str, object]:
        read = {path[2] for path in self._paths if path[:2] == (names.SCHEMA, "metadata") and len(path) > 2}
        if self._paths & {(names.SCHEMA,), (names.SCHEMA, "metadata")}:
            read = {"labels", "annotations"}
        given = {"labels": self._instance.labels, "annotations": self._instance.annotations}
        return {
            name: {key: value for key, value in own.items() if not key.startswith(_BOOKKEEPING)}
            for name, own in given.items()
            if name in read
        }

    def _external(self, bare: Inputs, made_by: MadeBy) -> dict[str, object]:
        """Only what goes into objects: what gates alone read is looked at live and makes no revision."""
        read = {path[0] for path in self._paths}
        bindings = {
            **_observed(self._graph, made_by),
            names.SCHEMA: schema_document(self._instance, bare),
        }
        values: dict[str, object] = {}
        for node in self._graph.nodes:
            if node.external_ref is None:
                continue
            external = desired.external(node, bindings, self._instance.namespace, self._view)
            self.externals[node.id] = external
            documents = [contents.document_of(item) for item in external.objects]
            bindings[node.id] = documents if node.is_list else (documents[0] if documents else {})
            if node.id not in read:
                continue
            if node.is_list:
                values[node.id] = [desired.without_bookkeeping(document) for document in documents]
            elif documents:
                values[node.id] = desired.projected(node.id, documents[0], self._paths)
        return values


def _observed(graph: CompiledGraph, made_by: MadeBy) -> Mapping[str, object]:
    """For the rare external reference that is found through what the graph made."""
    values: dict[str, object] = {}
    for node in graph.nodes:
        documents = [contents.document_of(item) for item in made_by(node)]
        if node.is_list:
            values[node.id] = documents
        elif documents:
            values[node.id] = documents[0]
    return values
