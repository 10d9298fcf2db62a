"""The controller of PodCliqueSets: whom a change concerns, and the plan of one set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.workload import children, labels, model

PlanT = TypeVar("PlanT")
Planner = Callable[[Object, Sequence[Object], Instant, IdSource, Sequence[Object], children.Memory], PlanT]


class Cache(Protocol):
    def __iter__(self) -> Iterator[Object]: ...

    def get(self, key: Key) -> Object | None: ...

    def of_kind(self, group: str, kind: str) -> Iterable[Object]: ...

    def parts_of(self, owner: Key) -> Iterable[Object]: ...


def request_for(namespace: str, name: str) -> Key:
    return Key(model.GROUP, model.KIND, namespace, name)


def is_set(item: Object) -> bool:
    return item.kind == model.KIND and item.api_version == model.API_VERSION


def request_of(item: Object) -> Key | None:
    """The set that an object is, or is part of: what it owns stays its part even without the label."""
    if is_set(item):
        return item.key
    for owner in item.owners:
        if owner.kind == model.KIND:
            return request_for(item.namespace, owner.name)
    name = item.labels.get(labels.PART_OF)
    return request_for(item.namespace, name) if name is not None else None


class WorkloadController(Generic[PlanT]):
    """What it remembers is for speed alone: an empty memory gives the same plan."""

    name = "controller"

    def __init__(self, planner: Planner[PlanT], ids: IdSource) -> None:
        self._planner = planner
        self._ids = ids

    def restarted(self, cache: Cache, enqueue: Callable[[Key], None]) -> None:
        self._cache = cache
        self._remembered = children.Memory()
        for item in cache:
            request = request_of(item)
            if request is not None:
                enqueue(request)

    def watches(self, item: Object) -> bool:
        return request_of(item) is not None

    def index(self, item: Object) -> Key | None:
        return None if is_set(item) else request_of(item)

    def rank(self, request: Key) -> int:
        return 0

    def requests(
        self, item: Object, before: Object | None, *, is_gone: bool, is_own_status: bool
    ) -> Iterable[Key]:
        request = request_of(item)
        return () if request is None or is_own_status else (request,)

    def reconcile(self, request: Key, now: Instant) -> PlanT | None:
        """None once the set is gone; what it had goes with it."""
        item = self._cache.get(request)
        if item is None:
            return None
        others = [
            each
            for each in self._cache.of_kind(model.GROUP, model.KIND)
            if each.namespace == request.namespace
        ]
        parts = tuple(self._cache.parts_of(request))
        return self._planner(item, parts, now, self._ids, others, self._remembered)
