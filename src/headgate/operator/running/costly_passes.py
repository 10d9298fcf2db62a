"""Passes that take long are made less often: what is heard meanwhile is looked at together."""

from __future__ import annotations

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key

LONGEST_REST_SECONDS = 1.0


class CostlyPasses:
    """A definition is looked at whenever one of its instances gets on, which with many instances is all the time, and
    each look goes over all of them."""

    def __init__(self, short_seconds: float, rests: int) -> None:
        """After a pass it rests so many times as long as the pass took; not after one that was short."""
        self._short_seconds = short_seconds
        self._rests = rests
        self._free_at: dict[Key, Instant] = {}

    def took(self, request: Key, seconds: float, now: Instant) -> None:
        if seconds > self._short_seconds:
            rest = min(seconds * self._rests, LONGEST_REST_SECONDS)
            self._free_at[request] = now + instants.seconds(rest)

    def until(self, request: Key, now: Instant) -> Instant | None:
        """When it may be looked at again; None if it may now."""
        free_at = self._free_at.get(request)
        if free_at is None:
            return None
        if free_at <= now:
            del self._free_at[request]
            return None
        return free_at

    def forget(self, request: Key) -> None:
        self._free_at.pop(request, None)
