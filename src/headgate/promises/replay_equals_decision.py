"""A state that is written out reads back as it was; a planner that remembers nothing plans as the one that does."""

from headgate.kernel.instants import Instant
from headgate.promises.base import FleetPromise, GraphPromise, Promise, canonical, first_difference


class ReplayEqualsDecision(Promise):
    name = "ReplayEqualsDecision"
    sentence = "the same events give the same decisions, byte for byte"


class FleetReplayEqualsDecision(ReplayEqualsDecision, FleetPromise):
    def reloaded(self, before: bytes, after: bytes, now: Instant) -> None:
        if before != after and (before := canonical(before)) != (after := canonical(after)):
            self.broken(
                now, f"the state written out reads back as another one: {first_difference(before, after)}"
            )


class GraphReplayEqualsDecision(ReplayEqualsDecision, GraphPromise):
    def replayed(self, name: str, before: bytes, after: bytes, now: Instant) -> None:
        if before != after:
            self.broken(now, f"{name} is decided otherwise after a restart")
