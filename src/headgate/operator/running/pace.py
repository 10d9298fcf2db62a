"""How fast the operator writes: so many writes a second, some more after a rest, and none while the server asks for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from headgate.kubernetes.transport import Sleep

WRITES_PER_SECOND = 100.0
BURST = 200
LONGEST_PAUSE_SECONDS = 60.0


class WritePace:
    def __init__(
        self,
        per_second: float = WRITES_PER_SECOND,
        burst: int = BURST,
        *,
        sleep: Sleep = asyncio.sleep,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_second, self._burst = per_second, burst
        self._sleep, self._steady = sleep, steady
        self._free_at = steady() - burst / per_second
        """When the next write would be due if all had kept to the rate."""
        self._paused_until = self._free_at

    async def turn(self) -> None:
        """Waits until one more write may be sent. Those who wait are served in their order."""
        now = self._steady()
        earliest = max(self._free_at, now - self._burst / self._per_second)
        self._free_at = earliest + 1 / self._per_second
        wait = max(earliest, self._paused_until) - now
        if wait > 0:
            await self._sleep(wait)

    def pause(self, seconds: float) -> None:
        """The server asks for patience."""
        self._paused_until = max(self._paused_until, self._steady() + min(seconds, LONGEST_PAUSE_SECONDS))
