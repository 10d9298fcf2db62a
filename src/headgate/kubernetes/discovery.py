"""Which kinds a cluster serves. Asked once, and again when a kind is wanted that was not there: a definition of it may
have come meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from headgate.kubernetes.errors import ApiError, NonsenseError, NotFoundError, UnreachableError
from headgate.kubernetes.resources import ApiResource, Document, segment
from headgate.kubernetes.transport import ApiRequest, Transport

REDISCOVER_SECONDS = 1.0
"""The shortest time between two looks: many who miss the same kind ask the server once."""
_ROOTS = ("/api", "/apis")
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


class UnknownKindError(ApiError):
    """The cluster does not serve the kind, or not yet."""


class _ServedPart(msgspec.Struct, frozen=True):
    """What one of the roots answered, with its tag, by which the same answer need not be sent again."""

    tag: str
    resources: tuple[ApiResource, ...]


class Discovery:
    """Finds kinds by apiVersion and kind, and by the names that people use. `clock` counts seconds."""

    def __init__(self, transport: Transport, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._transport = transport
        self._clock = clock
        self._parts: dict[str, _ServedPart] = {}
        self._by_kind: dict[tuple[str, str], ApiResource] = {}
        self._looked_at: float | None = None
        self._lock = asyncio.Lock()

    async def find(self, api_version: str, kind: str) -> ApiResource:
        """Raises UnknownKindError, also if the last look is a moment ago: ask again later."""
        resource = await self._discovered(lambda: self._by_kind.get((api_version, kind)))
        if resource is None:
            raise UnknownKindError(f"the cluster serves no {kind} of {api_version}", reason="UnknownKind")
        return resource

    async def named(self, name: str) -> ApiResource:
        """By a plural, singular, short name or kind, with or without its group: `pods`, `pclq`, `deployments.apps`.

        Of several versions it is the one that the server prefers, of several groups the first.
        """
        resource = await self._discovered(lambda: next(self._named(name.lower()), None))
        if resource is None:
            raise UnknownKindError(f"the cluster serves nothing named {name}", reason="UnknownKind")
        return resource

    async def all(self) -> Iterable[ApiResource]:
        if self._looked_at is None:
            await self._look(None)
        return tuple(self._by_kind.values())

    async def refresh(self) -> None:
        """Looks now, however short ago the last time was."""
        await self._look(self._looked_at)

    async def _discovered(self, look_up: Callable[[], ApiResource | None]) -> ApiResource | None:
        resource = look_up()
        seen = self._looked_at
        if resource is None and (seen is None or self._clock() - seen >= REDISCOVER_SECONDS):
            await self._look(seen)
            resource = look_up()
        return resource

    def _named(self, name: str) -> Iterator[ApiResource]:
        plain, _, group = name.partition(".")
        for resource in self._by_kind.values():
            names = (resource.plural, resource.singular, resource.kind.lower(), *resource.short_names)
            if plain in names and (not group or resource.group == group):
                yield resource

    async def _look(self, seen: float | None) -> None:
        """Whoever waited while another looked has the answer already."""
        async with self._lock:
            if self._looked_at != seen:
                return
            for root in _ROOTS:
                await self._discover(root)
            self._by_kind = {
                (resource.api_version, resource.kind): resource
                for root in _ROOTS
                for resource in self._parts[root].resources
            }
            self._looked_at = self._clock()

    async def _discover(self, root: str) -> None:
        known = self._parts.get(root)
        headers = {"If-None-Match": known.tag} if known is not None and known.tag else {}
        try:
            answer = await self._transport.ask(ApiRequest("GET", root, accept=_AGGREGATED, headers=headers))
        except ApiError as error:
            if error.status == 304:
                return
            raise
        document = answer.document()
        if not isinstance(document, dict):
            raise NonsenseError(f"the API server's answer for {root} is no object")
        if document.get("kind") == "APIGroupDiscoveryList":
            resources = tuple(_aggregated(document))
        else:
            resources = tuple(await self._one_by_one(root, document))
        self._parts[root] = _ServedPart(answer.headers.get("etag", ""), resources)

    async def _one_by_one(self, root: str, document: Document) -> list[ApiResource]:
        """For servers that are older: a request for each version of each group. A group whose own server is down is
        left out, and the others are found all the same."""
        resources: list[ApiResource] = []
        for group, version in _versions(root, document):
            path = f"/apis/{segment(group)}/{segment(version)}" if group else f"/api/{segment(version)}"
            try:
                listed = (await self._transport.ask(ApiRequest("GET", path))).document()
            except (NotFoundError, UnreachableError):
                continue
            resources.extend(_listed(group, version, listed))
        return resources


def _aggregated(document: Document) -> Iterator[ApiResource]:
    """The versions of a group come in the server's order of preference."""
    for group in _maps(document.get("items")):
        name = str((group.get("metadata") or {}).get("name") or "")
        for version in _maps(group.get("versions")):
            for entry in _maps(version.get("resources")):
                kind = (entry.get("responseKind") or {}).get("kind")
                if not kind or not entry.get("resource"):
                    continue
                yield ApiResource(
                    group=name,
                    version=str(version.get("version")),
                    kind=str(kind),
                    plural=str(entry["resource"]),
                    is_namespaced=entry.get("scope") == "Namespaced",
                    verbs=frozenset(entry.get("verbs") or ()),
                    subresources=frozenset(
                        str(part.get("subresource")) for part in _maps(entry.get("subresources"))
                    ),
                    singular=str(entry.get("singularResource") or ""),
                    short_names=tuple(entry.get("shortNames") or ()),
                    categories=tuple(entry.get("categories") or ()),
                )


def _versions(root: str, document: Document) -> Iterator[tuple[str, str]]:
    """The preferred version of a group first."""
    if root == "/api":
        for version in document.get("versions") or ():
            yield "", str(version)
        return
    for group in _maps(document.get("groups")):
        preferred = (group.get("preferredVersion") or {}).get("version")
        versions = [str(each.get("version")) for each in _maps(group.get("versions"))]
        for version in sorted(versions, key=lambda version: version != preferred):
            yield str(group.get("name")), version


def _listed(group: str, version: str, document: Any) -> Iterator[ApiResource]:
    entries = list(_maps(document.get("resources"))) if isinstance(document, dict) else []
    parts: dict[str, set[str]] = {}
    for entry in entries:
        plural, _, part = str(entry.get("name")).partition("/")
        parts.setdefault(plural, set()).update({part} if part else ())
    for entry in entries:
        plural = str(entry.get("name"))
        if "/" in plural:
            continue
        yield ApiResource(
            group=group,
            version=version,
            kind=str(entry.get("kind")),
            plural=plural,
            is_namespaced=bool(entry.get("namespaced")),
            verbs=frozenset(entry.get("verbs") or ()),
            subresources=frozenset(parts[plural]),
            singular=str(entry.get("singularName") or ""),
            short_names=tuple(entry.get("shortNames") or ()),
            categories=tuple(entry.get("categories") or ()),
        )


def _maps(value: Any) -> Iterator[Mapping[str, Any]]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping):
            yield item
