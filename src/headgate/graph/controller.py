"""The controller of definitions and their instances: whom a change concerns, and the plan of one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from headgate.graph.compile import compiler as compiling
from headgate.graph.compile import definition
from headgate.graph.reconcile import (
    accepted_graphs,
    cluster_view,
    definition_removal,
    labels,
    propagate,
    revisions,
    served_kinds,
)
from headgate.graph.reconcile.accepted_graphs import is_definition, request_for
from headgate.graph.reconcile.cluster_view import ClusterView
from headgate.graph.reconcile.planner_cache import PlannerCache
from headgate.graph.reconcile.possessions import ObjectsInTheWay, Possessions
from headgate.graph.reconcile.propagate import DefinitionPlan, InstancePlan
from headgate.graph.reconcile.resolving import AcceptedGraph
from headgate.kernel.instants import Instant
from headgate.kernel.object_kinds import KindSource
from headgate.kernel.objects import Key, Object

GraphPlan = DefinitionPlan | InstancePlan


class GraphCache(ClusterView, Protocol):
    """A view of the cluster that can be gone through whole."""

    def __iter__(self) -> Iterator[Object]: ...


class GraphController:
    """What it remembers follows from the cache: a new life makes the same plans."""

    name = "graphs"

    def __init__(
        self,
        signals: Callable[[Instant], Mapping[str, object]],
        source: KindSource = compiling.BUILT_IN,
    ) -> None:
        """`source` knows the kinds that graphs speak of."""
        self._signals = signals
        self._source = source
        self.planner_cache = PlannerCache(source=source)

    def restarted(self, cache: GraphCache, enqueue: Callable[[Key], None]) -> None:
        self._cache = cache
        self._enqueue = enqueue
        self.planner_cache = PlannerCache(self.planner_cache.compiled, self._source)
        self._graphs = accepted_graphs.AcceptedGraphs(cache)
        self._in_the_way = ObjectsInTheWay()
        self._possessions = Possessions(cache)
        self.enqueue_everything()

    def watches(self, item: Object) -> bool:
        return True

    def index(self, item: Object) -> str | None:
        return item.labels.get(labels.INSTANCE_ID)

    def rank(self, request: Key) -> int:
        """What a definition grants is known before its instances are looked at."""
        return 0 if is_definition(request) else 1

    def enqueue_everything(self) -> None:
        kinds = served_kinds.by_definition(self._cache)
        for item in self._cache:
            kind = (item.group, item.kind)
            if is_definition(item.key) and item.api_version == definition.API_VERSION:
                self._enqueue_all((item.key, *self._graphs.instances_of(item.name)))
            elif labels.FINALIZER in item.finalizers and kind in kinds:
                # An instance; it may have to go after its definition has gone.
                self._graphs.claim(kind, kinds[kind])
                self._enqueue(item.key)

    def _enqueue_all(self, requests: Iterable[Key]) -> None:
        for request in requests:
            self._enqueue(request)

    def requests(
        self, item: Object, before: Object | None, *, is_gone: bool, is_own_status: bool
    ) -> Iterable[Key]:
        """The planner's own status of an instance concerns its definition alone."""
        key, is_new = item.key, before is None and not is_gone
        if cluster_view.is_revision(item):
            self._possessions.observe(item, is_gone=is_gone)
            # Its objects may have been heard of before it.
            return self._graphs.owners_of(item) if is_new else ()
        if key.kind == revisions.GRAPH_KIND:
            # What it grants is granted now that it is there.
            return self._named_definition(item) if is_new else ()
        if key.kind == revisions.KIND:
            return ()
        if not is_definition(key):
            return self._requests_of_part(item, before, is_gone=is_gone, is_own_status=is_own_status)
        return () if is_own_status else (key, *self._graphs.instances_of(item.name))

    def _named_definition(self, item: Object) -> Iterator[Key]:
        if labels.DEFINITION_NAME in item.labels:
            yield request_for(item.labels[labels.DEFINITION_NAME])

    def _requests_of_part(
        self, item: Object, before: Object | None, *, is_gone: bool, is_own_status: bool
    ) -> Iterator[Key]:
        """Of an instance, or an object of one, or one that an instance reads; it may be all three."""
        key = item.key
        owner = self._graphs.definition_of((key.group, key.kind))
        if owner is not None:
            if is_gone or self._graphs.is_moved_by(owner, item, before):
                yield request_for(owner)
            if not is_own_status:
                yield key
        if labels.INSTANCE_ID in item.labels:
            yield from self._instance_with(item)
        if before is not None and before.labels != item.labels and labels.INSTANCE_ID in before.labels:
            yield from self._instance_with(before)
        yield from self._graphs.readers_of((key.group, key.kind))
        if key.kind == "CustomResourceDefinition":
            yield from self._named_definition(item)
        # What stood in somebody's way may have gone, or be nobody's now.
        yield from self._in_the_way.of(key)

    def _instance_with(self, item: Object) -> Iterator[Key]:
        if labels.INSTANCE_NAME in item.labels and self._possessions.may_be_part(item):
            yield from self._graphs.instances_named(item.labels)

    def is_part(self, item: Object) -> bool:
        """Whether it is an instance's. Its labels alone say little: anybody may put them onto what is his."""
        return self._possessions.is_part(item) or any(self._instance_with(item))

    def reconcile(self, request: Key, now: Instant) -> GraphPlan | None:
        plan = self.plan_of(request, now, self.planner_cache)
        if is_definition(request):
            accepted = plan.rollout.accepted if isinstance(plan, DefinitionPlan) else None
            self._enqueue_all(self._graphs.accept(request.name, accepted))
        else:
            found = plan.instance_pass if isinstance(plan, InstancePlan) else None
            units = found.units if found is not None else ()
            self._in_the_way.keep(request, frozenset(unit.key for unit in units if unit.problem))
        return plan

    def plan_of(self, request: Key, now: Instant, planner_cache: PlannerCache) -> GraphPlan | None:
        """What would be decided now, without doing it."""
        item = self._cache.get(request)
        if is_definition(request):
            if item is None or not definition_removal.is_kept(item):
                return None
            return propagate.plan_definition(item, self._cache, self._signals(now), now, planner_cache)
        if item is None:
            return None
        accepted = self._accepted_for(item, now, planner_cache)
        return propagate.plan_instance(item, accepted, self._cache, self._signals(now), now, planner_cache)

    def _accepted_for(
        self, instance: Object, now: Instant, planner_cache: PlannerCache
    ) -> AcceptedGraph | None:
        accepted = self._graphs.get(self._graphs.definition_of((instance.group, instance.kind)))
        if accepted is None:
            named = request_for(instance.labels.get(labels.DEFINITION_NAME, ""))
            top = self.plan_of(named, now, planner_cache)
            accepted = top.rollout.accepted if isinstance(top, DefinitionPlan) else None
        return None if accepted is None else self._graphs.with_pause(accepted, instance)
