"""The event loop: from one moment at which something happens to the next.

At one instant what agents (and the cluster) do comes first, then what comes from outside, then one decision. What a
decision starts may end at the very same instant (a job without duration, a measurement): then the instant goes round
again.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.simulate import parts as world
from headgate.simulate.rollout import SimulatedFleet

MOST_ROUNDS_AN_INSTANT = 10_000


class Outside(Protocol):
    """What people and programs do to the fleet: each moment of it is played once, in order."""

    def next_moment(self) -> Instant | None: ...

    def play(self, now: Instant) -> None: ...


class Nobody:
    """Nothing comes from outside: the fleet is left to itself."""

    def next_moment(self) -> Instant | None:
        return None

    def play(self, now: Instant) -> None: ...


class Ended(msgspec.Struct, frozen=True):
    """`was_cut` says that something was left to happen."""

    at: Instant
    was_cut: bool


class RunLoop:
    def __init__(
        self,
        rollout: SimulatedFleet,
        outside: Outside,
        until: Instant,
        *,
        parts: Sequence[world.SimulatedLevel] = (),
        most_jobs: int | None = None,
        is_enough: Callable[[], bool] = lambda: False,
    ) -> None:
        """`is_enough` is asked between moments whether somebody has waited for long enough."""
        self._rollout = rollout
        self._outside = outside
        self._until = until
        self._parts = parts
        self._levels = [part for part in parts if isinstance(part, world.Level)]
        self._most_jobs = most_jobs
        self._is_enough = is_enough
        self._is_endless = False

    def run(self, start: Instant) -> Ended:
        now = start
        self._instant(now)
        while not self._is_endless and not self._is_full() and not self._is_enough():
            upcoming = self._next_moment(now)
            if upcoming is None:
                return Ended(now, was_cut=False)
            if upcoming > self._until:
                return Ended(max(now, self._until), was_cut=True)
            now = upcoming
            self._instant(now)
        return Ended(now, was_cut=True)

    def is_converged(self, now: Instant) -> bool:
        return self._rollout.engine.is_converged(now) and all(part.is_converged(now) for part in self._parts)

    def _is_full(self) -> bool:
        return self._most_jobs is not None and len(self._rollout.watch.jobs) > self._most_jobs

    def _next_moment(self, now: Instant) -> Instant | None:
        """Wake-ups alone keep a run going only while something has not converged, and repetitions never do."""
        moments = [moment for part in self._parts if (moment := part.next_event()) is not None]
        has_news = bool(moments) and not (self._levels and all(one.is_repeating() for one in self._levels))
        for moment in (self._rollout.next_due(), self._outside.next_moment()):
            if moment is not None:
                moments.append(moment)
                has_news = True
        wake = self._rollout.engine.next_wake()
        if wake is not None and (has_news or not self.is_converged(now)):
            moments.append(max(wake, now))
            has_news = True
        return min(moments) if has_news else None

    def _instant(self, now: Instant) -> None:
        rollout = self._rollout
        rollout.watch.now = now
        for _ in range(MOST_ROUNDS_AN_INSTANT):
            rollout.deliver(now)
            for part in self._parts:
                part.advance(now)
            self._outside.play(now)
            rollout.decide(now)
            for part in self._parts:
                part.decide(now)
            if not self._is_again_due(now) or self._is_enough():
                return
        self._is_endless = True
        rollout.warn(now, "", "", f"stopped: the moment {instants.show(now)} never ends")

    def _is_again_due(self, now: Instant) -> bool:
        moments = [
            self._rollout.next_due(),
            self._rollout.engine.next_wake(),
            *(part.next_event() for part in self._parts),
        ]
        return any(moment is not None and moment <= now for moment in moments)
