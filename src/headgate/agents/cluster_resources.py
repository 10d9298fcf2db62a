"""Nodes of a cluster, and the cluster itself, as resources of a fleet."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from typing import Any

import msgspec

from headgate.agents.node_holds import NODES
from headgate.kernel.backoffs import Backoff
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import (
    ApiError,
    ForbiddenError,
    GoneError,
    InvalidError,
    UnauthorizedError,
)
from headgate.kubernetes.resources import NAMESPACES, Document

NODE = "KubernetesNode"
CLUSTER = "KubernetesCluster"
_FACTS = {
    "kubeletVersion": "kubernetes/kubelet",
    "containerRuntimeVersion": "kubernetes/runtime",
    "kernelVersion": "kubernetes/kernel",
    "osImage": "kubernetes/os",
}
"""What a node says of itself, by the key of the metadata that has it."""

Nodes = dict[str, Document]
Resource = dict[str, Any]
Sleep = Callable[[float], Awaitable[None]]


class ClusterFacts(msgspec.Struct, frozen=True):
    """`name` is for people and selectors, `uid` tells it from all others; names of its resources begin with `prefix`."""

    name: str
    uid: str
    version: str = ""
    prefix: str = ""


async def facts_of(client: Client, name: str, prefix: str) -> ClusterFacts:
    namespace = await client.get(NAMESPACES, "kube-system")
    version = await client.ask("GET", "/version")
    return ClusterFacts(name, str(namespace["metadata"]["uid"]), str(version.get("gitVersion") or ""), prefix)


def of_nodes(nodes: Iterable[Document], cluster: ClusterFacts) -> list[Resource]:
    return sorted((_of_node(node, cluster) for node in nodes), key=lambda node: str(node["name"]))


def of_cluster(cluster: ClusterFacts) -> Resource:
    return {
        "name": f"{cluster.prefix}{cluster.name}",
        "kind": CLUSTER,
        "identifier": f"{cluster.uid}/cluster",
        "metadata": {"cluster": cluster.name, "kubernetes/version": cluster.version},
        "config": {"clusterUid": cluster.uid},
    }


def _of_node(node: Document, cluster: ClusterFacts) -> Resource:
    """Labels are its metadata. What changes by itself all the time, such as conditions, is not part of it."""
    name = str(node["metadata"]["name"])
    info: Mapping[str, Any] = (node.get("status") or {}).get("nodeInfo") or {}
    facts = {key: str(info[field]) for field, key in _FACTS.items() if info.get(field)}
    labels = node["metadata"].get("labels") or {}
    return {
        "name": f"{cluster.prefix}{name}",
        "kind": NODE,
        "identifier": f"{cluster.uid}/node/{name}",
        "metadata": {**labels, **facts, "cluster": cluster.name},
        "config": {"node": name, "clusterUid": cluster.uid},
    }


async def nodes_of(client: Client, labels: str = "") -> Nodes:
    return (await _listed(client, labels))[0]


async def following(
    client: Client,
    labels: str = "",
    *,
    noticed: Callable[[ApiError], None] = lambda error: None,
    sleep: Sleep = asyncio.sleep,
) -> AsyncGenerator[Nodes, None]:
    """All nodes, at once and after each change, without end. A cluster that cannot be asked is asked again; meanwhile
    nothing is said of it, least of all that it has no nodes. Raises ApiError for what it refuses from the beginning."""
    backoff = Backoff(first_seconds=0.5, most_seconds=30.0, chance=random.random)
    failures, is_first = 0, True
    while True:
        try:
            nodes, version = await _listed(client, labels)
            failures, is_first = 0, False
            yield nodes
            async for event in client.watch(NODES, resource_version=version, labels=labels):
                if event.kind == "bookmark":
                    continue
                name = str(event.document["metadata"]["name"])
                if event.kind == "deleted":
                    nodes.pop(name, None)
                else:
                    nodes[name] = event.document
                yield nodes
        except GoneError:
            continue
        except ApiError as error:
            if is_first and isinstance(error, UnauthorizedError | ForbiddenError | InvalidError):
                raise
            failures += 1
            noticed(error)
            await sleep(backoff.seconds(failures))


async def _listed(client: Client, labels: str) -> tuple[Nodes, str]:
    page = await client.list(NODES, labels=labels)
    return {str(node["metadata"]["name"]): node for node in page.items}, page.resource_version
