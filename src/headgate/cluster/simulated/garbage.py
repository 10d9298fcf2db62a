"""Garbage collection: what every owner has left goes some time after them."""

from headgate.cluster.port import Conflict, ObjectChange
from headgate.cluster.simulated.agenda import Agenda
from headgate.cluster.simulated.store import ObjectStore
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object


class Collector:
    def __init__(self, store: ObjectStore, agenda: Agenda, delay: int) -> None:
        self._store = store
        self._agenda = agenda
        self._delay = delay
        store.listen(self._changed)

    def _changed(self, change: ObjectChange) -> None:
        if change.kind == "deleted":
            for key in self._store.dependents(change.object.uid):
                self._look_later(key, change.at)
        elif change.kind == "added" and change.object.owners and self._is_orphan(change.object):
            self._look_later(change.object.key, change.at)

    def _look_later(self, key: Key, now: Instant) -> None:
        item = self._store.get(key)
        if item is not None and item.deleted_at is None and self._is_orphan(item):
            uid = item.uid
            self._agenda.add(now + self._delay, lambda moment: self._collect(key, uid, moment))

    def _is_orphan(self, item: Object) -> bool:
        return bool(item.owners) and not any(self._store.is_live(owner.uid) for owner in item.owners)

    def _collect(self, key: Key, uid: str, now: Instant) -> None:
        item = self._store.get(key)
        if item is None or item.uid != uid or not self._is_orphan(item):
            return
        try:
            self._store.delete(key, uid, now, "garbage collector")
        except Conflict:
            return
