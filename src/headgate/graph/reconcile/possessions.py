"""Which objects are an instance's, by its revisions, and which stand in the way of one: whom the news of an object concern.

The labels of an object name its instance, and anybody may write them: news of what only says that it is an instance's
must not make anybody look, however often they come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headgate.graph.reconcile import cluster_view, contents, labels, revisions
from headgate.kernel.objects import Key, Object


class Possessions:
    """Follows the revisions that are there; told of each that comes, changes or goes."""

    def __init__(self, items: Iterable[Object]) -> None:
        self._revisions: dict[str, dict[Key, Object]] = {}
        """By the id of their instance."""
        self._instances: dict[Key, str] = {}
        for item in items:
            if cluster_view.is_revision(item):
                self.observe(item, is_gone=False)

    def observe(self, revision: Object, *, is_gone: bool) -> None:
        key = revision.key
        self._forget(key)
        if not is_gone:
            instance = revision.labels.get(labels.INSTANCE_ID, "")
            self._revisions.setdefault(instance, {})[key] = revision
            self._instances[key] = instance

    def _forget(self, key: Key) -> None:
        instance = self._instances.pop(key, None)
        if instance is not None:
            del self._revisions[instance][key]
            if not self._revisions[instance]:
                del self._revisions[instance]

    def is_part(self, item: Object) -> bool:
        """Whether the instance that its label names was granted it."""
        text = contents.key_text(item.key)
        known = self._revisions.get(item.labels.get(labels.INSTANCE_ID, ""), {})
        return any(revisions.grants(each, text) for each in known.values())

    def may_be_part(self, item: Object) -> bool:
        """As far as is known: of an instance without revisions, which may go before it, everything may be."""
        instance = item.labels.get(labels.INSTANCE_ID)
        return instance is not None and (instance not in self._revisions or self.is_part(item))


class ObjectsInTheWay:
    """Those that some instances want and others have."""

    def __init__(self) -> None:
        self._wanted: dict[Key, frozenset[Key]] = {}
        """By the instance that wants them."""
        self._instances: dict[Key, set[Key]] = {}

    def keep(self, instance: Key, objects: frozenset[Key]) -> None:
        """All that are in its way now."""
        before = self._wanted.get(instance, frozenset())
        if objects == before:
            return
        for key in before - objects:
            self._instances[key].discard(instance)
            if not self._instances[key]:
                del self._instances[key]
        for key in objects - before:
            self._instances.setdefault(key, set()).add(instance)
        if objects:
            self._wanted[instance] = objects
        else:
            del self._wanted[instance]

    def of(self, key: Key) -> Iterator[Key]:
        """The instances that it is in the way of."""
        yield from sorted(self._instances.get(key, ()))
