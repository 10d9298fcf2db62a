"""Documents of an API server as the objects that controllers see."""

from __future__ import annotations

import functools
from typing import Any

from headgate.kernel import instants
from headgate.kernel.objects import Object, OwnerReference
from headgate.kubernetes.errors import NonsenseError
from headgate.kubernetes.resources import ApiResource, Document

_moment = functools.lru_cache(4_096)(instants.parse)
"""The same object is read again with each of its changes."""
_OWN_PLACES = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})


def read(document: Document, resource: ApiResource) -> Object:
    """Managed fields are left out: they are as large as the rest, and nobody plans by them. Raises NonsenseError."""
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        raise NonsenseError(f"a {resource.kind} without metadata")
    try:
        deleted = metadata.get("deletionTimestamp")
        return Object(
            api_version=resource.api_version,
            kind=resource.kind,
            namespace=metadata.get("namespace") or "",
            name=metadata["name"],
            uid=metadata["uid"],
            labels=metadata.get("labels") or {},
            annotations=metadata.get("annotations") or {},
            owners=tuple(
                OwnerReference(owner["kind"], owner["name"], owner["uid"])
                for owner in metadata.get("ownerReferences") or ()
            ),
            finalizers=tuple(metadata.get("finalizers") or ()),
            generation=metadata.get("generation") or 1,
            resource_version=version_of(metadata["resourceVersion"]),
            created_at=_moment(metadata["creationTimestamp"]),
            deleted_at=_moment(deleted) if deleted else None,
            spec=document.get("spec") or {},
            status=document.get("status") or {},
            other={key: value for key, value in document.items() if key not in _OWN_PLACES},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise NonsenseError(
            f"a {resource.kind} whose metadata cannot be read: {type(error).__name__} {error}"
        ) from None


def version_of(written: Any) -> int:
    """Versions of one kind can be compared, as Kubernetes promises since 1.35 and etcd always did. Raises ValueError."""
    if not isinstance(written, str) or not (written.isascii() and written.isdigit()):
        raise ValueError(f"the resourceVersion {written!r} is not a number")
    return int(written)
