"""What an operator orders, as edits of a definition or an instance. They are ordinary writes: whoever may edit it may do
the same."""

import msgspec

from headgate.graph.reconcile import labels
from headgate.kernel.objects import Object


def pause(item: Object) -> Object:
    """Of a definition: no instance takes another graph revision, and none of their objects another content."""
    if labels.is_paused(item.annotations):
        return item
    return msgspec.structs.replace(item, annotations={**item.annotations, labels.PROPAGATION: labels.PAUSED})


def resume(item: Object) -> Object:
    if not labels.is_paused(item.annotations):
        return item
    kept = {key: value for key, value in item.annotations.items() if key != labels.PROPAGATION}
    return msgspec.structs.replace(item, annotations=kept)
