"""What a story does to a cluster, remembered until the operator can have heard of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from headgate.kernel.instants import Instant
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery
from headgate.kubernetes.errors import ApiError, NotFoundError
from headgate.kubernetes.resources import ApiResource, Document

from .clock import GONE, StoryClock

MANAGER = "people"
_TRIES = 30


class Actor:
    """In one namespace; what has none is everybody's."""

    def __init__(self, client: Client, clock: StoryClock, namespace: str) -> None:
        self.client = client
        self._clock = clock
        self.namespace = namespace
        self._discovery = Discovery(client.transport)
        self.done: list[tuple[ApiResource, str, str]] = []
        """Kind, uid and version of everything that was written, until it is taken."""
        self.versions: dict[str, str] = {}
        """By uid, as far as known."""

    @property
    def now(self) -> Instant:
        return self._clock.now

    async def resource(self, api_version: str, kind: str) -> ApiResource:
        return await self._discovery.find(api_version, kind)

    async def put(self, document: Document) -> None:
        """The whole object as it is written: made, or in place of what is there."""
        resource = await self.resource(document["apiVersion"], document["kind"])
        metadata: dict[str, Any] = {**document["metadata"]}
        if resource.is_namespaced:
            metadata["namespace"] = self.namespace
        given = {**document, "metadata": metadata}
        try:
            found = await self.client.get(resource, metadata["name"], self._place(resource))
        except NotFoundError:
            made = await _answered(lambda: self.client.create(resource, given, manager=MANAGER))
            self._note(resource, made)
            return
        metadata["resourceVersion"] = found["metadata"]["resourceVersion"]
        self._note(resource, await _answered(lambda: self.client.update(resource, given, manager=MANAGER)))

    async def patch(
        self, resource: ApiResource, name: str, patch: Document, *, subresource: str = ""
    ) -> None:
        answer = await _answered(
            lambda: self.client.patch(
                resource, name, self._place(resource), patch, manager=MANAGER, subresource=subresource
            )
        )
        self._note(resource, answer)

    async def delete(
        self, resource: ApiResource, name: str, *, uid: str = "", grace_seconds: int | None = None
    ) -> None:
        try:
            answer = await self.client.delete(
                resource, name, self._place(resource), uid=uid, grace_seconds=grace_seconds
            )
        except NotFoundError:
            if uid:
                return
            raise
        metadata = answer.get("metadata") or {}
        is_staying = metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds")
        if "uid" in metadata and is_staying:
            self._note(resource, answer)
        else:
            gone = uid or metadata.get("uid") or (answer.get("details") or {}).get("uid", "")
            self.done.append((resource, gone, GONE))

    def _note(self, resource: ApiResource, answer: Document) -> None:
        """Nobody is told of a write that changed nothing."""
        metadata = answer["metadata"]
        if self.versions.get(metadata["uid"]) == metadata["resourceVersion"]:
            return
        self.versions[metadata["uid"]] = metadata["resourceVersion"]
        self.done.append((resource, metadata["uid"], metadata["resourceVersion"]))

    def _place(self, resource: ApiResource) -> str:
        return self.namespace if resource.is_namespaced else ""


async def _answered(write: Callable[[], Awaitable[Document]]) -> Document:
    """On a busy machine a webhook may be too late to judge; that is no refusal, and people try again."""
    for _ in range(_TRIES):
        try:
            return await write()
        except ApiError as error:
            if "failed calling webhook" not in str(error):
                raise
    return await write()
