"""How long to wait before the next attempt: doubling, bounded, and not all at the same moment."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


class Backoff(msgspec.Struct, frozen=True, kw_only=True):
    """`chance` gives a number from 0 to 1, another each time; whoever waits brings it."""

    first_seconds: float = 1.0
    most_seconds: float = 60.0
    chance: Callable[[], float]

    def seconds(self, failures: int) -> float:
        """After the n-th failure in a row, n from 1; between half of the full wait and all of it."""
        full = min(self.most_seconds, self.first_seconds * 2.0 ** min(max(failures, 1) - 1, 30))
        return full * (0.5 + 0.5 * self.chance())
