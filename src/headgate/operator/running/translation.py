"""Between objects as the planners see them and documents as an API server takes them.

A planner says how a whole object is to be. What is sent of that is only what the planner changed, added to what this
operator applied before: fields that the server filled in, or that others added, are neither sent nor taken away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headgate.kernel.objects import Object, OwnerReference
from headgate.kubernetes import managed_fields
from headgate.kubernetes.managed_fields import Fields
from headgate.kubernetes.resources import Document

ABSENT_VERSION = "1"
"""The version of no object of a kind that can be made: to apply with it makes an object, and never changes one."""

OwnerVersion = Callable[[OwnerReference, str], str | None]
"""The apiVersion of an owner, for one who lives in the namespace."""


def document(item: Object, owner_version: OwnerVersion) -> Document:
    """All that a writer may say of an object: neither its status nor what the server counts. Owners whose kind is not
    known are left out: they are others' business."""
    metadata: Document = {"name": item.name}
    if item.namespace:
        metadata["namespace"] = item.namespace
    if item.labels:
        metadata["labels"] = dict(item.labels)
    if item.annotations:
        metadata["annotations"] = dict(item.annotations)
    if item.finalizers:
        metadata["finalizers"] = list(item.finalizers)
    owners = [
        _owner(owner, item.namespace, index == 0, owner_version) for index, owner in enumerate(item.owners)
    ]
    if any(owners):
        metadata["ownerReferences"] = [owner for owner in owners if owner]
    written: Document = {
        "apiVersion": item.api_version,
        "kind": item.kind,
        "metadata": metadata,
        **item.other,
    }
    if item.spec:
        written["spec"] = item.spec
    return written


def _owner(
    owner: OwnerReference, namespace: str, is_controller: bool, owner_version: OwnerVersion
) -> Document:
    """The first one is the object's controller, so that a drain or another controller knows whose it is."""
    version = owner_version(owner, namespace)
    if version is None:
        return {}
    reference: Document = {"apiVersion": version, "kind": owner.kind, "name": owner.name, "uid": owner.uid}
    return {**reference, "controller": True, "blockOwnerDeletion": True} if is_controller else reference


def difference(seen: Any, wanted: Any) -> Any:
    """The JSON merge patch from one to the other. Empty if they are the same."""
    patch: Document = {}
    for key in dict.fromkeys((*seen, *wanted)):
        if key not in wanted:
            patch[key] = None
            continue
        value, before = wanted[key], seen.get(key)
        if key in seen and _is_same(before, value):
            continue
        if isinstance(value, dict) and isinstance(before, dict):
            patch[key] = difference(before, value)
        else:
            patch[key] = value
    return patch


def _is_same(before: Any, value: Any) -> bool:
    return bool(before == value) and isinstance(before, bool) == isinstance(value, bool)


def applied_anew(seen: Document, fields: Fields, patch: Document) -> Document:
    """What is applied so that the patch takes effect: what was applied before, as it stands in the object, and the
    patch on top. What is not repeated here is given up, and goes if nobody else holds it."""
    held = managed_fields.extracted(seen, fields) if fields else {}
    return _patched(held, patch)


def _patched(target: Document, patch: Document) -> Document:
    result = dict(target)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            before = result.get(key)
            result[key] = _patched(before if isinstance(before, dict) else {}, value)
        else:
            result[key] = value
    return result
