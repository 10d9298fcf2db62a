"""What people order of an object, as an edit of it."""

from __future__ import annotations

from collections.abc import Callable

from headgate.kernel.objects import Object
from headgate.kubernetes import objects
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ConflictError
from headgate.kubernetes.resources import ApiResource, Document
from headgate.operator.running import translation

MANAGER = "headgate-cli"
MOST_TRIES = 10
"""A controller may write its status meanwhile, which changes nothing that was ordered."""


async def order(
    client: Client,
    resource: ApiResource,
    item: Object,
    edit: Callable[[Object], Object],
    manager: str = MANAGER,
) -> bool:
    """Whether anything had to be written. It is about `item` as it was looked at: raises ConflictError if somebody
    changed what it asks for, or if another has its name now."""
    current = item
    for _ in range(MOST_TRIES):
        patch = translation.difference(_document(current), _document(edit(current)))
        if not patch:
            return False
        precondition = {"uid": current.uid, "resourceVersion": str(current.resource_version)}
        patch["metadata"] = {**patch.get("metadata", {}), **precondition}
        try:
            await client.patch(resource, item.name, item.namespace, patch, manager=manager)
        except ConflictError:
            current = objects.read(await client.get(resource, item.name, item.namespace), resource)
            if (current.uid, current.generation) != (item.uid, item.generation):
                break
        else:
            return True
    raise ConflictError(
        f"{item.kind} {item.name} has changed since it was looked at; nothing was ordered: look again",
        status=409,
        reason="Conflict",
    )


def _document(item: Object) -> Document:
    return translation.document(item, lambda owner, namespace: None)
