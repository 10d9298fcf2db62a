"""What the objects of a cluster's kinds may hold, from the OpenAPI that the cluster publishes.

A document for each version of each group, fetched when a kind of it is wanted, and again only when its hash is another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from headgate.kernel.object_kinds import ANYTHING, ObjectKind
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery, UnknownKindError
from headgate.kubernetes.errors import NonsenseError, NotFoundError
from headgate.kubernetes.resources import ApiResource, Document

Schema = Mapping[str, Any]

_INDEX = "/openapi/v3"
_REFERENCE = "#/components/schemas/"
_KIND = "x-kubernetes-group-version-kind"
_OPEN = ("x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields")
_FORMATS = frozenset({"date-time", "byte"})
"""Others say how large a number is, which no expression can see."""
_SCALARS = frozenset({"string", "integer", "number", "boolean"})


class ClusterKinds:
    """Kinds as a cluster served them when it was asked: the compiler's source of kinds.

    `unpublished` are those that the cluster serves already, and whose schema it has not published yet: a moment later
    it will have.
    """

    def __init__(
        self, kinds: Mapping[tuple[str, str], ObjectKind], unpublished: frozenset[tuple[str, str]]
    ) -> None:
        self._kinds = kinds
        self.unpublished = unpublished

    def find(self, api_version: str, name: str) -> ObjectKind | None:
        return self._kinds.get((api_version, name))


class ClusterSchemas:
    def __init__(self, client: Client, discovery: Discovery) -> None:
        self._client = client
        self._discovery = discovery
        self._documents: dict[str, tuple[str, _Components]] = {}
        """By group and version as the index names them: the address with its hash, and what was found there."""

    async def kinds(self, wanted: Iterable[tuple[str, str]]) -> ClusterKinds:
        """By apiVersion and kind. A kind that the cluster does not serve is left out."""
        kinds: dict[tuple[str, str], ObjectKind] = {}
        unpublished: set[tuple[str, str]] = set()
        index = await self._index()
        for api_version, kind in dict.fromkeys(wanted):
            try:
                resource = await self._discovery.find(api_version, kind)
            except UnknownKindError:
                continue
            schema = await self._schema(index, resource)
            if schema is None:
                unpublished.add((api_version, kind))
            else:
                kinds[api_version, kind] = ObjectKind(
                    api_version, kind, resource.plural, resource.is_namespaced, schema
                )
        return ClusterKinds(kinds, frozenset(unpublished))

    async def _index(self) -> Mapping[str, Any]:
        paths = (await self._client.ask("GET", _INDEX)).get("paths")
        if not isinstance(paths, Mapping):
            raise NonsenseError("the API server's OpenAPI has no paths")
        return paths

    async def _schema(self, index: Mapping[str, Any], resource: ApiResource) -> Schema | None:
        """A document is asked for without its hash, and is at least as new as the index: what has changed since would be
        a redirection otherwise, to a hash that may be an old one by then."""
        part = f"apis/{resource.group}/{resource.version}" if resource.group else f"api/{resource.version}"
        address = (index.get(part) or {}).get("serverRelativeURL")
        if not isinstance(address, str):
            return None
        known = self._documents.get(part)
        if known is None or known[0] != address:
            try:
                document = await self._client.ask("GET", address.partition("?")[0])
            except NotFoundError:
                return None
            known = self._documents[part] = (address, _Components(document))
        return known[1].of_kind(resource)


class _Components:
    """The schemas of one document. References are followed as they are reached, because types may hold themselves."""

    def __init__(self, document: Document) -> None:
        schemas = (document.get("components") or {}).get("schemas")
        self._schemas: Mapping[str, Any] = schemas if isinstance(schemas, Mapping) else {}
        self._made: dict[str, Schema] = {}
        self._names = {
            (entry.get("group", ""), entry.get("version"), entry.get("kind")): name
            for name, schema in self._schemas.items()
            for entry in schema.get(_KIND) or ()
        }

    def of_kind(self, resource: ApiResource) -> Schema | None:
        name = self._names.get((resource.group, resource.version, resource.kind))
        return None if name is None else self._named(name)

    def _named(self, name: str) -> Schema:
        known = self._made.get(name)
        if known is None:
            known = self._made[name] = self.plain(self._schemas.get(name) or {})
        return known

    def plain(self, given: Mapping[str, Any]) -> Schema:
        """Types, properties and required fields; descriptions, defaults and limits are the server's business."""
        reference = given.get("$ref")
        if isinstance(reference, str):
            return self._named(reference.removeprefix(_REFERENCE))
        parts = given.get("allOf")
        if isinstance(parts, list) and len(parts) == 1 and "type" not in given:
            return self.plain(parts[0])
        if any(given.get(mark) for mark in _OPEN):
            return ANYTHING
        match given.get("type"):
            case "object":
                return self._object(given)
            case "array":
                return {"type": "array", "items": self.plain(given.get("items") or {})}
            case scalar if scalar in _SCALARS:
                written = given.get("format")
                return {"type": scalar, "format": written} if written in _FORMATS else {"type": scalar}
        return ANYTHING

    def _object(self, given: Mapping[str, Any]) -> Schema:
        properties, additional = given.get("properties"), given.get("additionalProperties")
        if properties:
            schema: dict[str, Any] = {"type": "object", "properties": _OpenApiProperties(self, properties)}
            if given.get("required"):
                schema["required"] = list(given["required"])
            return schema
        if isinstance(additional, Mapping):
            return {"type": "object", "additionalProperties": self.plain(additional)}
        return ANYTHING


class _OpenApiProperties(Mapping[str, Schema]):
    __slots__ = ("_components", "_fields")

    def __init__(self, components: _Components, fields: Mapping[str, Any]) -> None:
        self._components = components
        self._fields = fields

    def __getitem__(self, name: str) -> Schema:
        return self._components.plain(self._fields[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)
