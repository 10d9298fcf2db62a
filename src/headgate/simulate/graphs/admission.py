"""Accepts definitions and their instances as an API server with the definitions' schemas would."""

from typing import Any

from headgate.cluster.simulated import object_documents
from headgate.cluster.simulated.store import ObjectStore, replace
from headgate.graph.compile import definition, kinds, validate
from headgate.graph.compile.compiler import CompiledGraph, compile_definition
from headgate.graph.reconcile import labels
from headgate.kernel.objects import Key, Object
from headgate.kernel.problems import Problem, Rejected

_KEPT_ANNOTATIONS = (labels.STARTED_ON,)
_KEPT_LABELS = "kro.run/"


class Admission:
    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._compiled: dict[str, tuple[int, str, CompiledGraph]] = {}

    def is_definition(self, api_version: str | None, kind: str) -> bool:
        return kind == definition.KIND and (api_version is None or api_version.startswith("kro.run/"))

    def graph_for(self, api_version: str | None, kind: str) -> CompiledGraph | None:
        """The definition that serves a kind; without an apiVersion by the kind alone."""
        for item in self._store:
            if item.kind != definition.KIND or item.api_version != definition.API_VERSION:
                continue
            graph = self._graph(item)
            if graph.kind == kind and api_version in (None, graph.api_version):
                return graph
        return None

    def _graph(self, item: Object) -> CompiledGraph:
        known = self._compiled.get(item.name)
        if known is None or known[:2] != (item.generation, item.uid):
            known = self._compiled[item.name] = (item.generation, item.uid, compile_definition(item))
        return known[2]

    def has_no_namespace(self, api_version: str | None, kind: str) -> bool:
        if self.is_definition(api_version, kind):
            return True
        known = kinds.find(api_version, kind) if api_version is not None else None
        if known is not None:
            return not known.is_namespaced
        graph = self.graph_for(api_version, kind)
        return graph is not None and not graph.is_namespaced

    def accepted(self, document: dict[str, Any], old: Object | None) -> Object:
        """The object to store. Raises Rejected with every problem."""
        api_version, kind = document.get("apiVersion"), str(document.get("kind"))
        given = object_documents.read(document)
        if self.has_no_namespace(api_version, kind):
            given.namespace = ""
        if self.is_definition(api_version, kind):
            self._check_definition(document, given.name, old)
        elif (graph := self.graph_for(api_version, kind)) is not None:
            before = object_documents.write(old) if old is not None else None
            given.spec = graph.schema.accept(document, old=before)["spec"]
        return given if old is None else _edited(old, given)

    def _check_definition(self, document: dict[str, Any], name: str, old: Object | None) -> None:
        previous = self._graph(old) if old is not None else None
        others = [item.spec for item in self._store if item.kind == definition.KIND and item.name != name]
        graph = validate.compile_document(document, previous=previous, others=others)
        other = self.graph_for(graph.api_version, graph.kind)
        if other is not None and other.name != name:
            message = f"{graph.kind} of {graph.api_version} is defined by {other.name} already"
            raise Rejected([Problem("spec.schema.kind", message)])

    def key_of(self, document: dict[str, Any]) -> Key:
        given = object_documents.read(document)
        if self.has_no_namespace(given.api_version, given.kind):
            given.namespace = ""
        return given.key


def _edited(old: Object, given: Object) -> Object:
    """Bookkeeping that a writer did not see, or did not repeat, stays."""
    kept_annotations = {key: value for key, value in old.annotations.items() if key in _KEPT_ANNOTATIONS}
    kept_labels = {key: value for key, value in old.labels.items() if key.startswith(_KEPT_LABELS)}
    return replace(
        given,
        uid=old.uid,
        owners=old.owners,
        finalizers=tuple(dict.fromkeys((*old.finalizers, *given.finalizers))),
        resource_version=old.resource_version,
        labels={**given.labels, **kept_labels},
        annotations={**given.annotations, **kept_annotations},
    )
