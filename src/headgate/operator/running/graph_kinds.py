"""The kinds that graphs speak of: which ones, what the cluster says of their schemas, and whether all is heard of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.graph.compile import loops
from headgate.graph.reconcile import labels, revisions
from headgate.kernel.object_kinds import ObjectKind
from headgate.kernel.objects import Object
from headgate.kubernetes.schemas import ClusterSchemas

KindName = tuple[str, str]
"""apiVersion and kind."""
CRD_GROUP, CRD_KIND = "apiextensions.k8s.io", "CustomResourceDefinition"


def instance_kind(spec: Mapping[str, Any]) -> KindName:
    """What a definition brings."""
    group, kind = loops.defined_kind(spec)
    schema = spec.get("schema")
    version = str(schema.get("apiVersion", "")) if isinstance(schema, Mapping) else ""
    return f"{group}/{version}", kind


def spoken_of(spec: Mapping[str, Any]) -> Iterator[KindName]:
    """What the objects of a graph are, those that it only reads among them."""
    resources = spec.get("resources")
    for resource in resources if isinstance(resources, list) else ():
        if not isinstance(resource, Mapping):
            continue
        for part in (resource.get("template"), resource.get("externalRef")):
            if isinstance(part, Mapping) and part.get("apiVersion") and part.get("kind"):
                yield str(part["apiVersion"]), str(part["kind"])


def of_definition(definition: Object, graph_revisions: Iterator[Object]) -> dict[KindName, None]:
    """Also of what it said before: instances may be on that still."""
    kinds = dict.fromkeys(spoken_of(definition.spec))
    for item in graph_revisions:
        if item.labels.get(labels.DEFINITION_NAME) == definition.name:
            kinds |= dict.fromkeys(spoken_of(revisions.graph_from_object(item).spec))
    return kinds


class LearntKinds:
    """The compiler's source of kinds: what the cluster said of those that were asked for. A kind that it does not serve
    is an unknown one, until it is asked for again."""

    def __init__(self, schemas: ClusterSchemas) -> None:
        self._schemas = schemas
        self._kinds: dict[KindName, ObjectKind] = {}

    def find(self, api_version: str, name: str) -> ObjectKind | None:
        return self._kinds.get((api_version, name))

    async def learn(self, wanted: Mapping[KindName, None]) -> tuple[bool, bool]:
        """Whether something new is known, and whether something is to be known in a moment."""
        missing = [each for each in wanted if each not in self._kinds]
        if not missing:
            return False, False
        answer = await self._schemas.kinds(missing)
        learnt = {each: kind for each in missing if (kind := answer.find(*each)) is not None}
        self._kinds |= learnt
        return bool(learnt), bool(answer.unpublished)

    def forget(self, group: str, kind: str) -> bool:
        """Its schema is another now."""
        known = [each for each in self._kinds if each[1] == kind and each[0].rpartition("/")[0] == group]
        for each in known:
            del self._kinds[each]
        return bool(known)
