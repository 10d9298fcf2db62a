"""What the tests on a real control plane share: small documents, and waiting for what others do."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import NotFoundError
from headgate.kubernetes.resources import ApiResource, Document

CONFIG_MAPS = ApiResource("", "v1", "ConfigMap", "configmaps")
DEPLOYMENTS = ApiResource("apps", "v1", "Deployment", "deployments")
BUDGETS = ApiResource("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets")
DEFINITIONS = ApiResource(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", is_namespaced=False
)


BUSY = 10
"""How much slower a machine may be that has other things to do: seconds of tests are those of one that has none."""
_SHORTEST_LOOK_SECONDS, _LONGEST_LOOK_SECONDS = 0.02, 0.2


def play(coroutine: Coroutine[Any, Any, None], seconds: float = 60) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(coroutine, seconds * BUSY)

    asyncio.run(bounded())


async def until(condition: Callable[[], Awaitable[object] | object], seconds: float = 30) -> None:
    """Looks less often the longer it takes: whoever is waited for may need the processor."""
    end = time.monotonic() + seconds * BUSY
    pause = _SHORTEST_LOOK_SECONDS
    while True:
        held = condition()
        if await held if isinstance(held, Awaitable) else held:
            return
        assert time.monotonic() < end, "it did not come true in time"
        await asyncio.sleep(pause)
        pause = min(pause * 1.2, _LONGEST_LOOK_SECONDS)


@asynccontextmanager
async def running(coroutine: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(coroutine)
    try:
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def config_map(name: str, namespace: str, **data: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def pod(name: str, namespace: str, **annotations: str) -> Document:
    named = {f"headgate.test/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": "web"}, "annotations": named},
        "spec": {"containers": [{"name": "main", "image": "none"}], "terminationGracePeriodSeconds": 0},
    }


def is_ready(document: Document) -> bool:
    conditions = document.get("status", {}).get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def definition(group: str) -> Document:
    """A kind Gate, with a schema, a status and a scale."""
    spec = {
        "type": "object",
        "required": ["host"],
        "properties": {
            "host": {"type": "string"},
            "replicas": {"type": "integer", "minimum": 0},
            "extra": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
    status = {
        "type": "object",
        "properties": {"observedGeneration": {"type": "integer"}, "replicas": {"type": "integer"}},
    }
    return {
        "metadata": {"name": f"gates.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "gates", "singular": "gate", "kind": "Gate", "shortNames": ["gt"]},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {
                        "status": {},
                        "scale": {
                            "specReplicasPath": ".spec.replicas",
                            "statusReplicasPath": ".status.replicas",
                        },
                    },
                    "schema": {
                        "openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}
                    },
                }
            ],
        },
    }


def gates(group: str) -> ApiResource:
    return ApiResource(group, "v1", "Gate", "gates")


def gate(name: str, namespace: str, group: str) -> Document:
    return {
        "apiVersion": f"{group}/v1",
        "kind": "Gate",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"host": "example.com"},
    }


@asynccontextmanager
async def defined(client: Client, group: str) -> AsyncIterator[ApiResource]:
    """The kind Gate of a group of one's own, when it is served. The server remembers nothing of it from before."""
    resource = gates(group)
    await client.create(DEFINITIONS, definition(group))

    async def is_served() -> bool:
        try:
            await client.list(resource)
        except NotFoundError:
            return False
        return True

    try:
        await until(is_served)
        yield resource
    finally:
        await client.delete(DEFINITIONS, f"gates.{group}")
