"""Writes of a leader, which fail when it does not lead any more.

Three things together: nothing is sent without leadership; what is sent has no more time than nobody else can lead in; and
what arrives all the same, because a machine or the network held it back, names the object by uid or version, so that it
does not hit what the next leader has made of it.
"""

from __future__ import annotations

from headgate.kubernetes.client import Client, Propagation
from headgate.kubernetes.lease import DeposedError, Election
from headgate.kubernetes.resources import ApiResource, Document


class FencedClient:
    """Raises DeposedError, which is the port's `Conflict`, where a leader is needed and this is none."""

    def __init__(self, client: Client, election: Election) -> None:
        self._client = client
        self._election = election

    def _leading(self) -> Client:
        leadership = self._election.leadership
        if leadership is None:
            raise DeposedError(f"{self._election.identity} does not lead: nothing is written")
        return self._client.within(leadership.remaining_seconds)

    async def create(self, resource: ApiResource, document: Document, *, manager: str) -> Document:
        """The name is the precondition: it has to be one that both leaders choose, as names of pods and revisions are."""
        return await self._leading().create(resource, document, manager=manager)

    async def update(
        self, resource: ApiResource, document: Document, *, manager: str, subresource: str = ""
    ) -> Document:
        if not document["metadata"].get("resourceVersion"):
            raise ValueError("an update needs metadata.resourceVersion, the version that was seen")
        return await self._leading().update(resource, document, manager=manager, subresource=subresource)

    async def apply(
        self,
        resource: ApiResource,
        document: Document,
        *,
        manager: str,
        uid: str,
        resource_version: str = "",
        force: bool = False,
        subresource: str = "",
    ) -> Document:
        """`uid` is that of the object that was seen; empty says that none was, and that it is to be made."""
        seen = {"uid": uid, "resourceVersion": resource_version}
        metadata = {**document["metadata"], **{key: value for key, value in seen.items() if value}}
        return await self._leading().apply(
            resource,
            {**document, "metadata": metadata},
            manager=manager,
            force=force,
            subresource=subresource,
        )

    async def patch(
        self,
        resource: ApiResource,
        patch: Document,
        name: str,
        namespace: str = "",
        *,
        manager: str,
        resource_version: str,
    ) -> Document:
        """A JSON merge patch of the object as it was seen."""
        metadata = {**(patch.get("metadata") or {}), "resourceVersion": resource_version}
        return await self._leading().patch(
            resource, name, namespace, {**patch, "metadata": metadata}, manager=manager
        )

    async def delete(
        self,
        resource: ApiResource,
        name: str,
        namespace: str = "",
        *,
        uid: str,
        resource_version: str = "",
        propagation: Propagation = "Background",
        grace_seconds: int | None = None,
    ) -> Document:
        return await self._leading().delete(
            resource,
            name,
            namespace,
            uid=uid,
            resource_version=resource_version,
            propagation=propagation,
            grace_seconds=grace_seconds,
        )

    async def delete_selected(self, resource: ApiResource, labels: str, namespace: str = "") -> Document:
        """The selector is the precondition: it must find nothing that another leader would keep."""
        return await self._leading().delete_selected(resource, labels, namespace)

    async def evict(
        self, name: str, namespace: str, *, uid: str, grace_seconds: int | None = None
    ) -> Document:
        return await self._leading().evict(name, namespace, uid=uid, grace_seconds=grace_seconds)
