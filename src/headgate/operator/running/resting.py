"""Statuses that say something is under way wait a moment: what comes next is often there before anybody has read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.graph.reconcile import conditions
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Key, UpdateStatus

REST = instants.seconds(1)
"""How long at most. A status that is written late costs a little of what people see, one that is written each time costs
the server a write for every step of every object."""
SHARE = instants.seconds(0.1)
"""So much longer for each other that rests too, while its own change is under way: where hundreds are rolled, the server is
busy with them, none is done within a second, and telling of each that it is not would cost as much as the roll."""
LONGEST_REST = instants.minutes(1)

_LONG_AGO: Instant = 0


class RestingStatuses:
    """Only the last write of a pass can wait: what follows a write may rely on it."""

    def __init__(self) -> None:
        self._since: dict[Key, Instant] = {}

    def rests(self, request: Key, actions: Sequence[Action], now: Instant) -> Instant | None:
        """Until when the last of the actions waits; None if it does not."""
        last = actions[-1] if actions else None
        if not isinstance(last, UpdateStatus) or last.key != request or _is_settled(last.status):
            self._since.pop(request, None)
            return None
        until = self._since.setdefault(request, now) + self._rest(last.status)
        if until <= now:
            del self._since[request]
            return None
        return until

    def _rest(self, status: Mapping[str, Any]) -> int:
        others = len(self._since) - 1
        return min(REST + SHARE * others, LONGEST_REST) if _is_changing(status) else REST

    def end(self, request: Key) -> None:
        """It has rested long enough."""
        if request in self._since:
            self._since[request] = _LONG_AGO

    def forget(self, request: Key) -> None:
        self._since.pop(request, None)


def _is_settled(status: Mapping[str, Any]) -> bool:
    """Whether all of its conditions hold. Others go by that, so it is told at once."""
    found = status.get("conditions")
    return isinstance(found, list) and all(
        isinstance(each, Mapping) and each.get("status") == "True" for each in found
    )


def _is_changing(status: Mapping[str, Any]) -> bool:
    """Whether it is of an instance whose last change has not come to its end, and in which nothing has failed. What was
    well and is not any more is news, however many it happens to."""
    own = status.get(conditions.OWN)
    return (
        isinstance(own, Mapping)
        and own.get("landedRevision") != own.get("revision")
        and status.get("state") != "ERROR"
    )
