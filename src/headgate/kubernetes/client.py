"""The verbs of an API server. Documents go in and come out as they are; what is refused is one of `errors`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from headgate.kubernetes import watching
from headgate.kubernetes.errors import NonsenseError
from headgate.kubernetes.resources import PODS, ApiResource, Document
from headgate.kubernetes.transport import TIMEOUT_SECONDS, ApiRequest, Transport
from headgate.kubernetes.watching import WatchEvent

CHUNK_SIZE = 500
READ_SECONDS = 90.0
"""The longest silence of a watch: the server sends a bookmark about every minute."""
PATCHES = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
}
_APPLY = "application/apply-patch+yaml"

Propagation = Literal["Background", "Foreground", "Orphan"]


class ListPage(msgspec.Struct, frozen=True):
    """A chunk of a list. Its version is that of the whole list, from which a watch goes on."""

    items: list[Document]
    resource_version: str
    next: str = ""


class Client:
    """A namespace is needed for objects that live in one; without it, lists and watches are about all of them.

    `timeout_seconds` bounds each request: a leader gives its writes no more time than it is sure to lead.
    """

    def __init__(self, transport: Transport, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self.transport = transport
        self._timeout_seconds = timeout_seconds

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self.transport.close()

    def within(self, timeout_seconds: float) -> Client:
        """The same client, with less time for each request."""
        return Client(self.transport, timeout_seconds=min(timeout_seconds, self._timeout_seconds))

    async def get(
        self, resource: ApiResource, name: str, namespace: str = "", subresource: str = ""
    ) -> Document:
        return await self.ask("GET", resource.path(namespace, name, subresource))

    async def pages(
        self,
        resource: ApiResource,
        namespace: str = "",
        *,
        labels: str = "",
        fields: str = "",
        chunk_size: int = CHUNK_SIZE,
    ) -> AsyncGenerator[ListPage, None]:
        """Chunk by chunk, all of one version. Raises GoneError if that grew too old meanwhile: begin again then."""
        following = ""
        while True:
            query = {"labelSelector": labels, "fieldSelector": fields, "continue": following}
            if chunk_size:
                query["limit"] = str(chunk_size)
            page = _page(await self.ask("GET", resource.path(namespace), query))
            yield page
            if not page.next:
                return
            following = page.next

    async def list(
        self,
        resource: ApiResource,
        namespace: str = "",
        *,
        labels: str = "",
        fields: str = "",
        chunk_size: int = CHUNK_SIZE,
    ) -> ListPage:
        """All chunks as one."""
        items: list[Document] = []
        version = ""
        async for page in self.pages(
            resource, namespace, labels=labels, fields=fields, chunk_size=chunk_size
        ):
            items.extend(page.items)
            version = page.resource_version
        return ListPage(items, version)

    async def create(
        self,
        resource: ApiResource,
        document: Document,
        *,
        manager: str = "",
        subresource: str = "",
        name: str = "",
        dry_run: bool = False,
    ) -> Document:
        """`name` is that of the object whose subresource is created."""
        path = resource.path(_namespace(resource, document), name, subresource)
        return await self.ask("POST", path, _write_query(manager, dry_run), document)

    async def update(
        self,
        resource: ApiResource,
        document: Document,
        *,
        manager: str = "",
        subresource: str = "",
        dry_run: bool = False,
    ) -> Document:
        """Replaces the whole object; refused if it has moved past the `resourceVersion` in the document."""
        path = resource.path(_namespace(resource, document), _name(document), subresource)
        return await self.ask("PUT", path, _write_query(manager, dry_run), document)

    async def apply(
        self,
        resource: ApiResource,
        document: Document,
        *,
        manager: str,
        force: bool = False,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Document:
        """Server-side apply: the fields in the document are the manager's, those it does not repeat it gives up.

        Fields of others are an ApplyConflictError, unless it is forced. A `uid` or `resourceVersion` in the document's
        metadata is a precondition.
        """
        query = _write_query(manager, dry_run) | {"force": "true" if force else "false"}
        path = resource.path(_namespace(resource, document), _name(document), subresource)
        return await self.ask("PATCH", path, query, document, content_type=_APPLY)

    async def patch(
        self,
        resource: ApiResource,
        name: str,
        namespace: str,
        patch: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        kind: Literal["merge", "strategic", "json"] = "merge",
        manager: str = "",
        subresource: str = "",
    ) -> Document:
        path = resource.path(namespace, name, subresource)
        return await self.ask("PATCH", path, _write_query(manager, False), patch, content_type=PATCHES[kind])

    async def delete(
        self,
        resource: ApiResource,
        name: str,
        namespace: str = "",
        *,
        uid: str = "",
        resource_version: str = "",
        propagation: Propagation = "Background",
        grace_seconds: int | None = None,
    ) -> Document:
        """The object if it stays for a while, else a Status. A ConflictError if it is not the one that was meant."""
        options: Document = {"propagationPolicy": propagation}
        if uid or resource_version:
            given = {"uid": uid, "resourceVersion": resource_version}
            options["preconditions"] = {key: value for key, value in given.items() if value}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        return await self.ask("DELETE", resource.path(namespace, name), {}, options)

    async def delete_selected(self, resource: ApiResource, labels: str, namespace: str = "") -> Document:
        """All that the selector finds, with one request."""
        if not labels:
            raise ValueError("what is deleted together has to be selected by labels")
        options: Document = {"propagationPolicy": "Background"}
        return await self.ask("DELETE", resource.path(namespace), {"labelSelector": labels}, options)

    async def evict(
        self, name: str, namespace: str, *, uid: str = "", grace_seconds: int | None = None
    ) -> Document:
        """Deletes a pod if its disruption budgets allow it now; an EvictionRefusedError names the one that does not."""
        options: Document = {}
        if uid:
            options["preconditions"] = {"uid": uid}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        eviction: Document = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
        }
        if options:
            eviction["deleteOptions"] = options
        return await self.ask("POST", PODS.path(namespace, name, "eviction"), {}, eviction)

    async def logs(
        self,
        name: str,
        namespace: str,
        *,
        container: str = "",
        tail_lines: int | None = None,
        follow: bool = False,
        timestamps: bool = False,
        since_time: str = "",
        limit_bytes: int | None = None,
    ) -> AsyncGenerator[bytes, None]:
        """As they come, in pieces of any size. Without an end, if they are followed, as long as the pod runs."""
        query = {"container": container, "tailLines": "" if tail_lines is None else str(tail_lines)}
        query |= {"follow": "true" if follow else "", "timestamps": "true" if timestamps else ""}
        query |= {"sinceTime": since_time}
        query |= {"limitBytes": "" if limit_bytes is None else str(limit_bytes)}
        request = ApiRequest(
            "GET",
            PODS.path(namespace, name, "log"),
            {key: value for key, value in query.items() if value},
            accept="*/*",
            timeout_seconds=self._timeout_seconds,
            read_seconds=None if not follow else 3_600.0,
        )
        async with self.transport.open(request) as response:
            async for piece in response.content.iter_any():
                yield piece

    def watch(
        self,
        resource: ApiResource,
        namespace: str = "",
        *,
        resource_version: str,
        labels: str = "",
        fields: str = "",
        lasts_seconds: int = 300,
        read_seconds: float = READ_SECONDS,
    ) -> AsyncGenerator[WatchEvent, None]:
        """What happens after a version, with bookmarks, until the server ends it; GoneError if that is too old."""
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(lasts_seconds),
            "labelSelector": labels,
            "fieldSelector": fields,
        }
        request = ApiRequest(
            "GET",
            resource.path(namespace),
            {key: value for key, value in query.items() if value},
            timeout_seconds=self._timeout_seconds,
            read_seconds=read_seconds,
        )
        return watching.events(self.transport, request)

    async def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        document: Any = None,
        *,
        content_type: str = "application/json",
    ) -> Document:
        """Any request whose answer is a JSON object. Raises NonsenseError for another one."""
        request = ApiRequest(
            method,
            path,
            {key: value for key, value in (query or {}).items() if value},
            None if document is None else msgspec.json.encode(document),
            content_type=content_type,
            timeout_seconds=self._timeout_seconds,
        )
        answer = (await self.transport.ask(request)).document()
        if not isinstance(answer, dict):
            raise NonsenseError(f"the API server answers {method} {path} with something that is no object")
        return answer


def _write_query(manager: str, dry_run: bool) -> dict[str, str]:
    """Unknown and doubled fields are refused, as kubectl has it: what is dropped silently is not what was meant."""
    return {"fieldManager": manager, "fieldValidation": "Strict", "dryRun": "All" if dry_run else ""}


def _page(document: Document) -> ListPage:
    metadata, items = document.get("metadata"), document.get("items")
    if not isinstance(metadata, dict) or not isinstance(items, list | None):
        raise NonsenseError("the API server's list has no metadata or no items")
    return ListPage(
        items or [], str(metadata.get("resourceVersion", "")), str(metadata.get("continue") or "")
    )


def _name(document: Document) -> str:
    return str(document["metadata"]["name"])


def _namespace(resource: ApiResource, document: Document) -> str:
    return str(document["metadata"].get("namespace", "")) if resource.is_namespaced else ""
