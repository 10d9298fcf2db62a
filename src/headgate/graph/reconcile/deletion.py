"""An instance on its way out takes its objects with it, dependents first, and goes when the last of them is gone.

Neither the graph nor any expression is needed: the objects say themselves when their turn is.
"""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.graph.reconcile import cluster_view, conditions, contents, labels, revisions
from headgate.kernel.conditions import Condition, documents
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, DeleteObject, Object, Update, UpdateStatus

_FOREGROUND = "foregroundDeletion"
"""By which Kubernetes deletes all that an object owns before the object itself, its revisions among them."""


class Leaving(msgspec.Struct, frozen=True):
    actions: tuple[Action, ...]
    left: tuple[Object, ...]
    """What is still there."""


def reconcile(instance: Object, view: cluster_view.ClusterView, now: Instant) -> Leaving:
    left = _left(instance, list(view.parts_of(instance.uid)))
    left.sort(key=lambda item: (item.kind, item.namespace, item.name))
    if not left:
        if labels.FINALIZER not in instance.finalizers:
            return Leaving((), ())
        rest = tuple(name for name in instance.finalizers if name != labels.FINALIZER)
        return Leaving((Update(msgspec.structs.replace(instance, finalizers=rest)),), ())
    turn = max(map(_turn, left))
    actions: list[Action] = [
        DeleteObject(item.key, item.uid, f"its instance {instance.name} is being deleted")
        for item in left
        if _turn(item) == turn and item.deleted_at is None
    ]
    status = _status(instance, len(left), now)
    if status != instance.status:
        actions.append(UpdateStatus(instance.key, instance.uid, status))
    return Leaving(tuple(actions), tuple(left))


def _left(instance: Object, parts: list[Object]) -> list[Object]:
    """What the instance was granted and is there. Others may have put its id onto what is theirs, or onto a copy of what
    is its own. Where its revisions go before it, as they do when it is deleted in the foreground, nothing but all the
    marks of an object tells."""
    objects = [item for item in parts if not cluster_view.is_revision(item)]
    own = cluster_view.revisions_among(parts, instance)
    if not own or _FOREGROUND in instance.finalizers:
        return [item for item in objects if _is_marked(item, instance)]
    return [item for item in objects if any(_grants(each, item) for each in own)]


def _grants(revision: Object, item: Object) -> bool:
    return revisions.grants(revision, contents.key_text(item.key))


def _is_marked(item: Object, instance: Object) -> bool:
    marks = {
        labels.INSTANCE_NAME: instance.name,
        labels.INSTANCE_NAMESPACE: instance.namespace,
        labels.INSTANCE_KIND: instance.kind,
    }
    return (
        marks.items() <= item.labels.items()
        and labels.NODE_ID in item.labels
        and labels.CONTENT in item.annotations
    )


def _turn(item: Object) -> int:
    """What does not say goes last."""
    text = item.annotations.get(labels.APPLY_ORDER, "")
    return int(text) if text.isascii() and text.isdigit() else 0


def _status(instance: Object, count: int, now: Instant) -> dict[str, Any]:
    noun = "object is" if count == 1 else "objects are"
    message = f"{count} {noun} still there"
    own_conditions = (
        Condition(conditions.READY, "Unknown", Reason.UNDER_DELETION, message),
        Condition(conditions.RESOURCES_READY, "Unknown", Reason.UNDER_DELETION, message),
    )
    return {
        **instance.status,
        "state": "DELETING",
        "conditions": documents(own_conditions, instance.status, instance.generation, now),
    }
