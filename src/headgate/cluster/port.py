"""The port to a cluster's objects: what is there, what becomes of it, and writes.

The simulated cluster is one adapter and a real one the other; one suite of tests runs over both. It has three small
parts because a real cluster has no one place for them: what is there is what was heard of it (a cache that news fill),
news arrive by themselves, and a write is a request that is answered after a while. The simulated cluster is all three in
one store, at one moment.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Create, DeleteObject, Key, Object, Update, UpdateStatus

Written_co = TypeVar("Written_co", covariant=True)
Written = TypeVar("Written")


class Conflict(Exception):  # noqa: N818 - the field's word for a write that the server does not take
    """The write came too late, or for an object that is not there: news will end that."""


class NameTaken(Conflict):
    """An object of that name is there. News of it may be on their way; but it may also be one that nobody hears of."""


class WriteRefused(Exception):  # noqa: N818 - as above
    """The server does not take the write, and no news may end that: a quota, an admission, a field that cannot change."""

    def __init__(self, message: str, *, reason: str = "") -> None:
        """`reason` is the server's word for it."""
        super().__init__(message)
        self.reason = reason


class NotNow(WriteRefused):
    """The server is busy or out of reach: it may take the same write in a moment."""


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


class ReadPort(Protocol):
    def __iter__(self) -> Iterator[Object]:
        """Owners before what they own, as they were made or listed."""

    def get(self, key: Key) -> Object | None: ...


class ListenPort(Protocol):
    def listen(self, listener: Listener) -> None:
        """It is told of every write to an object in its order."""


class ClusterPort(ReadPort, ListenPort, Protocol):
    """A cluster to whoever only watches it."""


class WritePort(Protocol[Written_co]):
    """One writer's: who writes, and when that is, it knows. Raises Conflict or WriteRefused: where it answers at once, when
    it is asked, and where it gives something to await, then. Listeners have been told of a write once it is answered.
    """

    def create(self, item: Object) -> Written_co: ...

    def update(self, item: Object) -> Written_co:
        """All but the status; of the version in it."""

    def update_status(self, key: Key, uid: str, status: dict[str, Any]) -> Written_co:
        """Whatever became of the rest of it meanwhile."""

    def delete(self, key: Key, uid: str, resource_version: int | None) -> Written_co:
        """Of that version, if there is one. What is gone already is a Conflict where the news of that are still on their way;
        where the answer is that news, it is told to listeners, and was what was wanted."""


def key_of(action: Action) -> Key:
    """Of the object that it is about."""
    return action.object.key if isinstance(action, Create | Update) else action.key


def write(port: WritePort[Written], action: Action) -> Written:
    """One action of a plan becomes one write."""
    match action:
        case Create(object=item):
            return port.create(item)
        case Update(object=item):
            return port.update(item)
        case UpdateStatus(key=key, uid=uid, status=status):
            return port.update_status(key, uid, status)
        case DeleteObject(key=key, uid=uid, resource_version=version):
            return port.delete(key, uid, version)
