"""Clusters that a workspace's job agents are connected to, and the sets and graphs that they hold.

Each is asked by the access of those agents, within a few seconds; one that does not answer takes nothing from what the
others say. What a job of the workspace applied is shown to whoever may read; what somebody brought to the cluster
otherwise, to those who may act on targets; what another workspace's jobs applied, to nobody here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeVar

import msgspec

from headgate.agents import job_marks
from headgate.agents.clusters import Clusters, ReachedCluster
from headgate.fleet.model import objects as model
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.kernel.problems import Rejected
from headgate.kubernetes import objects
from headgate.kubernetes.discovery import UnknownKindError
from headgate.kubernetes.errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    UnauthorizedError,
)
from headgate.kubernetes.resources import ApiResource
from headgate.operator.crds import graphs as graph_kinds
from headgate.operator.crds import workloads as workload_kinds
from headgate.operator.observation import graphs, listing, one_object, orders
from headgate.operator.observation.one_object import SeenObject

LIST_SECONDS = 5.0
POLL_SECONDS = 20.0
MOST_AT_ONCE = 8
MOST_LISTED = 5_000
"""Of one kind in one cluster: what comes after is not asked for."""
MANAGER = "headgate-service"
AGENT_TYPES = frozenset({"graph", "workload"})
CLUSTER_WIDE = "-"
"""In the place of a namespace; no namespace is called so."""
_log = logging.getLogger("headgate.clusters")
Result = TypeVar("Result")


class ClusterConnection(msgspec.Struct, frozen=True):
    """One cluster, by the name that is shown, and the agents that are connected to it."""

    name: str
    context: str | None
    job_agents: tuple[str, ...]


class HeldObject(msgspec.Struct, frozen=True):
    cluster: str
    resource: ApiResource
    item: Object

    @property
    def workspace(self) -> str | None:
        return self.item.annotations.get(job_marks.WORKSPACE)

    @property
    def target(self) -> str | None:
        return self.item.annotations.get(job_marks.TARGET)

    @property
    def version(self) -> str | None:
        return self.item.annotations.get(job_marks.VERSION)


class Answered(msgspec.Struct, frozen=True):
    """What one cluster said; `message` is why it said nothing, or not all."""

    connection: ClusterConnection
    items: tuple[HeldObject, ...] = ()
    message: str = ""
    uid: str | None = None


class SilentClusterError(Exception):
    """A cluster that was asked for one object does not give it; `detail` is what it said, for those who may see it."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail


class Viewer(msgspec.Struct, frozen=True):
    """On whose behalf a cluster is asked."""

    workspace: str
    sees_all: bool

    def sees(self, held: HeldObject) -> bool:
        owner = held.workspace
        return owner == self.workspace or (owner is None and self.sees_all)


List = Callable[[ReachedCluster, ClusterConnection], Awaitable[tuple[list[HeldObject], str]]]


