"""The objects of a kind as a controller would know them, listed once."""

from __future__ import annotations

from headgate.kernel.objects import Object
from headgate.kubernetes import objects
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery, UnknownKindError
from headgate.kubernetes.resources import ApiResource


async def own_kind(discovery: Discovery, api_version: str, kind: str) -> ApiResource:
    """A kind of the operator's. Raises UnknownKindError, which says how it is installed."""
    try:
        return await discovery.find(api_version, kind)
    except UnknownKindError as error:
        raise UnknownKindError(
            f"{error.message}; `headgate operator manifests` prints what has to be installed",
            reason=error.reason,
        ) from None


async def all_of(
    client: Client, resource: ApiResource, namespace: str = "", labels: str = ""
) -> list[Object]:
    """Of all namespaces, if none is given."""
    page = await client.list(resource, namespace if resource.is_namespaced else "", labels=labels)
    return [objects.read(document, resource) for document in page.items]


async def first_of(client: Client, resource: ApiResource, most: int) -> tuple[list[Object], bool]:
    """Of all namespaces, and whether these are all."""
    first: list[Object] = []
    async for page in client.pages(resource):
        first += [objects.read(document, resource) for document in page.items]
        if len(first) >= most:
            return first[:most], len(first) == most and not page.next
    return first, True
