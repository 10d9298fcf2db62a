"""Whom a change or a plan concerns: the definitions and instances to look at again, in the order in which they are told.

A definition concerns its instances. Any other object may be an instance, an object of one, and one that instances read,
all at once; and it may stand in the way of an instance that wants one of that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headgate.graph.compile import definition
from headgate.graph.reconcile import cluster_view, labels, revisions, served_kinds
from headgate.graph.reconcile.accepted_graphs import AcceptedGraphs, is_definition, request_for
from headgate.graph.reconcile.cluster_view import WholeClusterView
from headgate.graph.reconcile.possessions import ObjectsInTheWay, Possessions
from headgate.graph.reconcile.propagate import DefinitionPlan, InstancePlan
from headgate.kernel.objects import Key, Object


class ConcernedRequests:
    """Keeps up with every change and every plan: what graphs are accepted, what instances have, and what they miss."""

    def __init__(self, view: WholeClusterView, graphs: AcceptedGraphs) -> None:
        self._view = view
        self._graphs = graphs
        self._possessions = Possessions(view)
        self._in_the_way = ObjectsInTheWay()

    def of_everything(self) -> Iterator[Key]:
        kinds = served_kinds.by_definition(self._view)
        for item in self._view:
            kind = (item.group, item.kind)
            if is_definition(item.key) and item.api_version == definition.API_VERSION:
                yield from (item.key, *self._graphs.instances_of(item.name))
            elif labels.FINALIZER in item.finalizers and kind in kinds:
                # An instance; it may have to go after its definition has gone.
                self._graphs.claim(kind, kinds[kind])
                yield item.key

    def of_change(
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
            return self._of_part(item, before, is_gone=is_gone, is_own_status=is_own_status)
        return () if is_own_status else (key, *self._graphs.instances_of(item.name))

    def _named_definition(self, item: Object) -> Iterator[Key]:
        if labels.DEFINITION_NAME in item.labels:
            yield request_for(item.labels[labels.DEFINITION_NAME])

    def _of_part(
        self, item: Object, before: Object | None, *, is_gone: bool, is_own_status: bool
    ) -> Iterator[Key]:
        key = item.key
        owner = self._graphs.definition_of((key.group, key.kind))
        if owner is not None:
            if is_gone or self._graphs.is_moved_by(owner, item, before):
                yield request_for(owner)
            if not is_own_status:
                yield key
        if labels.INSTANCE_ID in item.labels:
            yield from self.instance_with(item)
        if before is not None and before.labels != item.labels and labels.INSTANCE_ID in before.labels:
            yield from self.instance_with(before)
        yield from self._graphs.readers_of((key.group, key.kind))
        if key.kind == "CustomResourceDefinition":
            yield from self._named_definition(item)
        # What stood in somebody's way may have gone, or be nobody's now.
        yield from self._in_the_way.of(key)

    def of_plan(self, request: Key, plan: DefinitionPlan | InstancePlan | None) -> Iterator[Key]:
        if is_definition(request):
            accepted = plan.rollout.accepted if isinstance(plan, DefinitionPlan) else None
            yield from self._graphs.accept(request.name, accepted)
        else:
            instance_pass = plan.instance_pass if isinstance(plan, InstancePlan) else None
            units = instance_pass.units if instance_pass is not None else ()
            self._in_the_way.keep(request, frozenset(unit.key for unit in units if unit.problem))

    def instance_with(self, item: Object) -> Iterator[Key]:
        """The instance that an object is a part of, as far as is known."""
        if labels.INSTANCE_NAME in item.labels and self._possessions.may_be_part(item):
            yield from self._graphs.instances_named(item.labels)

    def is_part(self, item: Object) -> bool:
        """Whether it is an instance's. Its labels alone say little: anybody may put them onto what is his."""
        return self._possessions.is_part(item) or any(self.instance_with(item))
