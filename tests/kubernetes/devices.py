"""Devices for tests of sets that share some: a class of them, and as many as are wanted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from headgate.kubernetes.client import Client
from headgate.kubernetes.resources import ApiResource, Document

GROUP = "resource.k8s.io"
CLAIMS = ApiResource(GROUP, "v1", "ResourceClaim", "resourceclaims")
TEMPLATES = ApiResource(GROUP, "v1", "ResourceClaimTemplate", "resourceclaimtemplates")
CLASSES = ApiResource(GROUP, "v1", "DeviceClass", "deviceclasses", is_namespaced=False)
SLICES = ApiResource(GROUP, "v1", "ResourceSlice", "resourceslices", is_namespaced=False)


def asked_for(namespace: str) -> Document:
    """The template of a claim for one of the devices."""
    exactly = {"deviceClassName": f"{namespace}.example.com"}
    return {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}}


@asynccontextmanager
async def devices(client: Client, namespace: str, count: int) -> AsyncIterator[None]:
    """So many for the test of a namespace."""
    async with of_class(client, f"{namespace}.example.com", count):
        yield


@asynccontextmanager
async def of_class(client: Client, driver: str, count: int) -> AsyncIterator[None]:
    """Within reach of every node, and in a class of the driver's name."""
    device_class = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "DeviceClass",
        "metadata": {"name": driver},
        "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{driver}'"}}]},
    }
    listed = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": driver},
        "spec": {
            "driver": driver,
            "pool": {"name": driver, "generation": 1, "resourceSliceCount": 1},
            "allNodes": True,
            "devices": [{"name": f"gpu-{index}"} for index in range(count)],
        },
    }
    await client.create(CLASSES, device_class)
    await client.create(SLICES, listed)
    try:
        yield
    finally:
        await client.delete(SLICES, driver)
        await client.delete(CLASSES, driver)