class ConnectedClusters:
    def __init__(
        self, clusters: Clusters, clock: Callable[[], Instant], list_seconds: float = LIST_SECONDS
    ) -> None:
        self._clusters = clusters
        self._clock = clock
        self._list_seconds = list_seconds
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)

    async def close(self) -> None:
        await self._clusters.close()

    def connections(self, agents: Mapping[str, model.JobAgent]) -> list[ClusterConnection]:
        """Named ones first, so that a cluster that is reached in two ways is shown by its name."""
        agents_by_context: dict[str | None, list[str]] = {}
        for name, agent in agents.items():
            context = agent.config.get("kubeContext")
            if agent.type in AGENT_TYPES and isinstance(context, str | None):
                agents_by_context.setdefault(context, []).append(name)
        return [
            ClusterConnection(self._clusters.name_of(context), context, tuple(sorted(names)))
            for context, names in sorted(
                agents_by_context.items(), key=lambda each: (each[0] is None, each[0] or "")
            )
        ]

    async def sets(self, connections: Iterable[ClusterConnection]) -> list[Answered]:
        return await self._ask_all(connections, _sets)

    async def graphs(self, connections: Iterable[ClusterConnection]) -> list[Answered]:
        """Definitions, each with its instances behind it."""
        return await self._ask_all(connections, _graphs)

    async def reached(self, connections: Iterable[ClusterConnection]) -> list[Answered]:
        """Each with what is wrong with it, if anything is; also one that is reached in two ways."""
        return list(await asyncio.gather(*(self._listed(each, _kinds) for each in connections)))

    async def instances_of(self, connection: ClusterConnection, definition: HeldObject) -> list[HeldObject]:
        async def work(cluster: ReachedCluster) -> list[HeldObject]:
            return (await _instances(cluster, connection, definition.item))[0]

        return await self._asked(connection, POLL_SECONDS, work)

    async def find(
        self, connection: ClusterConnection, resource: str, namespace: str, name: str
    ) -> HeldObject | None:
        """`resource` is a plural with its group. Raises SilentClusterError."""

        async def work(cluster: ReachedCluster) -> HeldObject | None:
            try:
                api_resource = await cluster.discovery.named(resource)
                document = await cluster.client.get(api_resource, name, namespace)
            except (UnknownKindError, NotFoundError, ValueError):
                return None
            return HeldObject(connection.name, api_resource, objects.read(document, api_resource))

        return await self._asked(connection, self._list_seconds, work)

    async def explain(
        self, connection: ClusterConnection, held: HeldObject, viewer: Viewer
    ) -> SeenObject | None:
        """None if it is on its way out, or no kind of a graph. What the viewer does not see is not told of a definition
        either. Raises SilentClusterError."""

        def shows(item: Object) -> bool:
            return viewer.sees(HeldObject(held.cluster, held.resource, item))

        async def work(cluster: ReachedCluster) -> SeenObject | None:
            return await one_object.observe_read(
                cluster.client, cluster.discovery, held.resource, held.item, self._clock(), shows
            )

        return await self._asked(connection, POLL_SECONDS, work)

    async def order(
        self, connection: ClusterConnection, held: HeldObject, edit: Callable[[Object], Object]
    ) -> bool:
        """Whether anything had to be written. Raises SilentClusterError, ConflictError if it has changed since it was
        looked at, and InvalidError for what the cluster does not accept."""

        async def work(cluster: ReachedCluster) -> bool:
            return await orders.order(cluster.client, held.resource, held.item, edit, MANAGER)

        return await self._asked(connection, self._list_seconds, work)

    async def _ask_all(self, connections: Iterable[ClusterConnection], work: List) -> list[Answered]:
        answers = await asyncio.gather(*(self._listed(each, work) for each in connections))
        seen: set[str] = set()
        kept: list[Answered] = []
        for answer in answers:
            if answer.uid is None or answer.uid not in seen:
                kept.append(answer)
                seen |= set() if answer.uid is None else {answer.uid}
        return kept

    async def _listed(self, connection: ClusterConnection, work: List) -> Answered:
        async def asked(cluster: ReachedCluster) -> Answered:
            uid = await _uid(cluster)
            items, message = await work(cluster, connection)
            return Answered(connection, tuple(items), message, uid)

        try:
            return await self._asked(connection, self._list_seconds, asked)
        except SilentClusterError as error:
            return Answered(connection, message=error.message)

    async def _asked(
        self,
        connection: ClusterConnection,
        seconds: float,
        work: Callable[[ReachedCluster], Awaitable[Result]],
    ) -> Result:
        try:
            async with asyncio.timeout(seconds), self._turns:
                return await work(await self._clusters.named(connection.context))
        except TimeoutError:
            raise SilentClusterError(f"the cluster does not answer within {seconds:g} seconds") from None
        except Rejected:
            raise SilentClusterError("this server may not ask the cluster, or does not know it") from None
        except (ForbiddenError, UnauthorizedError) as error:
            _log.info("the cluster %s refuses: %s", connection.name, error.message)
            message = "the cluster does not allow this to the access of its job agents"
            raise SilentClusterError(message, error.message) from None
        except (ConflictError, InvalidError):
            raise
        except UnknownKindError:
            raise SilentClusterError("the operator's kinds are not installed in the cluster") from None
        except ApiError as error:
            _log.info("the cluster %s cannot be asked: %s", connection.name, error.message)
            raise SilentClusterError("the cluster cannot be asked now", error.message) from None


async def _uid(cluster: ReachedCluster) -> str | None:
    """None where it is not allowed to be known: then it is taken for a cluster of its own."""
    try:
        return await cluster.uid()
    except (ForbiddenError, NotFoundError):
        return None


async def _kinds(cluster: ReachedCluster, connection: ClusterConnection) -> tuple[list[HeldObject], str]:
    for kind in (workload_kinds.SET, graph_kinds.DEFINITION):
        await listing.own_kind(cluster.discovery, kind.api_version, kind.kind)
    return [], ""


async def _sets(cluster: ReachedCluster, connection: ClusterConnection) -> tuple[list[HeldObject], str]:
    kind = workload_kinds.SET
    resource = await listing.own_kind(cluster.discovery, kind.api_version, kind.kind)
    return await _some_of(cluster, connection, resource)


async def _graphs(cluster: ReachedCluster, connection: ClusterConnection) -> tuple[list[HeldObject], str]:
    kind = graph_kinds.DEFINITION
    resource = await listing.own_kind(cluster.discovery, kind.api_version, kind.kind)
    definitions, message = await _some_of(cluster, connection, resource)
    items: list[HeldObject] = []
    for definition in definitions:
        items.append(definition)
        if len(items) < MOST_LISTED:
            instances, more = await _instances(cluster, connection, definition.item)
            items += instances
            message = message or more
    return items, message


async def _instances(
    cluster: ReachedCluster, connection: ClusterConnection, definition: Object
) -> tuple[list[HeldObject], str]:
    """None of a kind that is not served, or that the agents may not list."""
    try:
        resource = await graphs.resource_of(cluster.discovery, definition)
        return await _some_of(cluster, connection, resource)
    except UnknownKindError:
        return [], ""
    except ForbiddenError:
        return [], f"the access of its job agents does not allow to list instances of {definition.name}"


async def _some_of(
    cluster: ReachedCluster, connection: ClusterConnection, resource: ApiResource
) -> tuple[list[HeldObject], str]:
    items, is_whole = await listing.first_of(cluster.client, resource, MOST_LISTED)
    message = "" if is_whole else f"only the first {MOST_LISTED:,} {resource.plural} are listed"
    return [HeldObject(connection.name, resource, item) for item in items], message
