"""The objects of the simulated cluster, with the rules of an API server: versions, generations, graceful deletion.

An object in the store is never changed in place: every write puts a new one there, so that whoever holds the old one
still sees what was. Listeners are told of every write in its order.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from headgate.cluster.port import Conflict, Listener, NameTaken, ObjectChange
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.workload.plan.observed import ENDED

replace = msgspec.structs.replace


class ObjectStore:
    def __init__(self, ids: IdSource) -> None:
        self._ids = ids
        self._objects: dict[Key, Object] = {}
        self._dependents: dict[str, dict[Key, None]] = {}
        self._uids: set[str] = set()
        self._live_uids: set[str] = set()
        self._version = 0
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def get(self, key: Key) -> Object | None:
        return self._objects.get(key)

    def __iter__(self) -> Iterator[Object]:
        return iter(self._objects.values())

    def __len__(self) -> int:
        return len(self._objects)

    def is_live(self, uid: str) -> bool:
        return uid in self._live_uids

    def dependents(self, uid: str) -> tuple[Key, ...]:
        return tuple(self._dependents.get(uid, ()))

    def create(self, item: Object, now: Instant, by: str) -> Object:
        key = item.key
        if key in self._objects:
            raise NameTaken(f"{key.kind} {key.name} is still there")
        self._version += 1
        uid = item.uid or self._ids.new(key.kind, f"{key.namespace}/{key.name}#{self._version}")
        if uid in self._uids:
            raise Conflict(f"the uid of {key.kind} {key.name} belonged to an earlier object")
        created = replace(
            item, uid=uid, generation=1, resource_version=self._version, created_at=now, deleted_at=None
        )
        self._objects[key] = created
        self._uids.add(uid)
        self._live_uids.add(uid)
        for owner in created.owners:
            self._dependents.setdefault(owner.uid, {})[key] = None
        self._tell(ObjectChange("added", created, None, now, by))
        return created

    def update(self, item: Object, now: Instant, by: str) -> Object:
        """All but the status. Refused if the object has moved past the version that the writer had seen."""
        key = item.key
        old = self._at(key, item.uid)
        if old.resource_version != item.resource_version:
            raise Conflict(f"{key.kind} {key.name} has moved on")
        is_changed = item.spec != old.spec or item.other != old.other
        new = replace(
            item,
            status=old.status,
            generation=old.generation + is_changed,
            created_at=old.created_at,
            deleted_at=old.deleted_at,
        )
        for owner in {*old.owners, *new.owners}:
            if owner in new.owners:
                self._dependents.setdefault(owner.uid, {})[key] = None
            else:
                self._dependents[owner.uid].pop(key, None)
        return self._put(old, new, now, by)

    def update_status(self, key: Key, uid: str, status: dict[str, Any], now: Instant, by: str) -> Object:
        old = self._at(key, uid)
        return old if old.status == status else self._put(old, replace(old, status=status), now, by)

    def bind(self, key: Key, uid: str, node: str, status: dict[str, Any], now: Instant) -> Object:
        """Binding is no edit of the spec: the generation stays."""
        old = self._at(key, uid)
        return self._put(
            old, replace(old, spec={**old.spec, "nodeName": node}, status=status), now, "scheduler"
        )

    def delete(
        self, key: Key, uid: str | None, now: Instant, by: str, resource_version: int | None = None
    ) -> Object:
        """A pod that runs terminates, and what has finalizers waits for them; all else is gone at once."""
        old = self._at(key, uid)
        if resource_version is not None and old.resource_version != resource_version:
            raise Conflict(f"{key.kind} {key.name} has moved on")
        if old.deleted_at is not None:
            return old
        going = replace(old, deleted_at=now)
        if old.finalizers or (old.kind == "Pod" and _has_a_node_to_end_it(old)):
            return self._put(old, going, now, by)
        self._remove(old, now, by)
        return going

    def remove(self, key: Key, uid: str, now: Instant, by: str) -> None:
        """The end of a pod that had its time to terminate."""
        self._remove(self._at(key, uid), now, by)

    def _at(self, key: Key, uid: str | None) -> Object:
        item = self._objects.get(key)
        if item is None or (uid and item.uid != uid):
            raise Conflict(f"{key.kind} {key.name} is not there any more")
        return item

    def _put(self, old: Object, new: Object, now: Instant, by: str) -> Object:
        self._version += 1
        new.resource_version = self._version
        self._objects[new.key] = new
        if new.deleted_at is not None and old.finalizers and not new.finalizers and new.kind != "Pod":
            self._remove(new, now, by)
        else:
            self._tell(ObjectChange("modified", new, old, now, by))
        return new

    def _remove(self, old: Object, now: Instant, by: str) -> None:
        key = old.key
        self._version += 1
        del self._objects[key]
        self._live_uids.discard(old.uid)
        for owner in old.owners:
            dependents = self._dependents.get(owner.uid)
            if dependents is not None:
                dependents.pop(key, None)
        last = replace(
            old,
            resource_version=self._version,
            deleted_at=old.deleted_at if old.deleted_at is not None else now,
        )
        self._tell(ObjectChange("deleted", last, old, now, by))

    def _tell(self, change: ObjectChange) -> None:
        for listener in self._listeners:
            listener(change)


def _has_a_node_to_end_it(pod: Object) -> bool:
    """A pod that is not bound, or that has ended, is given no time: an API server removes it itself."""
    return bool(pod.spec.get("nodeName")) and pod.status.get("phase") not in ENDED
