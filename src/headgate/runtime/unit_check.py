"""Looks at a few targets at a time: whatever has not converged must say what it waits for, and be woken by it.

The promises NoStuckWithoutReason and MonotoneProgress, kept an eye on where nobody simulates. In a sound engine it finds
nothing, so it may take its time: all targets are looked at in the end, never all at once.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

from headgate.fleet.engine.engine import Engine
from headgate.kernel import instants
from headgate.kernel.instants import Instant

LONGEST_SECONDS = 0.02
_A_TIME = 20
_OVERDUE = instants.seconds(120)
"""A unit whose time has come is looked at by the next decision; this is long after that."""


class UnitCheck:
    def __init__(self) -> None:
        self._ahead: Iterator[str] = iter(())
        self.stuck: dict[str, str] = {}
        """Targets with nothing to wait for, and what is said of each."""

    def check(self, engine: Engine, now: Instant) -> None:
        """Those that were stuck first, then on from where it stopped, for as long as it may take."""
        end = time.monotonic() + LONGEST_SECONDS
        known, self.stuck = self.stuck, {}
        self._judge(engine, [name for name in known if name in engine.state.targets], now)
        while time.monotonic() < end:
            names = list(itertools.islice(self._ahead, _A_TIME))
            if not names:
                self._ahead = iter(list(engine.state.targets))
                return
            self._judge(engine, [name for name in names if name in engine.state.targets], now)

    def _judge(self, engine: Engine, names: list[str], now: Instant) -> None:
        dirty = engine.state.waiting.dirty
        for name, reason in engine.unconverged(now, names):
            unit = engine.state.unit_of(engine.state.targets[name])
            if unit in dirty:
                continue
            if not reason:
                self.stuck[name] = "has not converged, and waits for nothing"
            elif unit.requeue_at is not None and unit.requeue_at < now - _OVERDUE:
                since = instants.show_to_the_second(unit.requeue_at)
                self.stuck[name] = f"was to be looked at again at {since}, and was not"

    def sentence(self) -> str | None:
        """None where everything is in order."""
        if not self.stuck:
            return None
        first = ", ".join(f"{name} {text}" for name, text in itertools.islice(self.stuck.items(), 3))
        others = len(self.stuck) - 3
        return f"{first}, and {others} more" if others > 0 else first
