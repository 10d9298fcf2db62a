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
    """After a pause, or after all."""
    is_paused = labels.is_paused(item.annotations)
    over = {labels.ABORT, labels.PROPAGATION} if is_paused else {labels.ABORT}
    if not over & item.annotations.keys():
        return item
    kept = {key: value for key, value in item.annotations.items() if key not in over}
    return msgspec.structs.replace(item, annotations=kept)


def abort(item: Object, number: int) -> Object:
    """What is not yet at the revision of that number, of a definition the graph revision, stays where it is."""
    if labels.is_given_up(item.annotations, number):
        return item
    return msgspec.structs.replace(item, annotations={**item.annotations, labels.ABORT: str(number)})
