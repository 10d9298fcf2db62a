"""The controller of PodCliqueSets: whom a change concerns, and the plan of one set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.workload import labels, model
from headgate.workload.checks import claims
from headgate.workload.expand import autoscalers
from headgate.workload.plan import children

PlanT = TypeVar("PlanT")
Planner = Callable[
    [Object, Sequence[Object], Instant, IdSource, Sequence[Object], children.ChildrenCache], PlanT
]


class WorkloadCache(Protocol):
    def __iter__(self) -> Iterator[Object]: ...

    def get(self, key: Key) -> Object | None: ...

    def of_kind(self, group: str, kind: str) -> Iterable[Object]: ...

    def parts_of(self, owner: Key) -> Iterable[Object]: ...


def request_for(namespace: str, name: str) -> Key:
    return Key(model.GROUP, model.KIND, namespace, name)


def is_set(item: Object) -> bool:
    return item.kind == model.KIND and item.api_version == model.API_VERSION


def is_claim_template(item: Object) -> bool:
    return item.kind == model.CLAIM_TEMPLATE_KIND and item.group == model.CLAIM_GROUP


def claim_templates(item: Object, get: Callable[[Key], Object | None]) -> list[Object]:
    """Of the cluster, as far as they are there: what a set refers to and is nobody's part."""
    return [found for key in claims.templates_of_cluster(item) if (found := get(key)) is not None]


class Family:
    """Which set an object is part of. Its owners say so, the set itself or one that is part of it in turn, since
    anybody may edit a label; by the label is found what has lost its owner."""

    def __init__(self) -> None:
        self._sets: dict[str, Key] = {}
        """Of the objects that may own others, by uid."""

    def set_of(self, item: Object) -> Key | None:
        """Owners have to be asked about before what they own."""
        found = self._by_owner(item) or _by_label(item)
        if found is not None and item.kind in _OWNERS:
            self._sets[item.uid] = found
        return found

    def _by_owner(self, item: Object) -> Key | None:
        for owner in item.owners:
            if owner.kind == model.KIND:
                return request_for(item.namespace, owner.name)
            if owner.uid in self._sets:
                return self._sets[owner.uid]
        return None

    def forget(self, item: Object) -> None:
        self._sets.pop(item.uid, None)


_OWNERS = (model.SCALING_GROUP_KIND, model.CLIQUE_KIND)
_FAMILY = (model.KIND, *_OWNERS)


def _is_owned(item: Object) -> bool:
    """By a set, or by what is part of one."""
    return any(owner.kind in _FAMILY for owner in item.owners)


def _by_label(item: Object) -> Key | None:
    """The label of parts is everybody's: only what this operator made is found by it, and nothing that others own."""
    name = item.labels.get(labels.PART_OF)
    if name is None or item.labels.get(labels.MANAGED_BY) != labels.MANAGER:
        return None
    if any(owner.kind not in _FAMILY for owner in item.owners):
        return None
    return request_for(item.namespace, name)


_TALKATIVE = (autoscalers.KIND, model.CLAIM_KIND)


def _is_talk(item: Object, before: Object) -> bool:
    """An autoscaler writes into its status all day what it measures, a claim has in its own which pods use it; that
    changes nothing for their set."""
    return (
        item.kind in _TALKATIVE
        and (item.uid, item.deleted_at, item.spec) == (before.uid, before.deleted_at, before.spec)
        and (item.labels, item.owners) == (before.labels, before.owners)
    )


def _belongs_as_before(item: Object, before: Object) -> bool:
    return item.owners == before.owners and item.labels == before.labels


class WorkloadController(Generic[PlanT]):
    """What it remembers is for speed alone: an empty cache gives the same plan."""

    name = "controller"

    def __init__(self, planner: Planner[PlanT], ids: IdSource) -> None:
        self._planner = planner
        self._ids = ids
        self._family = Family()

    def restarted(self, cache: WorkloadCache, enqueue: Callable[[Key], None]) -> None:
        self._cache = cache
        self._remembered = children.ChildrenCache()
        for item in cache:
            request = self._request_of(item)
            if request is not None:
                enqueue(request)

    def _request_of(self, item: Object) -> Key | None:
        return item.key if is_set(item) else self.index(item)

    def watches(self, item: Object) -> bool:
        return _is_owned(item) or is_set(item) or is_claim_template(item) or _by_label(item) is not None

    def index(self, item: Object) -> Key | None:
        return None if is_set(item) or is_claim_template(item) else self._family.set_of(item)

    def rank(self, request: Key) -> int:
        return 0

    def requests(
        self, item: Object, before: Object | None, *, is_gone: bool, is_own_status: bool
    ) -> Iterable[Key]:
        """Also the set that an object was part of before somebody cut it off."""
        if is_own_status or (before is not None and not is_gone and _is_talk(item, before)):
            return ()
        if is_claim_template(item):
            return self._requests_naming(item.key)
        found = [self._request_of(item)]
        if before is not None and not _belongs_as_before(item, before):
            found.insert(0, self._request_of(before))
        if is_gone:
            self._family.forget(item)
        return tuple(request for request in dict.fromkeys(found) if request is not None)

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
        parts = (*self._cache.parts_of(request), *claim_templates(item, self._cache.get))
        return self._planner(item, parts, now, self._ids, others, self._remembered)
