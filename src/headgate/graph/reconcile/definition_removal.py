"""A definition on its way out. While it has instances it stays and looks after them: they would be nobody's without it,
and with their kind they would be gone. It is said how many there are, and what would help."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from headgate.graph.compile import loops
from headgate.graph.reconcile import cluster_view, labels
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
    found = view.of_kind(*loops.defined_kind(definition.spec))
    return sorted(found, key=lambda item: (item.namespace, item.name))


def held(definition: Object) -> list[Action]:
    """A definition that serves a kind cannot go by itself."""
    if definition.deleted_at is not None or labels.FINALIZER in definition.finalizers:
        return []
    return [
        Update(msgspec.structs.replace(definition, finalizers=(*definition.finalizers, labels.FINALIZER)))
    ]


def asked(definition: Object) -> str:
    return definition.annotations.get(labels.DELETION, "").lower()


def deletions(definition: Object, instances: Iterable[Object]) -> list[Action]:
    """Of its instances, if that was asked for."""
    if asked(definition) not in (labels.CASCADE, labels.CASCADE_WITH_KIND):
        return []
    return [
        DeleteObject(item.key, item.uid, f"its definition {definition.name} is being deleted")
        for item in instances
        if item.deleted_at is None
    ]


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


def condition(definition: Object, instances: list[Object]) -> Condition:
    count = "1 instance is" if len(instances) == 1 else f"{len(instances)} instances are"
    shown = [f"{item.namespace}/{item.name}" if item.namespace else item.name for item in instances]
    named = ", ".join(shown[:_MOST_NAMED]) + (", ..." if len(shown) > _MOST_NAMED else "")
    if deletions(definition, instances) or all(item.deleted_at is not None for item in instances):
        return Condition(DELETING, "True", Reason.INSTANCES_GOING, f"{count} still on the way out: {named}")
    message = f"{count} left: {named}; delete them, or ask for that with the annotation {labels.DELETION}: {labels.CASCADE}"
    return Condition(DELETING, "False", Reason.INSTANCES_LEFT, message)
