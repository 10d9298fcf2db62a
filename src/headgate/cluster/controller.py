"""What a controller is: which requests an object causes, and what is to be written for one of them."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol, TypeVar

from headgate.cluster.cache import ObjectCache
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Key, Object

Enqueue = Callable[[Key], None]


class Announced(Protocol):
    """Something that a plan wants people to be told, about an object."""

    @property
    def object(self) -> Key: ...

    @property
    def message(self) -> str: ...

    @property
    def reason(self) -> Reason: ...


class Plan(Protocol):
    @property
    def actions(self) -> Sequence[Action]: ...

    @property
    def events(self) -> Sequence[Announced]: ...

    @property
    def requeue_at(self) -> Instant | None: ...

    def waiting(self) -> Iterable[Reason]:
        """Why its units do not change yet: one for each that does not."""


PlanT = TypeVar("PlanT", bound=Plan)
PlanT_co = TypeVar("PlanT_co", bound=Plan, covariant=True)


class Controller(Protocol[PlanT_co]):
    """Names the object that a request is about by its key. Asked in one thread, a request at a time."""

    @property
    def name(self) -> str:
        """Who writes, as the cluster knows it."""

    def watches(self, item: Object) -> bool:
        """Whether anything of this kind of object is news at all."""

    def index(self, item: Object) -> Hashable | None:
        """What the object is a part of, under which the cache finds it."""

    def rank(self, request: Key) -> int:
        """Lower ranks are decided first."""

    def restarted(self, cache: ObjectCache, enqueue: Enqueue) -> None:
        """A new life: a fresh cache, and nothing remembered. Everything in it is worth a look."""

    def requests(
        self, item: Object, before: Object | None, *, is_gone: bool, is_own_status: bool
    ) -> Iterable[Key]:
        """Whom a change concerns; `is_own_status` says that nothing but this controller's own status moved."""

    def reconcile(self, request: Key, now: Instant) -> PlanT_co | None:
        """Pure in what the cache holds and `now`. None if there is nothing to decide on."""
