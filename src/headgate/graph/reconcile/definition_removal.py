"""A definition on its way out. While it has instances it stays and looks after them: they would be nobody's without it,
and with their kind they would be gone. It is said how many there are, and what would help."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from headgate.graph.compile import loops
from headgate.graph.reconcile import cluster_view, contents, labels
from headgate.kernel.conditions import Condition
from headgate.kernel.decisions import Reason
from headgate.kernel.objects import Action, DeleteObject, Object, Update

DELETING = "Deleting"
_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")
_MOST_NAMED = 5


def is_kept(definition: Object) -> bool:
    """Whether it is there for its instances still, deleted or not."""
    return definition.deleted_at is None or labels.FINALIZER in definition.finalizers


def instances_of(definition: Object, view: cluster_view.ClusterView) -> list[Object]:
    """Those on their way out included."""
    instances = view.of_kind(*loops.defined_kind(definition.spec))
    return sorted(instances, key=lambda item: (item.namespace, item.name))


def held(definition: Object) -> list[Action]:
    """A definition that serves a kind cannot go by itself."""
    if definition.deleted_at is not None or labels.FINALIZER in definition.finalizers:
        return []
    return [
        Update(msgspec.structs.replace(definition, finalizers=(*definition.finalizers, labels.FINALIZER)))
    ]


def asked(definition: Object) -> str:
    return definition.annotations.get(labels.DELETION, "").lower()


def deletions(
    definition: Object, instances: Iterable[Object], view: cluster_view.ClusterView
) -> list[Action]:
    """Of its instances, if that was asked for. What another graph holds would be made again at once, for ever."""
    if not _is_cascade(definition):
        return []
    return [
        DeleteObject(item.key, item.uid, f"its definition {definition.name} is being deleted")
        for item in instances
        if item.deleted_at is None and not _is_held(item, view)
    ]


def _is_cascade(definition: Object) -> bool:
    return asked(definition) in (labels.CASCADE, labels.CASCADE_WITH_KIND)


def _is_held(instance: Object, view: cluster_view.ClusterView) -> bool:
    """By another graph, of which it is an object."""
    holder = instance.labels.get(labels.INSTANCE_ID)
    return holder is not None and cluster_view.is_granted_to(view, holder, contents.key_text(instance.key))


def release(definition: Object, view: cluster_view.ClusterView) -> list[Action]:
    """Once it has no instances: its kind goes with it if that was asked for, and stays otherwise."""
    actions: list[Action] = []
    if asked(definition) == labels.CASCADE_WITH_KIND:
        actions += [
            DeleteObject(item.key, item.uid, f"its definition {definition.name} is being deleted")
            for item in view.of_kind(*_CRD)
            if item.labels.get(labels.DEFINITION_NAME) == definition.name
            and item.labels.get(labels.OWNED) == "true"
            and item.deleted_at is None
        ]
    rest = tuple(name for name in definition.finalizers if name != labels.FINALIZER)
    return [*actions, Update(msgspec.structs.replace(definition, finalizers=rest))]


def condition(definition: Object, instances: list[Object], view: cluster_view.ClusterView) -> Condition:
    count = "1 instance is" if len(instances) == 1 else f"{len(instances)} instances are"
    names = [f"{item.namespace}/{item.name}" if item.namespace else item.name for item in instances]
    named = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
    if deletions(definition, instances, view) or all(item.deleted_at is not None for item in instances):
        return Condition(DELETING, "True", Reason.INSTANCES_GOING, f"{count} still on the way out: {named}")
    ways = f"; delete them, or ask for that with the annotation {labels.DELETION}: {labels.CASCADE}"
    if _is_cascade(definition):
        ways = ", held by another graph; delete what holds it there"
    return Condition(DELETING, "False", Reason.INSTANCES_LEFT, f"{count} left: {named}{ways}")
