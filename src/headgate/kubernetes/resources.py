"""Kinds as an API server serves them: where their objects are found, and what can be done with them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec

Document = dict[str, Any]
"""A JSON document, as it is sent and received."""


class ApiResource(msgspec.Struct, frozen=True):
    """`plural` is its name in paths. `verbs` and `subresources` are what discovery said; empty where nobody asked it."""

    group: str
    version: str
    kind: str
    plural: str
    is_namespaced: bool = True
    verbs: frozenset[str] = frozenset()
    subresources: frozenset[str] = frozenset()
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Of all objects, of those in a namespace, of one object, or of a part of it."""
        base = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        if namespace and self.is_namespaced:
            base += f"/namespaces/{segment(namespace)}"
        base += f"/{self.plural}"
        if name:
            if self.is_namespaced and not namespace:
                raise ValueError(f"{self.kind} {name} is in a namespace, and none was given")
            base += f"/{segment(name)}"
        return f"{base}/{subresource}" if subresource else base


def segment(name: str) -> str:
    """A name as one segment of a path, and never a step to another place."""
    if name in (".", ".."):
        raise ValueError(f'"{name}" is not the name of an object')
    return quote(name, safe="")


NAMESPACES = ApiResource("", "v1", "Namespace", "namespaces", is_namespaced=False)
PODS = ApiResource("", "v1", "Pod", "pods")
LEASES = ApiResource("coordination.k8s.io", "v1", "Lease", "leases")
