"""What a controller knows of the cluster: the objects as it was last told, and its own writes at once."""

from collections.abc import Callable, Iterable, Iterator

from headgate.kernel.objects import Key, Object
from headgate.workload import labels

Listener = Callable[[Object | None, Object | None], None]
"""Told of what was there and what is there now, before and after each change."""

Request = tuple[str, str]
"""Namespace and name of a set."""


def request_of(item: Object) -> Request | None:
    """The set that an object is, or is part of: what it owns stays its part even without the label."""
    if item.kind == "PodCliqueSet":
        return item.namespace, item.name
    for owner in item.owners:
        if owner.kind == "PodCliqueSet":
            return item.namespace, owner.name
    pcs = item.labels.get(labels.PART_OF)
    return (item.namespace, pcs) if pcs is not None else None


class View:
    """A cache by key. It never goes back to an older version of an object, nor to one that is gone."""

    def __init__(self, items: Iterable[Object] = ()) -> None:
        self._objects: dict[Key, Object] = {}
        self._sets: dict[Key, Object] = {}
        self._parts: dict[Request, dict[Key, Object]] = {}
        self._gone_versions: dict[Key, int] = {}
        self._listeners: list[Listener] = []
        for item in items:
            self.observe(item)

    def listen(self, listener: Listener) -> None:
        """Hears first of everything that is here already."""
        for item in self._objects.values():
            listener(None, item)
        self._listeners.append(listener)

    def get(self, key: Key) -> Object | None:
        return self._objects.get(key)

    def __iter__(self) -> Iterator[Object]:
        return iter(self._objects.values())

    def set_of(self, request: Request) -> Object | None:
        return self._objects.get(Key("grove.io", "PodCliqueSet", *request))

    def sets_in(self, namespace: str) -> list[Object]:
        return [item for item in self._sets.values() if item.namespace == namespace]

    def parts_of(self, request: Request) -> Iterable[Object]:
        return self._parts.get(request, {}).values()

    def observe(self, item: Object) -> bool:
        """Whether it was news."""
        key = item.key
        known = self._objects.get(key)
        if known is not None and known.resource_version >= item.resource_version:
            return False
        if self._gone_versions.get(key, -1) >= item.resource_version:
            return False
        self._objects[key] = item
        self._place(known, key, None)
        self._place(None, key, item)
        self._tell(known, item)
        return True

    def forget(self, item: Object) -> bool:
        """An object that is gone, with its last version; a later one of the same name stays."""
        key = item.key
        self._gone_versions[key] = max(self._gone_versions.get(key, -1), item.resource_version)
        known = self._objects.get(key)
        if known is None or known.resource_version > item.resource_version:
            return False
        del self._objects[key]
        self._place(known, key, None)
        self._tell(known, None)
        return True

    def _place(self, old: Object | None, key: Key, new: Object | None) -> None:
        item = new or old
        request = request_of(item) if item is not None else None
        if request is None or item is None:
            return
        parts = self._sets if item.kind == "PodCliqueSet" else self._parts.setdefault(request, {})
        if new is not None:
            parts[key] = new
        else:
            parts.pop(key, None)

    def _tell(self, old: Object | None, new: Object | None) -> None:
        for listener in self._listeners:
            listener(old, new)
