"""Writes that the cluster does not take, told in a condition of the object that they were for, until they are taken."""

from collections.abc import Iterator

from headgate.cluster import port
from headgate.kernel import conditions
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Object, UpdateStatus


def told(item: Object, action: Action, words: str, now: Instant) -> Iterator[UpdateStatus]:
    """What is written so that the object says it in the server's own words; nothing if it does already."""
    key = port.key_of(action)
    message = f"{key.kind} {key.name}: {words}"
    known = conditions.refusal(item.status)
    if known is None or known.message != message:
        status = conditions.with_refusal(item.status, message, item.generation, now)
        yield UpdateStatus(item.key, item.uid, status)


def taken_back(item: Object) -> Iterator[UpdateStatus]:
    """What is written once everything was taken; nothing if nobody had said otherwise."""
    if conditions.refusal(item.status) is not None:
        yield UpdateStatus(item.key, item.uid, conditions.without_refusal(item.status))
