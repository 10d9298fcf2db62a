from headgate.kernel.instants import Instant
from headgate.simulate.promises.base import Promise


class ReplayEqualsDecision(Promise):
    name = "ReplayEqualsDecision"
    sentence = "the same events give the same decisions, byte for byte"

    def reloaded(self, before: bytes, after: bytes, now: Instant) -> None:
        if before != after:
            self.broken(
                now,
                f"the state written out ({len(before)} bytes) reads back as another one ({len(after)} bytes)",
            )
