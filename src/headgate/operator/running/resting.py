"""Statuses that say something is under way wait a moment: what comes next is often there before anybody has read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Key, UpdateStatus

REST = instants.seconds(1)
"""How long at least. A status that is written late costs a little of what people see, one that is written each time costs
the server a write for every step of every object."""
EACH = instants.seconds(0.25)
"""How much longer for each that rests: so no more than four a second are told that something is under way, however many
are. Of a few people see it soon; a wave of hundreds is worth its writes when they land."""
LONGEST_REST = instants.seconds(30)

_LONG_AGO: Instant = 0


class _Rest(NamedTuple):
    since: Instant
    length: int


class RestingStatuses:
    """Only the last write of a pass can wait: what follows a write may rely on it."""

    def __init__(self) -> None:
        self._rests: dict[Key, _Rest] = {}

    def rests(self, request: Key, actions: Sequence[Action], now: Instant) -> Instant | None:
        """Until when the last of the actions waits; None if it does not."""
        last = actions[-1] if actions else None
        if not isinstance(last, UpdateStatus) or last.key != request or _is_settled(last.status):
            self._rests.pop(request, None)
            return None
        rest = self._rests.setdefault(request, _Rest(now, REST))
        longest = min(max(rest.length, len(self._rests) * EACH), LONGEST_REST)
        until = rest.since + longest
        if until <= now:
            del self._rests[request]
            return None
        self._rests[request] = _Rest(rest.since, longest)
        return until

    def end(self, request: Key) -> None:
        """It has rested long enough."""
        if request in self._rests:
            self._rests[request] = _Rest(_LONG_AGO, REST)

    def forget(self, request: Key) -> None:
        self._rests.pop(request, None)


def _is_settled(status: Mapping[str, Any]) -> bool:
    """Whether all of its conditions hold. Others go by that, so it is told at once."""
    found = status.get("conditions")
    return isinstance(found, list) and all(
        isinstance(each, Mapping) and each.get("status") == "True" for each in found
    )
