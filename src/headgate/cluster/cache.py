"""What a controller knows of the cluster: the objects as it was last told, and its own writes at once."""

from collections.abc import Callable, Hashable, Iterable, Iterator

from headgate.kernel.objects import Key, Object

Index = Callable[[Object], Hashable | None]
"""Under what an object is found as a part, or None."""
CacheListener = Callable[[Object | None, Object | None], None]
"""Told of what was there and what is there now."""
MOST_GONE = 10_000
"""Of how many objects it is remembered that they are gone, those who went last: news of them that are older than that
come within moments, if at all, and names of pods never end."""


class ObjectCache:
    """By key, by kind, and by what an object is part of.

    It never goes back to an older version of an object, nor to one that is gone: what a controller wrote is observed
    here at once, and a notification that is older than that changes nothing.
    """

    def __init__(self, index: Index, items: Iterable[Object] = ()) -> None:
        self._index = index
        self._objects: dict[Key, Object] = {}
        self._by_kind: dict[tuple[str, str], dict[Key, Object]] = {}
        self._parts: dict[Hashable, dict[Key, Object]] = {}
        self._owners: dict[Key, Hashable] = {}
        """Under what each object was put, which may not be what the index says of it later."""
        self._gone_versions: dict[Key, int] = {}
        self._listeners: list[CacheListener] = []
        for item in items:
            self.observe(item)

    def listen(self, listener: CacheListener) -> None:
        """Hears first of everything that is here already."""
        for item in self._objects.values():
            listener(None, item)
        self._listeners.append(listener)

    def get(self, key: Key) -> Object | None:
        return self._objects.get(key)

    def __iter__(self) -> Iterator[Object]:
        return iter(self._objects.values())

    def of_kind(self, group: str, kind: str) -> Iterable[Object]:
        return tuple(self._by_kind.get((group, kind), {}).values())

    def parts_of(self, owner: Hashable) -> Iterable[Object]:
        return tuple(self._parts.get(owner, {}).values())

    def observe(self, item: Object) -> bool:
        """Whether it was news."""
        key = item.key
        known = self._objects.get(key)
        if known is not None and known.resource_version >= item.resource_version:
            return False
        if self._gone_versions.get(key, -1) >= item.resource_version:
            return False
        self._put(key, known, item)
        return True

    def forget(self, item: Object) -> bool:
        """An object that is gone, with its last version; a later one of the same name stays."""
        key = item.key
        self._gone_versions[key] = max(self._gone_versions.pop(key, -1), item.resource_version)
        if len(self._gone_versions) > MOST_GONE:
            del self._gone_versions[next(iter(self._gone_versions))]
        known = self._objects.get(key)
        if known is None or known.resource_version > item.resource_version:
            return False
        self._remove(known)
        return True

    def replace(
        self, group: str, kind: str, items: Iterable[Object]
    ) -> list[tuple[Object | None, Object | None]]:
        """All objects of a kind anew, whatever their versions are: the cluster is an older one than before. What was
        and what is now, of those that are not the same."""
        self._gone_versions = {
            key: version
            for key, version in self._gone_versions.items()
            if (key.group, key.kind) != (group, kind)
        }
        present = {item.key: item for item in items}
        changed: list[tuple[Object | None, Object | None]] = []
        for known in self.of_kind(group, kind):
            if known.key not in present:
                self._remove(known)
                changed.append((known, None))
        for key, item in present.items():
            before = self._objects.get(key)
            if before is None or (before.uid, before.resource_version) != (item.uid, item.resource_version):
                self._put(key, before, item)
                changed.append((before, item))
        return changed

    def _put(self, key: Key, known: Object | None, item: Object) -> None:
        self._take_out(key, known)
        self._objects[key] = item
        self._by_kind.setdefault((key.group, key.kind), {})[key] = item
        owner = self._index(item)
        if owner is not None:
            self._parts.setdefault(owner, {})[key] = item
            self._owners[key] = owner
        self._tell(known, item)

    def _remove(self, known: Object) -> None:
        self._take_out(known.key, known)
        del self._objects[known.key]
        self._tell(known, None)

    def _take_out(self, key: Key, known: Object | None) -> None:
        if known is None:
            return
        self._by_kind[key.group, key.kind].pop(key, None)
        owner = self._owners.pop(key, None)
        if owner is not None:
            parts = self._parts[owner]
            del parts[key]
            if not parts:
                del self._parts[owner]

    def _tell(self, old: Object | None, new: Object | None) -> None:
        for listener in self._listeners:
            listener(old, new)
