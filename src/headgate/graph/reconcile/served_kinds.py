"""Who serves a kind: one definition, and none a kind that somebody else brought into the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from headgate.graph.compile import definition, loops
from headgate.graph.compile.compiled import CompiledGraph
from headgate.graph.reconcile import definition_removal, labels
from headgate.kernel.objects import Key, Object
from headgate.kernel.problems import Problem

_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")


class KnownObjects(Protocol):
    def get(self, key: Key) -> Object | None: ...

    def of_kind(self, group: str, kind: str) -> Iterable[Object]: ...


def others(name: str, known: KnownObjects) -> Iterator[Object]:
    """The definitions beside the one of that name."""
    for other in known.of_kind("kro.run", definition.KIND):
        if other.name != name and definition_removal.is_kept(other):
            yield other


def rivals(graph: CompiledGraph, known: KnownObjects) -> Iterator[Object]:
    """Other definitions of the same kind."""
    accepted = (graph.api_version.partition("/")[0], graph.kind)
    return (other for other in others(graph.name, known) if loops.defined_kind(other.spec) == accepted)


def rivalled(graph: CompiledGraph, rival: Object) -> Problem:
    return Problem("spec.schema.kind", f"{graph.kind} is defined by {rival.name} already")


def key_of(graph: CompiledGraph) -> Key:
    return Key(*_CRD, "", graph.crd["metadata"]["name"])


def by_definition(known: KnownObjects) -> dict[tuple[str, str], str]:
    """The kinds that definitions brought, by group and kind, whether or not these are there any more."""
    return {
        (str(item.spec.get("group")), str((item.spec.get("names") or {}).get("kind"))): owner
        for item in known.of_kind(*_CRD)
        if (owner := item.labels.get(labels.DEFINITION_NAME)) is not None
    }


def foreign(graph: CompiledGraph, known: KnownObjects) -> Problem | None:
    """A kind that no definition brought, or one that is there beside this. What a definition left behind is taken up."""
    crd = known.get(key_of(graph))
    if crd is None:
        return None
    owner = crd.labels.get(labels.DEFINITION_NAME)
    if crd.labels.get(labels.OWNED) == "true" and owner is not None:
        if owner not in {other.name for other in others(graph.name, known)}:
            return None
        whose = f"it belongs to the definition {owner}"
    else:
        whose = "no definition brought it"
    return Problem(
        "spec.schema.kind",
        f"is {graph.kind}; the CustomResourceDefinition {crd.name} is there already and {whose}, so it is not taken over",
    )
