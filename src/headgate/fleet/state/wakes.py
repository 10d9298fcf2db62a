"""Everything that a unit of the fleet can wait for, who waits for what, and until when.

What wakes has one constructor for who waits and for who wakes: a name that is spelled in one place cannot be waited for
under another name than it happens under. Timers are data: nothing here sleeps or asks a clock.
"""

from __future__ import annotations

import heapq
from collections import Counter

from headgate.fleet.state.units import Unit
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.wakes import Wake

FREEZES = Wake(("freeze",))
SIGNALS = Wake(("signals",))
ENVIRONMENTS = Wake(("environments",))
RANKS = Wake(("ranks",))
"""Places in a rollout order have moved."""


def resource(name: str) -> Wake:
    """Something began, ended or changed on the resource."""
    return Wake(("resource", name))


def pair(deployment: str, environment: str) -> Wake:
    """A target of the deployment in the environment has changed."""
    return Wake(("pair", deployment, environment))


def members(deployment: str) -> Wake:
    """The targets of the deployment are others than before."""
    return Wake(("members", deployment))


def versions(deployment: str) -> Wake:
    """There is a version that was not there, or not allowed, before."""
    return Wake(("versions", deployment))


def stages(version: str, environment: str) -> Wake:
    """The version has come further in the environment."""
    return Wake(("stages", version, environment))


def votes(version: str, environment: str) -> Wake:
    return Wake(("votes", version, environment))


def skips(rule: str) -> Wake:
    return Wake(("skips", rule))


def breaker(rule: str, scope: str) -> Wake:
    """A stopped line goes on, or one has stopped."""
    return Wake(("breaker", rule, scope))


def slot(resource_name: str) -> Wake:
    """The resource has a slot, or needs none any more."""
    return Wake(("slot", resource_name))


def slots(rule: str) -> Wake:
    """A slot of the rule is free."""
    return Wake(("slots", rule))


def site(rule: str, resource_name: str) -> Wake:
    """A cycle of the rule has begun or ended on the resource, in whatever environment."""
    return Wake(("site", rule, resource_name))


class Waiting:
    """Every unit that has not converged stands here under each thing that can wake it, and has its next time."""

    def __init__(self) -> None:
        self._by_wake: dict[Wake, dict[Unit, None]] = {}
        self._timers: list[tuple[Instant, str, Unit]] = []
        self.dirty: dict[Unit, None] = {}
        self.counts: Counter[Reason] = Counter()
        """How many units wait for each reason."""

    def touch(self, unit: Unit) -> None:
        """The unit is looked at in the next decision."""
        self.dirty[unit] = None

    def wait(
        self, unit: Unit, wakes: tuple[Wake, ...], requeue_at: Instant | None, held_by: Reason | None = None
    ) -> None:
        """Replaces what the unit waited for, each once, and why."""
        self._count(unit, held_by)
        if wakes != unit.waits:
            if unit.waits:
                self._leave(unit)
            for wake in wakes:
                units = self._by_wake.get(wake)
                if units is None:
                    units = self._by_wake[wake] = {}
                units[unit] = None
            unit.waits = wakes
        if requeue_at != unit.requeue_at:
            unit.requeue_at = requeue_at
            if requeue_at is not None:
                heapq.heappush(self._timers, (requeue_at, unit.sort_key, unit))

    def forget(self, unit: Unit) -> None:
        self._leave(unit)
        self._count(unit, None)
        unit.waits = ()
        unit.requeue_at = None
        self.dirty.pop(unit, None)

    def _leave(self, unit: Unit) -> None:
        for wake in unit.waits:
            units = self._by_wake.get(wake)
            if units is not None:
                units.pop(unit, None)
                if not units:
                    del self._by_wake[wake]

    def _count(self, unit: Unit, held_by: Reason | None) -> None:
        """Kept while units move, so that whoever asks how many wait for what need not go through all of them."""
        if held_by is unit.held_by:
            return
        if unit.held_by is not None:
            self.counts[unit.held_by] -= 1
        if held_by is not None:
            self.counts[held_by] += 1
        unit.held_by = held_by

    def happened(self, wake: Wake) -> None:
        for unit in self._by_wake.get(wake, ()):
            self.dirty[unit] = None

    def waiters(self, wake: Wake) -> list[Unit]:
        return list(self._by_wake.get(wake, ()))

    def is_timed(self, unit: Unit) -> bool:
        """Whether the clock will wake it when it is due; for those who check."""
        return any(other is unit and at == unit.requeue_at for at, _, other in self._timers)

    def fire(self, now: Instant) -> None:
        while self._timers and self._timers[0][0] <= now:
            at, _, unit = heapq.heappop(self._timers)
            if unit.requeue_at == at:
                unit.requeue_at = None
                self.dirty[unit] = None

    def next_time(self) -> Instant | None:
        while self._timers and self._timers[0][2].requeue_at != self._timers[0][0]:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None
