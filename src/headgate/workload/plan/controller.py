"""The controller of PodCliqueSets: whom a change concerns, and the plan of one set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.workload import model
from headgate.workload.checks import claims
from headgate.workload.plan import children, family

PlanT = TypeVar("PlanT")
Planner = Callable[
    [Object, Sequence[Object], Instant, IdSource, Sequence[Object], children.ChildrenCache], PlanT
]


class WorkloadCache(Protocol):
    def __iter__(self) -> Iterator[Object]: ...

    def get(self, key: Key) -> Object | None: ...

    def of_kind(self, group: str, kind: str) -> Iterable[Object]: ...

    def parts_of(self, owner: Key) -> Iterable[Object]: ...


class WorkloadController(Generic[PlanT]):
    """What it remembers is for speed alone: an empty cache gives the same plan."""

    name = "controller"

    def __init__(self, planner: Planner[PlanT], ids: IdSource) -> None:
        self._planner = planner
        self._ids = ids
        self._family = family.Family()

    def restarted(self, cache: WorkloadCache, enqueue: Callable[[Key], None]) -> None:
        self._cache = cache
        self._remembered = children.ChildrenCache()
        for item in cache:
            request = self._request_of(item)
            if request is not None:
                enqueue(request)

    def _request_of(self, item: Object) -> Key | None:
        return item.key if family.is_set(item) else self.index(item)

    def watches(self, item: Object) -> bool:
        return (
            family.is_owned(item)
            or family.is_set(item)
            or family.is_claim_template(item)
            or family.by_label(item) is not None
        )

    def index(self, item: Object) -> Key | None:
        return None if family.is_set(item) or family.is_claim_template(item) else self._family.set_of(item)

    def rank(self, request: Key) -> int:
        return 0

    def requests(
        self, item: Object, before: Object | None, *, is_gone: bool, is_own_status: bool
    ) -> Iterable[Key]:
        """Also the set that an object was part of before somebody cut it off."""
        if is_own_status or (before is not None and not is_gone and family.is_talk(item, before)):
            return ()
        if family.is_claim_template(item):
            return self._requests_naming(item.key)
        concerned = []
        if before is not None and not family.belongs_as_before(item, before):
            # Asked before the object as it is now: the family remembers what it was asked last.
            concerned.append(self._request_of(before))
        concerned.append(self._request_of(item))
        if is_gone:
            self._family.forget(item)
        return tuple(request for request in dict.fromkeys(concerned) if request is not None)

    def _requests_naming(self, template: Key) -> tuple[Key, ...]:
        sets = self._cache.of_kind(model.GROUP, model.KIND)
        return tuple(item.key for item in sets if template in claims.templates_of_cluster(item))

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
        parts = (*self._cache.parts_of(request), *family.claim_templates(item, self._cache.get))
        return self._planner(item, parts, now, self._ids, others, self._remembered)
