"""Objects of a cluster as the levels see them, and what the levels want done to them.

One vocabulary for graphs, workloads, the simulated and the real cluster. Everything here is plain data.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import msgspec

from headgate.kernel.instants import Instant


class Key(NamedTuple):
    """What names a live object; `group` is the API group without its version."""

    group: str
    kind: str
    namespace: str
    name: str


class OwnerReference(msgspec.Struct, frozen=True):
    kind: str
    name: str
    uid: str


class Object(msgspec.Struct, eq=False, gc=False):
    """One object. `generation` moves with the spec, `resource_version` with everything. It is a tree, never a ring, so
    the garbage collector need not walk the tens of thousands of them.

    `spec` holds every top-level field of the document that is not metadata or status for kinds without a spec
    (a ConfigMap's data, for one) under its own name in `other`.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owners: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    generation: int = 1
    resource_version: int = 0
    created_at: Instant = 0
    deleted_at: Instant | None = None
    """Set while the object is on its way out: terminating, or waiting for finalizers."""
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}
    other: dict[str, Any] = {}

    @property
    def group(self) -> str:
        return group_of(self.api_version)

    @property
    def key(self) -> Key:
        # Asked for by every index of every look: the tuple is made without the checks of its own constructor.
        return tuple.__new__(Key, (group_of(self.api_version), self.kind, self.namespace, self.name))


@functools.lru_cache(maxsize=1024)
def group_of(api_version: str) -> str:
    """The API group without its version; the core group has no name."""
    group, slash, _ = api_version.partition("/")
    return group if slash else ""


class Create(msgspec.Struct, frozen=True):
    """Fails if an object of that key is still there, terminating ones included."""

    object: Object


class DeleteObject(msgspec.Struct, frozen=True):
    """With the uid that was seen, so that a later incarnation is never hit. With `resource_version` it is refused if the
    object has moved past that, too: what goes because of its state must still be in it."""

    key: Key
    uid: str
    reason: str = ""
    resource_version: int | None = None


class Update(msgspec.Struct, frozen=True):
    """Writes the whole object as given; refused if it has moved past `resource_version`."""

    object: Object


class UpdateStatus(msgspec.Struct, frozen=True):
    key: Key
    uid: str
    status: dict[str, Any]


Action = Create | DeleteObject | Update | UpdateStatus
