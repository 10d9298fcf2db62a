"""How fast the operator writes, all of its controllers together."""

from __future__ import annotations

import asyncio

import pytest

from headgate.operator.running import loop
from headgate.operator.running.pace import BURST, LONGEST_PAUSE_SECONDS, WRITES_PER_SECOND, WritePace


class Clock:
    """Nobody sleeps: what they would have slept is noted, and time passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept = 0.0

    async def sleep(self, seconds: float) -> None:
        self.slept = seconds

    def waits(self, pace: WritePace, turns: int = 1) -> float:
        """How long the last of so many turns, which are asked for at once, has to wait."""

        async def ask() -> None:
            for _ in range(turns):
                self.slept = 0.0
                await pace.turn()

        asyncio.run(ask())
        return self.slept


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pace(clock: Clock) -> WritePace:
    return WritePace(sleep=clock.sleep, steady=lambda: clock.now)


def test_after_a_rest_some_are_free_and_then_one_goes_after_the_other(clock: Clock, pace: WritePace) -> None:
    assert clock.waits(pace, BURST) == 0
    assert clock.waits(pace) == pytest.approx(0)
    assert clock.waits(pace) == pytest.approx(1 / WRITES_PER_SECOND)
    clock.now += 1.0
    assert clock.waits(pace, int(WRITES_PER_SECOND)) <= 1 / WRITES_PER_SECOND
    assert clock.waits(pace, 10) == pytest.approx(10 / WRITES_PER_SECOND, abs=2 / WRITES_PER_SECOND)


def test_a_server_that_asks_for_patience_gets_it_within_bounds(clock: Clock, pace: WritePace) -> None:
    pace.pause(7.0)
    assert clock.waits(pace) == pytest.approx(7.0)
    pace.pause(10_000.0)
    assert clock.waits(pace) == pytest.approx(LONGEST_PAUSE_SECONDS)
    clock.now += LONGEST_PAUSE_SECONDS
    assert clock.waits(pace) == 0


def test_a_controller_waits_for_what_the_other_has_under_way_and_no_longer(
    clock: Clock, pace: WritePace
) -> None:
    """They share the pace and are served in their order; one has so much under way at most, however much it has to do."""
    clock.waits(pace, BURST)
    under_way = loop.PASSES_AT_ONCE * loop.MOST_AT_ONCE
    clock.waits(pace, under_way)
    assert clock.waits(pace) <= (under_way + 1) / WRITES_PER_SECOND < 1.5
