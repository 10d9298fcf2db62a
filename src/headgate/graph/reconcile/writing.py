"""Writes what was granted into objects, and tells whether it is there."""

from __future__ import annotations

from collections.abc import Container

from headgate.graph.reconcile import applysets, contents, labels
from headgate.graph.reconcile.nodes import NodeState, NodeUnit
from headgate.graph.reconcile.planner_cache import PlannerCache
from headgate.kernel.objects import Action, Create, Object, Update


class Writer:
    def __init__(self, instance: Object, definition: str, planner_cache: PlannerCache) -> None:
        self._instance = instance
        self._definition = definition
        self._planner_cache = planner_cache
        self.actions: list[Action] = []

    def write(
        self, state: NodeState, unit: NodeUnit, content: contents.Content, before: contents.Content | None
    ) -> None:
        marks = self._marks(state, unit)
        annotations = {
            labels.REVISION: str(unit.number),
            labels.CONTENT: unit.grant.hash if unit.grant is not None else "",
            labels.APPLY_ORDER: str(state.node.layer),
        }
        unit.is_written = True
        if unit.object is None:
            self.actions.append(Create(contents.created(content, marks, annotations)))
        else:
            self.actions.append(Update(contents.written(unit.object, content, before, marks, annotations)))

    def _marks(self, state: NodeState, unit: NodeUnit) -> dict[str, str]:
        marks = {
            labels.OWNED: "true",
            labels.MANAGED_BY: labels.MANAGER,
            labels.DEFINITION_NAME: self._definition,
            labels.INSTANCE_ID: self._instance.uid,
            labels.INSTANCE_NAME: self._instance.name,
            labels.INSTANCE_NAMESPACE: self._instance.namespace,
            labels.INSTANCE_KIND: self._instance.kind,
            labels.NODE_ID: state.id,
            applysets.PART_OF: applysets.id_of(self._instance),
        }
        if state.node.is_collection and unit.wanted is not None:
            marks[labels.COLLECTION_INDEX] = str(unit.wanted.index)
            marks[labels.COLLECTION_SIZE] = str(len(state.units))
        return marks

    def is_in_force(
        self, item: Object | None, content: contents.Content, content_hash: str, makers: Container[str]
    ) -> bool:
        """`makers` are the nodes that may have written it: it may have changed hands since."""
        if item is None or item.annotations.get(labels.CONTENT) != content_hash:
            return False
        if self._planner_cache.is_in_force(item, content_hash):
            return True
        marks = {labels.INSTANCE_ID: self._instance.uid}
        if item.labels.get(labels.NODE_ID) not in makers or not contents.is_in_force(item, content, marks):
            return False
        self._planner_cache.keep_in_force(item, content_hash)
        return True
