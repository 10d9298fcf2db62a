"""Which graph revision an instance was granted: the one that its newest revision is made from.

That revision is written before any object of it, so a grant needs no write of its own, and whoever was let on and did
not come to write it was granted nothing.
"""

from __future__ import annotations

from headgate.graph.reconcile import cluster_view, conditions, labels, revisions
from headgate.kernel.objects import Object


def number_of(instance: Object, view: cluster_view.ClusterView) -> int:
    """0 for none yet. Where somebody took its revisions away its status still says what it had; one that has neither has
    only begun."""
    newest, inputs = -1, None
    for item in view.parts_of(instance.uid):
        if not cluster_view.is_revision(item):
            continue
        number, stored_inputs = item.spec.get("number"), item.status.get("inputs")
        if not isinstance(number, int) or number <= newest or not isinstance(stored_inputs, dict):
            continue
        # Last, because it compares names, and all instances are asked whenever a definition is looked at.
        if revisions.is_of(item, instance):
            newest, inputs = number, stored_inputs
    if inputs is not None:
        return int(inputs.get("graphRevision") or 0)
    own = instance.status.get(conditions.OWN) or {}
    started_on = instance.annotations.get(labels.STARTED_ON, "")
    is_number = started_on.isascii() and started_on.isdigit()
    return int(own.get("graphRevision") or 0) or (int(started_on) if is_number else 0)
