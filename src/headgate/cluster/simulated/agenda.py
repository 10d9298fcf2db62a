"""What the simulated world will do by itself, and when."""

import heapq
from collections.abc import Callable

from headgate.kernel.instants import Instant


class Timer:
    """One thing to do. A repeating one goes on for ever without anything new, and keeps no run alive."""

    __slots__ = ("act", "at", "is_over", "is_repeating")

    def __init__(self, at: Instant, act: Callable[[Instant], None], is_repeating: bool) -> None:
        self.at = at
        self.act = act
        self.is_repeating = is_repeating
        self.is_over = False


class Agenda:
    def __init__(self) -> None:
        self._heap: list[tuple[Instant, int, Timer]] = []
        self._sequence = 0
        self._new_things_count = 0

    def add(self, at: Instant, act: Callable[[Instant], None], *, is_repeating: bool = False) -> Timer:
        timer = Timer(at, act, is_repeating)
        self._sequence += 1
        heapq.heappush(self._heap, (at, self._sequence, timer))
        self._new_things_count += not is_repeating
        return timer

    def cancel(self, timer: Timer | None) -> None:
        if timer is not None and not timer.is_over:
            timer.is_over = True
            self._new_things_count -= not timer.is_repeating

    @property
    def has_new_things(self) -> bool:
        return self._new_things_count > 0

    def next_moment(self) -> Instant | None:
        while self._heap and self._heap[0][2].is_over:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def run_due(self, now: Instant) -> bool:
        """In the order in which they were added. What they add for the same moment is done too."""
        was_any = False
        while (moment := self.next_moment()) is not None and moment <= now:
            timer = heapq.heappop(self._heap)[2]
            self.cancel(timer)
            timer.act(now)
            was_any = True
        return was_any
