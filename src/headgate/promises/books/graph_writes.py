"""What graphs have written: for each object the last write, and whether a new one starts it towards something new."""

from collections.abc import Iterator

import msgspec

from headgate.cluster.port import ObjectChange
from headgate.graph.controller import GraphController
from headgate.graph.reconcile import labels
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object


class _Written(msgspec.Struct, frozen=True):
    owner: str
    revision: int
    content: str


class GraphWrite(msgspec.Struct, frozen=True):
    """One write of a spec. `revision_before` is None where the object was not there for the same instance."""

    object: Object
    at: Instant
    revision: int
    revision_before: int | None
    starts: bool
    """It is new, or goes to another content of a later revision."""


class GraphWrites:
    def __init__(self) -> None:
        self._known: dict[Key, _Written] = {}
        """Of each object, gone or not."""

    def read(self, change: ObjectChange) -> Iterator[GraphWrite]:
        item = change.object
        if change.by != GraphController.name or labels.NODE_ID not in item.labels or change.kind == "deleted":
            return
        written = _Written(
            item.labels.get(labels.INSTANCE_ID, ""),
            int(item.annotations.get(labels.REVISION) or 0),
            item.annotations.get(labels.CONTENT, ""),
        )
        key = item.key
        before = self._known.get(key)
        self._known[key] = written
        if not change.is_spec_write:
            return
        was_here = before is not None and before.owner == written.owner
        is_new = before is None or (written.revision > before.revision and written.content != before.content)
        yield GraphWrite(
            item,
            change.at,
            written.revision,
            before.revision if was_here and before is not None else None,
            not was_here or is_new,
        )
