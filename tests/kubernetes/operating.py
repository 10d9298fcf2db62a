"""What the tests of the running operator share: its kinds, itself, small sets, and what the cluster says of them."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import NotFoundError
from headgate.kubernetes.resources import PODS, ApiResource, Document
from headgate.operator import crds
from headgate.operator.running.process import Operator, OperatorOptions
from headgate.workload import labels
from kube import ControlPlane

from .support import DEFINITIONS, running, until

SETS = ApiResource("grove.io", "v1alpha1", "PodCliqueSet", "podcliquesets")
CLIQUES = ApiResource("grove.io", "v1alpha1", "PodClique", "podcliques")
GROUPS = ApiResource("grove.io", "v1alpha1", "PodCliqueScalingGroup", "podcliquescalinggroups")
GANGS = ApiResource("scheduler.grove.io", "v1alpha1", "PodGang", "podgangs")
SERVICES = ApiResource("", "v1", "Service", "services")
EVENTS = ApiResource("", "v1", "Event", "events")
LEASE_SECONDS = 30
"""Nobody else is to lead, and a test that reads long in the same process must not cost the leadership."""


async def install(client: Client) -> None:
    """The kinds of the operator; several tests may do so at once."""
    for document in crds.documents():
        await client.apply(DEFINITIONS, document, manager="test", force=True)
    for document in crds.documents():
        name = document["metadata"]["name"]

        async def is_established(name: str = name) -> bool:
            found = (await client.get(DEFINITIONS, name)).get("status", {}).get("conditions") or ()
            return any(each["type"] == "Established" and each["status"] == "True" for each in found)

        await until(is_established)


@asynccontextmanager
async def operating(plane: ControlPlane, namespace: str) -> AsyncIterator[Operator]:
    """One process of the operator, for one namespace."""
    async with plane.client() as client, operating_through(client, namespace) as operator:
        yield operator


@asynccontextmanager
async def operating_through(
    client: Client, namespace: str, *, is_everywhere: bool = False
) -> AsyncIterator[Operator]:
    """The same, by a client of somebody else's. `is_everywhere` says that its own namespace is only where it leads."""
    options = OperatorOptions(
        lease_namespace=namespace,
        identity=f"operator-{uuid.uuid4()}",
        namespace="" if is_everywhere else namespace,
        lease_seconds=LEASE_SECONDS,
        health_port=0,
        health_host="127.0.0.1",
    )
    operator = Operator(client, options)
    async with running(operator.run()):
        yield operator


def clique(name: str, replicas: int, image: str, **options: Any) -> Document:
    """Its pods go at once when they are deleted, and say nothing of themselves but their image."""
    annotations = options.pop("annotations", {})
    strategy = options.pop("strategy", None)
    spec = {
        "roleName": name,
        "replicas": replicas,
        "minAvailable": options.pop("available", replicas),
        "podSpec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "main", "image": image}],
        },
        **options,
    }
    written: Document = {"name": name, "spec": spec, "annotations": annotations}
    return {**written, "updateStrategy": strategy} if strategy else written


def pod_set(
    name: str,
    namespace: str,
    replicas: int,
    cliques: list[Document],
    groups: list[Document] | None = None,
    strategy: Mapping[str, Any] | None = None,
    **template: Any,
) -> Document:
    spec: Document = {"replicas": replicas, "template": {"cliques": cliques, **template}}
    if groups:
        spec["template"]["podCliqueScalingGroups"] = groups
    if strategy:
        spec["updateStrategy"] = strategy
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


async def apply(client: Client, document: Document) -> Document:
    return await client.apply(SETS, document, manager="people", force=True)


async def is_updated(client: Client, name: str, namespace: str) -> bool:
    """Whether all of what the set wants is there, new and available."""
    found = await client.get(SETS, name, namespace)
    status, wanted = found.get("status", {}), found["spec"]["replicas"]
    return bool(
        status.get("observedGeneration") == found["metadata"]["generation"]
        and status.get("updatedReplicas") == wanted
        and status.get("availableReplicas") == wanted
        and "updatingReplicas" not in (status.get("rollingUpdateProgress") or {})
    )


async def pods_of(client: Client, name: str, namespace: str) -> list[Document]:
    page = await client.list(PODS, namespace, labels=f"{labels.PART_OF}={name}")
    return [pod for pod in page.items if "deletionTimestamp" not in pod["metadata"]]


def images(pods: list[Document]) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in pods}


async def is_gone(client: Client, resource: ApiResource, name: str, namespace: str) -> bool:
    try:
        await client.get(resource, name, namespace)
    except NotFoundError:
        return True
    return False
