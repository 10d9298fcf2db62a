"""What happens in the cluster, told to the controllers: from watches, and their own writes as soon as they are answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from headgate.cluster.port import Listener, ObjectChange
from headgate.kernel.objects import Key, Object
from headgate.kubernetes import managed_fields
from headgate.kubernetes.managed_fields import Fields
from headgate.kubernetes.resources import Document

_ENCODER = msgspec.json.Encoder(order="sorted")


Replaced = Callable[[str, str, Iterable[Object]], None]
"""Told of a group and kind all objects anew, in versions that may be older than those that were told."""


class ObjectFeed:
    """The audience of all reflectors, and the port by which a real cluster is listened to.

    A write is told when it is answered and once more when a watch brings it: a cache takes what is newer than what it has.
    An object that is being written is not told of until the answer is here: the answer says whose write it was, which
    a watch does not say for certain.
    """

    def __init__(self, managers: Sequence[str], clock: Callable[[], int]) -> None:
        self._managers = managers
        self._clock = clock
        self._listeners: list[Listener] = []
        self._restored: list[Replaced] = []
        self._held: dict[Key, list[ObjectChange]] = {}
        self._fields: dict[tuple[str, Key], bytes] = {}
        self._texts: dict[bytes, bytes] = {}
        """Each text once: many objects have the same fields."""

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def when_restored(self, replaced: Replaced) -> None:
        """After the cluster was restored from an older copy of itself, as no simulated one is."""
        self._restored.append(replaced)

    def read_document(self, item: Object, document: Document) -> None:
        """Remembers which fields were applied by whom."""
        for manager in self._managers:
            applied = managed_fields.applied_by(document, manager)
            if applied:
                text = _ENCODER.encode(applied)
                self._fields[manager, item.key] = self._texts.setdefault(text, text)
            else:
                self._fields.pop((manager, item.key), None)

    def fields(self, manager: str, key: Key) -> Fields:
        text = self._fields.get((manager, key))
        fields: dict[str, Any] = {} if text is None else msgspec.json.decode(text)
        return fields

    def observe(self, change: ObjectChange) -> None:
        key = change.object.key
        if change.kind == "deleted":
            for manager in self._managers:
                self._fields.pop((manager, key), None)
        if key in self._held:
            self._held[key].append(change)
        else:
            self._tell(change)

    def replaced(self, group: str, kind: str, items: Iterable[Object]) -> None:
        listed = tuple(items)
        for replaced in self._restored:
            replaced(group, kind, listed)

    @contextmanager
    def writing(self, key: Key) -> Iterator[None]:
        """What watches say of the object meanwhile is told afterwards."""
        self._held.setdefault(key, [])
        try:
            yield
        finally:
            for change in self._held.pop(key, ()):
                self._tell(change)

    def wrote(self, item: Object, before: Object | None, by: str) -> None:
        self._tell(ObjectChange("added" if before is None else "modified", item, before, self._clock(), by))

    def deleted(self, item: Object, by: str) -> None:
        self._tell(ObjectChange("deleted", item, item, self._clock(), by))

    def _tell(self, change: ObjectChange) -> None:
        for listener in self._listeners:
            listener(change)
