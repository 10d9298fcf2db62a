"""What is in the way of a unit: why, what can end it, and when the unit is looked at again."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headgate.fleet import wakes
from headgate.fleet.state import Judged
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.wakes import Wake

ASKS_PEOPLE = ("approval", "scopedVersion")


class Hindrance(msgspec.Struct):
    """What keeps a unit from starting, collected over the candidates that were tried."""

    wakes: list[Wake] = []
    wake_at: Instant | None = None
    reason: Reason | None = None
    """That of the first gate that did not allow the newest candidate."""

    def add(self, judged: Judged) -> None:
        if not judged.is_allowed:
            self.hold(judged.verdict.reason)
        self.wakes.extend(judged.wakes)
        if judged.rule is not None:
            self.wakes.append(wakes.skips(judged.rule.id))
        self.look_again(judged.verdict.requeue_at)

    def stop_at(self, judged: Judged, passed: Sequence[Judged]) -> None:
        """What people allowed on the way there they can take back: whoever has to approve then is asked at once, not when
        the gate that is in the way has opened."""
        self.add(judged)
        self.watch_people(passed)

    def watch_people(self, passed: Sequence[Judged]) -> None:
        for one in passed:
            if one.kind in ASKS_PEOPLE or "skip" in one.verdict.details:
                self.add(one)

    def hold(self, reason: Reason) -> None:
        """What was in the way first counts."""
        self.reason = self.reason or reason

    def join(self, other: Hindrance) -> None:
        """The same is in the way here."""
        if other.reason is not None:
            self.hold(other.reason)
        self.wakes.extend(other.wakes)
        self.look_again(other.wake_at)

    def look_again(self, at: Instant | None) -> None:
        if at is not None and (self.wake_at is None or at < self.wake_at):
            self.wake_at = at
