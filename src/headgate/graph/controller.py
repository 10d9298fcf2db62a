"""The controller of definitions and their instances: whom a change concerns, and the plan of one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from headgate.graph.compile import compiler as compiling
from headgate.graph.reconcile import definition_removal, labels, propagate
from headgate.graph.reconcile.accepted_graphs import AcceptedGraphs, is_definition, request_for
from headgate.graph.reconcile.cluster_view import WholeClusterView
from headgate.graph.reconcile.concerned_requests import ConcernedRequests
from headgate.graph.reconcile.planner_cache import PlannerCache
from headgate.graph.reconcile.propagate import DefinitionPlan, InstancePlan
from headgate.graph.reconcile.resolving import AcceptedGraph
from headgate.kernel.instants import Instant
from headgate.kernel.object_kinds import KindSource
from headgate.kernel.objects import Key, Object

GraphPlan = DefinitionPlan | InstancePlan


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

    def restarted(self, cache: WholeClusterView, enqueue: Callable[[Key], None]) -> None:
        self._cache = cache
        self._enqueue = enqueue
        self.planner_cache = PlannerCache(self.planner_cache.compiled, self._source)
        self._graphs = AcceptedGraphs(cache)
        self.concerned = ConcernedRequests(cache, self._graphs)
        self.enqueue_everything()

    def watches(self, item: Object) -> bool:
        return True

    def index(self, item: Object) -> str | None:
        return item.labels.get(labels.INSTANCE_ID)

    def rank(self, request: Key) -> int:
        """What a definition grants is known before its instances are looked at."""
        return 0 if is_definition(request) else 1

    def enqueue_everything(self) -> None:
        self._enqueue_all(self.concerned.of_everything())

    def _enqueue_all(self, requests: Iterable[Key]) -> None:
        for request in requests:
            self._enqueue(request)

    def requests(
        self, item: Object, before: Object | None, *, is_gone: bool, is_own_status: bool
    ) -> Iterable[Key]:
        return self.concerned.of_change(item, before, is_gone=is_gone, is_own_status=is_own_status)

    def reconcile(self, request: Key, now: Instant) -> GraphPlan | None:
        plan = self.plan_of(request, now, self.planner_cache)
        self._enqueue_all(self.concerned.of_plan(request, plan))
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
