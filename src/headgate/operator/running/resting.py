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
LEAST_SHARE, MOST_SHARE = instants.seconds(0.1), instants.seconds(1)
"""Twice that longer for each other that changes at the same time: where hundreds are rolled the server is busy with them,
none is done within a second, and telling of each that it is not would cost as much as the roll."""
LONGEST_REST = instants.minutes(5)

_LONG_AGO: Instant = 0


class RestingStatuses:
    """Only the last write of a pass can wait: what follows a write may rely on it."""

    def __init__(self) -> None:
        self._since: dict[Key, Instant] = {}
        self._roll = _Roll()

    def rests(self, request: Key, actions: Sequence[Action], now: Instant) -> Instant | None:
        """Until when the last of the actions waits; None if it does not."""
        last = actions[-1] if actions else None
        if not isinstance(last, UpdateStatus) or last.key != request or _is_settled(last.status):
            self._since.pop(request, None)
            self._roll.ends(request, now)
            return None
        if _is_changing(last.status):
            self._roll.begins(request, now)
        else:
            self._roll.forget(request)
        until = self._since.setdefault(request, now) + self._roll.rest(request)
        if until <= now:
            del self._since[request]
            return None
        return until

    def end(self, request: Key) -> None:
        """It has rested long enough."""
        if request in self._since:
            self._since[request] = _LONG_AGO

    def forget(self, request: Key) -> None:
        self._since.pop(request, None)
        self._roll.forget(request)


class _Roll:
    """Those that change at the same time, from the first until none is left, and how long that takes."""

    def __init__(self) -> None:
        self._begun: dict[Key, Instant] = {}
        self._most = 0
        self._share = self._share_before = LEAST_SHARE
        """Of the time that the slowest took, what falls to each; in this roll and in the one before it."""

    def begins(self, request: Key, now: Instant) -> None:
        self._begun.setdefault(request, now)
        self._most = max(self._most, len(self._begun))

    def ends(self, request: Key, now: Instant) -> None:
        begun = self._begun.get(request)
        if begun is not None:
            self._share = max(self._share, min((now - begun) // self._most, MOST_SHARE))
            self.forget(request)

    def forget(self, request: Key) -> None:
        self._begun.pop(request, None)
        if not self._begun and self._most:
            self._share_before, self._share, self._most = self._share, LEAST_SHARE, 0

    def rest(self, request: Key) -> int:
        """About twice as long as the slowest of the others took, or would by how it went before. One that changes alone rests
        no longer than any other."""
        if request not in self._begun:
            return REST
        return min(REST + 2 * max(self._share, self._share_before) * (self._most - 1), LONGEST_REST)


def _is_settled(status: Mapping[str, Any]) -> bool:
    """Whether all of its conditions hold. Others go by that, so it is told at once."""
    listed = status.get("conditions")
    return isinstance(listed, list) and all(
        isinstance(each, Mapping) and each.get("status") == "True" for each in listed
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
