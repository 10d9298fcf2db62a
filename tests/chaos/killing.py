"""Starts players, lets them die, and starts others, until one has lived to the end."""

from __future__ import annotations

import multiprocessing
import os
import random
from multiprocessing.process import BaseProcess

import msgspec

from chaos.player import POINTS, Part, play

LIVES = int(os.environ.get("HEADGATE_CHAOS", "7"))
"""How often a player dies in a test, so that each point has its turn; `HEADGATE_CHAOS=50 pytest tests/chaos` looks harder."""
MOST_TIMES = 12
LIFE_SECONDS = 60.0
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["chaos.player"])


def start(part: Part) -> BaseProcess:
    process = _context.Process(target=play, args=(part,), daemon=True)
    process.start()
    return process


def play_with_deaths(part: Part, chance: random.Random, deaths: int = LIVES) -> int:
    """How often it died. Every point has its turn; a player may be done before it comes to its own."""
    points = chance.sample(POINTS, len(POINTS))
    for life in range(deaths + 1):
        point = points[life % len(points)] if life < deaths else None
        nth = chance.randint(1, 2 if point == "answered" else MOST_TIMES)
        process = start(msgspec.structs.replace(part, dies_at=point, nth=nth, seed=chance.randrange(2**32)))
        process.join(LIFE_SECONDS)
        if process.exitcode == 0:
            return life
        if process.exitcode is None:
            process.kill()
            process.join()
            raise AssertionError("a player came to no end")
        assert process.exitcode == -9, f"a player ended with {process.exitcode}"
    raise AssertionError("the last player died too")


def die_many_times(part: Part, chance: random.Random, deaths: int) -> None:
    """At a point or, if it does not come to it soon enough, at a moment. A machine that is quick is through before it has
    died so often: another version keeps it busy."""
    died = 0
    while died < deaths:
        one = msgspec.structs.replace(
            part,
            seed=chance.randrange(2**32),
            dies_at=chance.choice(POINTS),
            nth=chance.randint(1, 4),
            dies_after_seconds=chance.uniform(0.02, 0.4),
        )
        process = start(one)
        process.join(LIFE_SECONDS)
        if process.exitcode == 0:
            part = msgspec.structs.replace(part, more=part.more + 1)
            continue
        assert process.exitcode == -9, f"a player ended with {process.exitcode}"
        died += 1
    last = start(msgspec.structs.replace(part, seed=chance.randrange(2**32)))
    last.join(4 * LIFE_SECONDS)
    assert last.exitcode == 0, f"the last player ended with {last.exitcode}"
