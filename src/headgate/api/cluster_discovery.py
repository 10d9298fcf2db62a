"""Nodes of clusters as resources of a workspace, handed in by the service itself for as long as it runs.

Of several processes one does it, by a lease. What a cluster does not say for a while stays as it was last handed in.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from typing import Any

import msgspec

from headgate.agents import cluster_resources
from headgate.agents.cluster_resources import Nodes
from headgate.agents.clusters import Clusters
from headgate.api import sets
from headgate.api.http.calls import Principal, Refusal, Request, Service
from headgate.kernel.problems import Rejected
from headgate.kubernetes.errors import ApiError
from headgate.runtime.commands import BusyError, UnknownWorkspaceError
from headgate.store.leases import Lease
from headgate.store.port import UnavailableError

USER = "discovery"
LEASE_SECONDS = 30.0
RENEW_SECONDS = 10.0
RETRY_SECONDS = 5.0
_log = logging.getLogger("headgate.discovery")


class DiscoveredCluster(msgspec.Struct, frozen=True):
    """A context, what the cluster is called, in which workspace its resources are, and what their names begin with."""

    context: str
    name: str
    workspace: str
    prefix: str = ""

    @property
    def provider(self) -> str:
        return f"kubernetes-{self.name}"


class ClusterDiscovery:
    """One cluster's provider."""

    def __init__(self, service: Service, clusters: Clusters, wanted: DiscoveredCluster, holder: str) -> None:
        self._service = service
        self._clusters = clusters
        self._wanted = wanted
        self._holder = holder
        self._last: list[dict[str, Any]] | None = None

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                lease = await asyncio.to_thread(
                    self._service.store.take_lease, f"discovery/{self._wanted.provider}", self._holder, LEASE_SECONDS
                )  # fmt: skip
                if lease is not None:
                    await self._while_held(lease)
            except (ApiError, Rejected, UnavailableError) as error:
                self._say(error)
            await asyncio.sleep(RETRY_SECONDS)

    async def _while_held(self, lease: Lease) -> None:
        """What was handed in before somebody else had the lease is not known any more."""
        self._last = None
        store = self._service.store
        work = asyncio.create_task(self._follow())
        try:
            while not work.done():
                await asyncio.wait({work}, timeout=RENEW_SECONDS)
                if not await asyncio.to_thread(store.renew_lease, lease, LEASE_SECONDS):
                    return
            work.result()
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            await asyncio.shield(asyncio.to_thread(store.release_lease, lease))

    async def _follow(self) -> None:
        cluster = await self._clusters.named(self._wanted.context)
        facts = await cluster_resources.facts_of(cluster.client, self._wanted.name, self._wanted.prefix)
        following = cluster_resources.following(cluster.client, noticed=self._say)
        async with aclosing(following) as states:
            async for nodes in states:
                resources = cluster_resources.of_nodes(nodes.values(), facts)
                await self._hand_in(nodes, [*resources, cluster_resources.of_cluster(facts)])

    async def _hand_in(self, nodes: Nodes, resources: list[dict[str, Any]]) -> None:
        """A cluster without nodes is more likely one that answers wrongly: nothing is taken away for it."""
        while nodes and resources != self._last:
            try:
                await self._put(resources)
                self._last = resources
            except (Refusal, Rejected, BusyError, UnavailableError, UnknownWorkspaceError) as error:
                self._say(error)
                await asyncio.sleep(RETRY_SECONDS)

    async def _put(self, resources: list[dict[str, Any]]) -> None:
        workspace = self._wanted.workspace
        principal = Principal(USER, {workspace: frozenset({"read", "resource:write"})})
        call = Request(self._service, principal, workspace, {}, {})
        body = {"provider": self._wanted.provider, "resources": resources}
        await sets.put(call, await asyncio.to_thread(sets.read, body, workspace))

    def _say(self, error: Exception) -> None:
        message = "; ".join(map(str, error.problems)) if isinstance(error, Rejected) else str(error)
        _log.warning("nodes of %s are not handed in now: %s", self._wanted.name, message[:1_000])
