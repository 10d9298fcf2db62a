"""What the result says about objects and their conditions: every write, and every change of a condition."""

from typing import Any

import msgspec

from headgate.cluster.port import ObjectChange
from headgate.cluster.simulated.behaviors import Statuses, revision_of
from headgate.cluster.simulated.store import ObjectStore
from headgate.kernel import instants
from headgate.kernel.instants import Instant

INSTANCE_LABEL = "kro.run/instance-name"
NODE_LABEL = "kro.run/node-id"


class RecordEntry(msgspec.Struct):
    """One incarnation of an object."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    created_at: Instant
    labels: dict[str, str]
    writes: list[tuple[Instant, int | None]]
    """When, and the revision of the graph that the write was of."""
    ready_at: list[Instant]
    deleted_at: Instant | None = None


class ConditionSeen(msgspec.Struct, frozen=True):
    at: Instant
    kind: str
    name: str
    type: str
    status: str
    reason: str
    message: str

    def document(self) -> dict[str, Any]:
        return {
            "at": instants.show(self.at),
            "kind": self.kind,
            "name": self.name,
            "type": self.type,
            "status": self.status,
            "reason": self.reason,
            "message": self.message,
        }


class ClusterRecord:
    """Pods of sets are not among the objects here: they have a list of their own."""

    def __init__(self, store: ObjectStore, statuses: Statuses) -> None:
        self._statuses = statuses
        self._entries: dict[str, RecordEntry] = {}
        self.conditions: list[ConditionSeen] = []
        store.listen(self._changed)

    def _changed(self, change: ObjectChange) -> None:
        item = change.object
        if item.kind != "Pod" or NODE_LABEL in item.labels:
            self._note_write(change)
        if change.old is None or change.old.status is not item.status:
            self._note_conditions(change)

    def _note_write(self, change: ObjectChange) -> None:
        item = change.object
        if change.kind == "added":
            self._entries[item.uid] = RecordEntry(
                item.api_version,
                item.kind,
                item.namespace,
                item.name,
                item.uid,
                item.created_at,
                item.labels,
                [(change.at, revision_of(item))],
                [],
            )
        elif item.deleted_at is not None:
            self._entries[item.uid].deleted_at = item.deleted_at
        elif change.is_spec_write:
            self._entries[item.uid].writes.append((change.at, revision_of(item)))
        elif item.kind == "Pod" and _became_ready(change):
            self.note_ready(item.uid, change.at)

    def note_ready(self, uid: str, at: Instant) -> None:
        """For objects whose readiness somebody else judges; it then counts instead of the status being set."""
        self._entries[uid].ready_at.append(at)

    def _note_conditions(self, change: ObjectChange) -> None:
        item = change.object
        before = _conditions(change.old.status) if change.old is not None else {}
        for name, condition in _conditions(item.status).items():
            known = before.get(name, {})
            if any(known.get(key) != condition.get(key) for key in ("status", "reason")):
                self.conditions.append(
                    ConditionSeen(
                        change.at,
                        item.kind,
                        item.name,
                        name,
                        str(condition.get("status", "")),
                        str(condition.get("reason", "")),
                        str(condition.get("message", "")),
                    )
                )

    def documents(self) -> list[dict[str, Any]]:
        ordered = sorted(self._entries.values(), key=lambda entry: (entry.created_at, entry.name, entry.kind))
        return [self._document(entry) for entry in ordered]

    def _document(self, entry: RecordEntry) -> dict[str, Any]:
        ready_at = entry.ready_at or self._statuses.set_at.get(entry.uid, [])
        return {
            "apiVersion": entry.api_version,
            "kind": entry.kind,
            "namespace": entry.namespace,
            "name": entry.name,
            "instance": entry.labels.get(INSTANCE_LABEL),
            "node": entry.labels.get(NODE_LABEL),
            "writes": [{"at": instants.show(at), "revision": revision} for at, revision in entry.writes],
            "readyAt": [instants.show(at) for at in ready_at],
            "deletedAt": None if entry.deleted_at is None else instants.show(entry.deleted_at),
        }


def _became_ready(change: ObjectChange) -> bool:
    return bool(change.object.status.get("ready")) and not (change.old and change.old.status.get("ready"))


def _conditions(status: dict[str, Any]) -> dict[str, dict[str, Any]]:
    items = status.get("conditions")
    if not isinstance(items, list):
        return {}
    return {str(item.get("type", "")): item for item in items if isinstance(item, dict)}
