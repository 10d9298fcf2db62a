"""Objects of the cluster as people write and read them, and edits of such documents."""

from typing import Any

from headgate.kernel import instants
from headgate.kernel.objects import Object, OwnerReference
from headgate.workload.expand import manifests


def read(document: dict[str, Any]) -> Object:
    """An object as it is handed in: what a server fills in, and its status, are not taken over."""
    item = manifests.read(document)
    item.uid = ""
    item.owners = _owners(document["metadata"].get("ownerReferences"))
    return item


def _owners(value: object) -> tuple[OwnerReference, ...]:
    items = value if isinstance(value, list) else []
    return tuple(
        OwnerReference(str(item.get("kind", "")), str(item.get("name", "")), str(item.get("uid", "")))
        for item in items
        if isinstance(item, dict)
    )


def write(item: Object) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "name": item.name,
        "namespace": item.namespace,
        "uid": item.uid,
        "labels": item.labels,
        "annotations": item.annotations,
        "generation": item.generation,
        "resourceVersion": str(item.resource_version),
        "creationTimestamp": instants.show(item.created_at),
    }
    if item.finalizers:
        metadata["finalizers"] = list(item.finalizers)
    if item.owners:
        metadata["ownerReferences"] = [
            {"kind": owner.kind, "name": owner.name, "uid": owner.uid} for owner in item.owners
        ]
    if item.deleted_at is not None:
        metadata["deletionTimestamp"] = instants.show(item.deleted_at)
    return {
        "apiVersion": item.api_version,
        "kind": item.kind,
        "metadata": metadata,
        **item.other,
        "spec": item.spec,
        "status": item.status,
    }


def merged(target: Any, patch: Any) -> Any:
    """JSON merge patch: maps are merged, null removes a key, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result
