"""The port to a cluster's objects: read, watch, write. The simulated cluster is one adapter of it."""

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, Protocol

from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Create, DeleteObject, Key, Object, Update, UpdateStatus


class Conflict(Exception):  # noqa: N818 - the field's word for a write that the server does not take
    """The write came too late, or for an object that is not there."""


class WriteRefused(Exception):  # noqa: N818 - as above
    """The server does not take the write, and no news may end that: a quota, an admission, a field that cannot change."""


class ObjectChange(NamedTuple):
    """One write. `old` is what was there before; a deleted object stays as it was last."""

    kind: Literal["added", "modified", "deleted"]
    object: Object
    old: Object | None
    at: Instant
    by: str

    @property
    def is_spec_write(self) -> bool:
        return self.kind == "added" or (
            self.kind == "modified" and self.old is not None and self.old.generation != self.object.generation
        )


Listener = Callable[[ObjectChange], None]


class ClusterPort(Protocol):
    """Writes raise `Conflict`. Listeners are told of every write in its order."""

    def __iter__(self) -> Iterator[Object]:
        """Owners before what they own."""

    def get(self, key: Key) -> Object | None: ...

    def listen(self, listener: Listener) -> None: ...

    def create(self, item: Object, now: Instant, by: str) -> Object: ...

    def update(self, item: Object, now: Instant, by: str) -> Object: ...

    def update_status(self, key: Key, uid: str, status: dict[str, Any], now: Instant, by: str) -> Object: ...

    def delete(
        self, key: Key, uid: str | None, now: Instant, by: str, resource_version: int | None = None
    ) -> Object: ...


def key_of(action: Action) -> Key:
    """Of the object that it is about."""
    return action.object.key if isinstance(action, Create | Update) else action.key


def write(port: ClusterPort, action: Action, now: Instant, by: str) -> None:
    """One action of a plan becomes one write. Raises Conflict."""
    match action:
        case Create(object=item):
            port.create(item, now, by)
        case DeleteObject(key=key, uid=uid, resource_version=version):
            port.delete(key, uid, now, by, version)
        case Update(object=item):
            port.update(item, now, by)
        case UpdateStatus(key=key, uid=uid, status=status):
            port.update_status(key, uid, status, now, by)
