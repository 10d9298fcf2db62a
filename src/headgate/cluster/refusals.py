"""Writes that the cluster does not take: which of them news will end, and how the others are told in a condition of the
object that they were for, until they are taken."""

from collections.abc import Iterator

from headgate.cluster import port
from headgate.cluster.port import Conflict, NameTaken, NotNow, WriteRefused
from headgate.kernel import conditions
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Object, UpdateStatus

Untaken = Conflict | WriteRefused
"""How a write may end instead of being taken."""


def is_for_news(problem: Untaken) -> bool:
    """Whether news will end it: the plan was made on a state that has moved."""
    return isinstance(problem, Conflict) and not isinstance(problem, NameTaken)


def may_pass(problem: Untaken) -> bool:
    """Whether it may end by itself, so that it is no refusal yet."""
    return isinstance(problem, NameTaken | NotNow)


def noted(item: Object, action: Action, words: str, now: Instant) -> Iterator[UpdateStatus]:
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
