"""The clock of the machine, and whether it can be believed.

A workspace's time never goes back, so a clock that is wrong for a moment must not get into its log. A clock that jumps
ahead of the time that has passed is doubted until it has stayed there for a while; one that differs from the
database's is doubted for as long as it does.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.store.port import UnavailableError

BOUND_SECONDS = 10.0
SETTLING_SECONDS = 60.0
_log = logging.getLogger("headgate.clock")


class ClockError(UnavailableError):
    """The clock of the machine and the time of the workspace differ too much: nothing is written meanwhile."""


def wall_clock() -> Instant:
    return time.time_ns() // 1_000


def steady_clock() -> Instant:
    """Counts also while the machine sleeps."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000


class ClockWatch:
    """Used from several threads."""

    def __init__(
        self,
        wall: Callable[[], Instant] = wall_clock,
        steady: Callable[[], Instant] = steady_clock,
        *,
        bound_seconds: float = BOUND_SECONDS,
        settling_seconds: float = SETTLING_SECONDS,
    ) -> None:
        self._wall = wall
        self._steady = steady
        self._bound = instants.seconds(bound_seconds)
        self._settling = instants.seconds(settling_seconds)
        self._lock = threading.Lock()
        self._offset = wall() - steady()
        self._jumped_at: Instant | None = None
        self._database: Instant = 0

    def now(self) -> Instant:
        """The time by which leases, claims and tokens end: a jump counts from when it is believed. Otherwise one that
        lasts for a moment would end them all."""
        with self._lock:
            return self._wall() if self._jump() is None else self._steady() + self._offset

    def compare(self, database_now: Instant) -> None:
        """By how much this clock is ahead of the database's, negative if behind."""
        self._database = self.now() - database_now

    def doubt(self) -> str | None:
        """Why the clock is not believed now, as a sentence."""
        if abs(self._database) > self._bound:
            side = "ahead of" if self._database > 0 else "behind"
            seconds = _seconds(abs(self._database))
            return f"the clock of this machine is {seconds} s {side} that of the database"
        with self._lock:
            return self._jump()

    def _jump(self) -> str | None:
        steady = self._steady()
        offset = self._wall() - steady
        ahead = offset - self._offset
        if ahead <= self._bound:
            self._offset, self._jumped_at = offset, None
            return None
        if self._jumped_at is None:
            self._jumped_at = steady
        if steady - self._jumped_at >= self._settling:
            _log.warning("the clock of this machine was set %s s ahead and stayed there", _seconds(ahead))
            self._offset, self._jumped_at = offset, None
            return None
        return f"the clock of this machine has just jumped {_seconds(ahead)} s ahead"


def _seconds(span: int) -> str:
    return f"{span / instants.MICROSECONDS_PER_SECOND:.0f}"


def ahead_sentence(ahead: int) -> str:
    """What is said of a workspace whose newest moment the machine has not come to."""
    return (
        f"the time of the workspace is {_seconds(ahead)} s ahead of the clock of this machine, so nothing is decided"
        " or written: set the clock right, or take the time back with `headgate doctor --repair-clock`"
    )
