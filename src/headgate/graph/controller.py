"""The controller of definitions and their instances: whom a change concerns, and the plan of one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

import msgspec

from headgate.graph.compile import compiler as compiling
from headgate.graph.compile import definition
from headgate.graph.reconcile import (
    cluster_view,
    definition_removal,
    labels,
    propagate,
    revisions,
    rollouts,
    served_kinds,
)
from headgate.graph.reconcile.cluster_view import ClusterView
from headgate.graph.reconcile.planner_cache import PlannerCache
from headgate.graph.reconcile.possessions import ObjectsInTheWay, Possessions
from headgate.graph.reconcile.propagate import DefinitionPlan, InstancePlan
from headgate.graph.reconcile.resolving import AcceptedGraph
from headgate.kernel.instants import Instant
from headgate.kernel.object_kinds import KindSource
from headgate.kernel.objects import Key, Object, group_of

GraphPlan = DefinitionPlan | InstancePlan
_GROUP = "kro.run"


class GraphCache(ClusterView, Protocol):
    """A scene that can be gone through whole."""

    def __iter__(self) -> Iterator[Object]: ...


def request_for(name: str) -> Key:
    """The request that is about a definition."""
    return Key(_GROUP, definition.KIND, "", name)


def is_definition(request: Key) -> bool:
    return request.kind == definition.KIND and request.group == _GROUP


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
        self._definition_of: dict[tuple[str, str], str] = {}
        """By group and kind of the instances."""
        self._accepted: dict[str, AcceptedGraph] = {}
        self._external_kinds: dict[str, frozenset[tuple[str, str]]] = {}
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
            if is_definition(item.key) and item.api_version == definition.API_VERSION:
                self._enqueue(item.key)
                self._enqueue_instances_of(item.name)
            elif labels.FINALIZER in item.finalizers and (item.group, item.kind) in kinds:
                # An instance; it may have to go after its definition has gone.
                self._definition_of[item.group, item.kind] = kinds[item.group, item.kind]
                self._enqueue(item.key)

    def _enqueue_instances_of(self, name: str) -> None:
        for request in self._instances_of(name):
            self._enqueue(request)

    def _kinds_of(self, name: str) -> list[tuple[str, str]]:
        return [kind for kind, owner in self._definition_of.items() if owner == name]

    def _instances_of(self, name: str) -> Iterator[Key]:
        for kind in self._kinds_of(name):
            for item in self._cache.of_kind(*kind):
                yield item.key

    def requests(
        self, item: Object, before: Object | None, *, is_gone: bool, is_own_status: bool
    ) -> Iterable[Key]:
        """The planner's own status of an instance concerns its definition alone."""
        key = item.key
        if cluster_view.is_revision(item):
            self._possessions.observe(item, is_gone=is_gone)
            if before is None and not is_gone:
                # Its objects may have been heard of before it.
                yield from self._owner_of(item)
            return
        if key.kind == revisions.GRAPH_KIND:
            if before is None and not is_gone and labels.DEFINITION_NAME in item.labels:
                # It is granted now that it is there.
                yield request_for(item.labels[labels.DEFINITION_NAME])
            return
        if key.kind == revisions.KIND:
            return
        if is_definition(key):
            if not is_own_status:
                yield key
                yield from self._instances_of(item.name)
            return
        owner = self._definition_of.get((key.group, key.kind))
        if owner is not None:
            if is_gone or self._concerns_definition(owner, item, before):
                yield request_for(owner)
            if not is_own_status:
                yield key
        if labels.INSTANCE_ID in item.labels:
            yield from self._instance_with(item)
        if before is not None and before.labels != item.labels and labels.INSTANCE_ID in before.labels:
            yield from self._instance_with(before)
        for name, kinds in self._external_kinds.items():
            if (key.group, key.kind) in kinds:
                yield from self._instances_of(name)
        if key.kind == "CustomResourceDefinition" and labels.DEFINITION_NAME in item.labels:
            yield request_for(item.labels[labels.DEFINITION_NAME])
        # What stood in somebody's way may have gone, or be nobody's now.
        yield from self._in_the_way.of(key)

    def _concerns_definition(self, name: str, item: Object, before: Object | None) -> bool:
        """Gates of its own may read anything of an instance; without them, most of what happens to one is its own."""
        accepted = self._accepted.get(name)
        if accepted is None or before is None or accepted.newest.propagate_when:
            return True
        return rollouts.has_moved(before, item)

    def _owner_of(self, revision: Object) -> Iterator[Key]:
        found = revision.labels
        for group, kind in self._kinds_of(found.get(labels.DEFINITION_NAME, "")):
            for namespace in (revision.namespace, ""):
                key = Key(group, kind, namespace, found.get(labels.INSTANCE_NAME, ""))
                instance = self._cache.get(key)
                if instance is not None and instance.uid == found.get(labels.INSTANCE_ID):
                    yield key

    def is_part(self, item: Object) -> bool:
        """Whether it is an instance's. Its labels alone say little: anybody may put them onto what is his."""
        return self._possessions.is_part(item) or any(self._instance_with(item))

    def _instance_with(self, item: Object) -> Iterator[Key]:
        """The instance that the labels of one of its objects name."""
        found = item.labels
        if labels.INSTANCE_NAME not in found or not self._possessions.may_be_part(item):
            return
        for group, kind in self._kinds_of_owner(found):
            place = found.get(labels.INSTANCE_NAMESPACE, "")
            key = Key(group, kind, place, found[labels.INSTANCE_NAME])
            instance = self._cache.get(key)
            if instance is not None and instance.uid == found.get(labels.INSTANCE_ID):
                yield key

    def _kinds_of_owner(self, found: Mapping[str, str]) -> list[tuple[str, str]]:
        """By the kind of the instance: an object that is an instance itself carries the name of its own definition."""
        named = found.get(labels.INSTANCE_KIND)
        if named is None:
            return self._kinds_of(found.get(labels.DEFINITION_NAME, ""))
        return [(group, kind) for group, kind in self._definition_of if kind == named]

    def reconcile(self, request: Key, now: Instant) -> GraphPlan | None:
        plan = self.plan_of(request, now, self.planner_cache)
        if is_definition(request):
            self._serve(request.name, plan.rollout.accepted if isinstance(plan, DefinitionPlan) else None)
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
        accepted = self._accepted.get(self._definition_of.get((instance.group, instance.kind), ""))
        if accepted is None:
            top = self.plan_of(
                request_for(instance.labels.get(labels.DEFINITION_NAME, "")), now, planner_cache
            )
            accepted = top.rollout.accepted if isinstance(top, DefinitionPlan) else None
        if accepted is None or _kind_of(accepted) != (instance.group, instance.kind):
            # Its labels may name the definition of a graph that holds it, and not its own.
            return None
        # The cache may have heard of a pause that the definition was not looked at for yet.
        top_item = self._cache.get(request_for(accepted.name))
        is_paused = top_item is not None and labels.is_paused(top_item.annotations)
        return (
            accepted
            if is_paused == accepted.is_paused
            else msgspec.structs.replace(accepted, is_paused=is_paused)
        )

    def _serve(self, name: str, accepted: AcceptedGraph | None) -> None:
        before = self._accepted.pop(name, None)
        if accepted is None:
            return
        self._accepted[name] = accepted
        newest = accepted.newest
        kind = _kind_of(accepted)
        is_new = self._definition_of.get(kind) != name
        self._definition_of[kind] = name
        self._external_kinds[name] = frozenset(
            (group_of(node.api_version), node.kind)
            for graph in (newest, *accepted.graphs.values())
            for node in graph.nodes
            if node.external_ref is not None
        )
        if is_new or before is None or before.is_paused != accepted.is_paused or before.newest is not newest:
            self._enqueue_instances_of(name)
        elif accepted.let_on.keys() - before.let_on.keys():
            for item in self._cache.of_kind(*kind):
                if item.uid in accepted.let_on and item.uid not in before.let_on:
                    self._enqueue(item.key)


def _kind_of(accepted: AcceptedGraph) -> tuple[str, str]:
    """Of its instances."""
    return group_of(accepted.newest.api_version), accepted.newest.kind
