"""What the planner of graphs knows of the cluster: objects as it was last told, its own writes at once."""

from collections.abc import Iterable, Iterator

from headgate.graph import labels
from headgate.kernel.objects import Key, Object


class Seen:
    """A scene by key, kind and instance. It never goes back to an older version of an object."""

    def __init__(self, items: Iterable[Object] = ()) -> None:
        self._objects: dict[Key, Object] = {}
        self._by_kind: dict[tuple[str, str], dict[Key, Object]] = {}
        self._by_instance: dict[str, dict[Key, Object]] = {}
        self._gone_versions: dict[Key, int] = {}
        for item in items:
            self.observe(item)

    def get(self, key: Key) -> Object | None:
        return self._objects.get(key)

    def __iter__(self) -> Iterator[Object]:
        return iter(self._objects.values())

    def of_kind(self, group: str, kind: str) -> Iterable[Object]:
        return tuple(self._by_kind.get((group, kind), {}).values())

    def parts_of(self, instance_uid: str) -> Iterable[Object]:
        return tuple(self._by_instance.get(instance_uid, {}).values())

    def observe(self, item: Object) -> bool:
        """Whether it was news."""
        key = item.key
        known = self._objects.get(key)
        if known is not None and known.resource_version >= item.resource_version:
            return False
        if self._gone_versions.get(key, -1) >= item.resource_version:
            return False
        self._take_out(known)
        self._objects[key] = item
        self._by_kind.setdefault((key.group, key.kind), {})[key] = item
        instance = item.labels.get(labels.INSTANCE_ID)
        if instance is not None:
            self._by_instance.setdefault(instance, {})[key] = item
        return True

    def forget(self, item: Object) -> bool:
        key = item.key
        self._gone_versions[key] = max(self._gone_versions.get(key, -1), item.resource_version)
        known = self._objects.get(key)
        if known is None or known.resource_version > item.resource_version:
            return False
        self._take_out(known)
        del self._objects[key]
        return True

    def _take_out(self, known: Object | None) -> None:
        if known is None:
            return
        key = known.key
        instance = known.labels.get(labels.INSTANCE_ID)
        if instance is not None:
            self._by_instance.get(instance, {}).pop(key, None)
        self._by_kind[key.group, key.kind].pop(key, None)
