"""Nodes and what runs on them, for the tests of agents: each test has nodes of its own in the shared control plane."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec

import kube
from agents.support import Shelf, clock
from headgate.agents.clusters import Clusters
from headgate.agents.kubernetes_node import KubernetesNodeAgent
from headgate.agents.node_holds import NODES
from headgate.agents.port import Assignment, JobProgress, TryLaterError
from headgate.kubernetes import kubeconfig
from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import NotFoundError, UnreachableError
from headgate.kubernetes.resources import PODS, Document
from headgate.kubernetes.transport import ApiAnswer, ApiRequest, Transport

from .support import BUDGETS, DEPLOYMENTS, is_ready, until

OWN_NODES = "headgate.test/nodes"


class Lossy(Transport):
    """Writes are done, and the answers to the first of each kind and object are lost."""

    def __init__(self, access: ClusterAccess) -> None:
        super().__init__(access)
        self.lost: set[tuple[str, str]] = set()

    async def ask(self, request: ApiRequest) -> ApiAnswer:
        answer = await super().ask(request)
        key = (request.method, request.path)
        if request.is_read or key in self.lost:
            return answer
        self.lost.add(key)
        raise UnreachableError("the answer is lost")


async def lossy_clusters(plane: kube.ControlPlane) -> tuple[Clusters, Lossy]:
    clusters = clusters_of(plane)
    cluster = await clusters.named(None)
    await cluster.client.close()
    transport = Lossy(cluster.client.transport.access)
    cluster.client = Client(transport)
    return clusters, transport


def clusters_of(plane: kube.ControlPlane, allowed: tuple[str, ...] | None = None) -> Clusters:
    return Clusters(allowed, lambda context: kubeconfig.load(path=str(plane.kubeconfig), context=context))


class Farm:
    """Nodes that only pods of this farm are scheduled on, in a namespace of their own."""

    def __init__(self, client: Client, namespace: str, plane: kube.ControlPlane) -> None:
        self.client = client
        self.namespace = namespace
        self.agent = KubernetesNodeAgent(clusters_of(plane), clock)
        self.nodes: list[str] = []
        self.shelf = Shelf()
        self.of_cluster: str | None = None
        """What discovery said of the resources."""

    async def add_nodes(self, count: int) -> None:
        """Ready ones: a node that is not would not be given pods."""
        fresh = [f"{self.namespace}-{number}" for number in range(len(self.nodes), len(self.nodes) + count)]
        self.nodes += fresh
        await self._create(fresh)

    async def add_nodes_again(self) -> None:
        """Others of the same names."""
        await self._create(self.nodes)

    async def _create(self, names: list[str]) -> None:
        for name in names:
            size = {"cpu": "32", "memory": "256Gi", "pods": "110"}
            await self.client.create(
                NODES,
                {
                    "metadata": {"name": name, "labels": {OWN_NODES: self.namespace}},
                    "status": {"capacity": size, "allocatable": size},
                },
            )
        await until(self._are_usable)

    async def _are_usable(self) -> bool:
        found = await self.client.list(NODES, labels=f"{OWN_NODES}={self.namespace}")
        return all(is_ready(node) and not node["spec"].get("taints") for node in found.items)

    async def node(self, index: int = 0) -> Document:
        return await self.client.get(NODES, self.nodes[index])

    async def is_cordoned(self, index: int = 0) -> bool:
        return bool((await self.node(index))["spec"].get("unschedulable"))

    async def patch_node(self, patch: Document, index: int = 0) -> None:
        await self.client.patch(NODES, self.nodes[index], "", patch)

    def pod(self, name: str, **spec: Any) -> Document:
        """On the first node, whatever the scheduler thinks of that."""
        return {
            "metadata": {"name": name, "namespace": self.namespace, "labels": {"app": name}},
            "spec": {
                "nodeName": self.nodes[0],
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "main", "image": "none"}],
                **spec,
            },
        }

    async def add_pod(self, name: str, **spec: Any) -> None:
        await self.client.create(PODS, self.pod(name, **spec))
        await until(lambda: self._is_ready(name))

    async def _is_ready(self, name: str) -> bool:
        return is_ready(await self.client.get(PODS, name, self.namespace))

    async def deploy(
        self, name: str, replicas: int, *, budget: Mapping[str, Any] | None = None, **spec: Any
    ) -> None:
        """Spread over the nodes of the farm, with a disruption budget if one is given."""
        labels = {"app": name}
        template = {
            "metadata": {"labels": labels},
            "spec": {
                "nodeSelector": {OWN_NODES: self.namespace},
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "main", "image": "none"}],
                **spec,
            },
        }
        await self.client.create(
            DEPLOYMENTS,
            {
                "metadata": {"name": name, "namespace": self.namespace},
                "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
            },
        )
        if budget is not None:
            await self.client.create(
                BUDGETS,
                {
                    "metadata": {"name": name, "namespace": self.namespace},
                    "spec": {"selector": {"matchLabels": labels}, **budget},
                },
            )

        async def runs() -> bool:
            deployment = await self.client.get(DEPLOYMENTS, name, self.namespace)
            is_complete = deployment.get("status", {}).get("readyReplicas") == replicas
            return is_complete and (budget is None or await self._is_watched(name, replicas))

        await until(runs)

    async def _is_watched(self, name: str, replicas: int) -> bool:
        budget = await self.client.get(BUDGETS, name, self.namespace)
        return bool(budget.get("status", {}).get("currentHealthy") == replicas)

    async def pods_on(self, index: int = 0) -> list[str]:
        found = await self.client.list(PODS, self.namespace, fields=f"spec.nodeName={self.nodes[index]}")
        return sorted(pod["metadata"]["name"] for pod in found.items)

    def assignment(
        self,
        verb: str = "drain",
        *,
        job: str = "job-1",
        group: str | None = "group-1",
        index: int = 0,
        **config: Any,
    ) -> Assignment:
        """As after a restart. Jobs other than the first have no kept state."""
        shelf = self.shelf if job == "job-1" else Shelf()
        given = shelf.assignment({"verb": verb, **config}, job)
        facts = msgspec.structs.replace(
            given.job,
            resource=self.nodes[index],
            group=group,
            deployment=f"node-{verb}",
        )
        document = msgspec.structs.replace(given.document, job=facts, resource=self._resource(index))
        return Assignment(given.workspace, document, state=shelf.state, keep=shelf.keep)

    def _resource(self, index: int) -> Document:
        config = {"clusterUid": self.of_cluster} if self.of_cluster else {}
        return {"name": self.nodes[index], "config": config}

    async def look(self, verb: str = "drain", **given: Any) -> JobProgress:
        return await self.agent.start(self.assignment(verb, **given))

    async def drained(self, **given: Any) -> JobProgress:
        """Looks until it has ended, however often the cluster does not answer."""
        ended: list[JobProgress] = []

        async def has_ended() -> bool:
            try:
                progress = await self.look(**given)
            except TryLaterError:
                return False
            if progress.has_ended:
                ended.append(progress)
            return bool(ended)

        await until(has_ended)
        return ended[0]


@asynccontextmanager
async def farm(plane: kube.ControlPlane, namespace: str, nodes: int = 2) -> AsyncIterator[Farm]:
    async with plane.client() as client:
        found = Farm(client, namespace, plane)
        try:
            await found.add_nodes(nodes)
            yield found
        finally:
            await found.agent.close()
            for name in found.nodes:
                try:
                    await client.delete(NODES, name)
                except NotFoundError:
                    continue
