"""The graphs that are served: which definition has which instances, by kind, and whom the labels of an object name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from headgate.graph.compile import definition
from headgate.graph.reconcile import labels, rollouts
from headgate.graph.reconcile.cluster_view import ClusterView
from headgate.graph.reconcile.resolving import AcceptedGraph
from headgate.kernel.objects import Key, Object, group_of

InstanceKind = tuple[str, str]
"""Group and kind."""
_GROUP = "kro.run"


def request_for(name: str) -> Key:
    """The request that is about a definition."""
    return Key(_GROUP, definition.KIND, "", name)


def is_definition(request: Key) -> bool:
    return request.kind == definition.KIND and request.group == _GROUP


class AcceptedGraphs:
    def __init__(self, view: ClusterView) -> None:
        self._view = view
        self._definition_of: dict[InstanceKind, str] = {}
        self._accepted: dict[str, AcceptedGraph] = {}
        self._external_kinds: dict[str, frozenset[InstanceKind]] = {}

    def definition_of(self, kind: InstanceKind) -> str | None:
        return self._definition_of.get(kind)

    def claim(self, kind: InstanceKind, name: str) -> None:
        """Instances of a definition that may have gone."""
        self._definition_of[kind] = name

    def get(self, name: str | None) -> AcceptedGraph | None:
        return None if name is None else self._accepted.get(name)

    def instances_of(self, name: str) -> Iterator[Key]:
        for kind in self._kinds_of(name):
            for item in self._view.of_kind(*kind):
                yield item.key

    def readers_of(self, kind: InstanceKind) -> Iterator[Key]:
        """Instances of graphs that refer to objects of a kind which are not theirs."""
        for name, kinds in self._external_kinds.items():
            if kind in kinds:
                yield from self.instances_of(name)

    def is_moved_by(self, name: str, item: Object, before: Object | None) -> bool:
        """Gates of its own may read anything of an instance; without them, most of what happens to one is its own."""
        accepted = self._accepted.get(name)
        if accepted is None or before is None or accepted.newest.propagate_when:
            return True
        return rollouts.has_moved(before, item)

    def owners_of(self, revision: Object) -> Iterator[Key]:
        own_labels = revision.labels
        for group, kind in self._kinds_of(own_labels.get(labels.DEFINITION_NAME, "")):
            for namespace in (revision.namespace, ""):
                yield from self._known(
                    Key(group, kind, namespace, own_labels.get(labels.INSTANCE_NAME, "")), own_labels
                )

    def instances_named(self, item_labels: Mapping[str, str]) -> Iterator[Key]:
        """The instance that the labels of one of its objects name."""
        if labels.INSTANCE_NAME not in item_labels:
            return
        namespace = item_labels.get(labels.INSTANCE_NAMESPACE, "")
        for group, kind in self._kinds_of_owner(item_labels):
            yield from self._known(
                Key(group, kind, namespace, item_labels[labels.INSTANCE_NAME]), item_labels
            )

    def _known(self, key: Key, item_labels: Mapping[str, str]) -> Iterator[Key]:
        instance = self._view.get(key)
        if instance is not None and instance.uid == item_labels.get(labels.INSTANCE_ID):
            yield key

    def _kinds_of(self, name: str) -> list[InstanceKind]:
        return [kind for kind, owner in self._definition_of.items() if owner == name]

    def _kinds_of_owner(self, item_labels: Mapping[str, str]) -> list[InstanceKind]:
        """By the kind of the instance: an object that is an instance itself carries the name of its own definition."""
        named = item_labels.get(labels.INSTANCE_KIND)
        if named is None:
            return self._kinds_of(item_labels.get(labels.DEFINITION_NAME, ""))
        return [(group, kind) for group, kind in self._definition_of if kind == named]

    def with_pause(self, accepted: AcceptedGraph, instance: Object) -> AcceptedGraph | None:
        """As it holds for an instance now. Its labels may name the definition of a graph that holds it, and not its own;
        and the cache may have heard of a pause that the definition was not planned for yet."""
        if _kind_of(accepted) != (instance.group, instance.kind):
            return None
        top = self._view.get(request_for(accepted.name))
        is_paused = top is not None and labels.is_paused(top.annotations)
        if is_paused == accepted.is_paused:
            return accepted
        return msgspec.structs.replace(accepted, is_paused=is_paused)

    def accept(self, name: str, accepted: AcceptedGraph | None) -> Iterator[Key]:
        """What the definition's own plan has accepted by now. Instances that something changes for."""
        before = self._accepted.pop(name, None)
        if accepted is None:
            return
        self._accepted[name] = accepted
        newest, kind = accepted.newest, _kind_of(accepted)
        is_new = self._definition_of.get(kind) != name
        self._definition_of[kind] = name
        self._external_kinds[name] = frozenset(
            (group_of(node.api_version), node.kind)
            for graph in (newest, *accepted.graphs.values())
            for node in graph.nodes
            if node.external_ref is not None
        )
        if is_new or before is None or before.is_paused != accepted.is_paused or before.newest is not newest:
            yield from self.instances_of(name)
            return
        if accepted.let_on.keys() - before.let_on.keys():
            for item in self._view.of_kind(*kind):
                if item.uid in accepted.let_on and item.uid not in before.let_on:
                    yield item.key


def _kind_of(accepted: AcceptedGraph) -> InstanceKind:
    """Of its instances."""
    return group_of(accepted.newest.api_version), accepted.newest.kind
