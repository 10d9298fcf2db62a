from headgate.kernel.instants import Instant
from headgate.simulate.promises.base import Promise, canonical, first_difference


class ReplayEqualsDecision(Promise):
    name = "ReplayEqualsDecision"
    sentence = "the same events give the same decisions, byte for byte"

    def reloaded(self, before: bytes, after: bytes, now: Instant) -> None:
        if before != after and (before := canonical(before)) != (after := canonical(after)):
            self.broken(
                now, f"the state written out reads back as another one: {first_difference(before, after)}"
            )
