"""Workers that are killed at any point and started again keep every promise."""

import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from . import killing
from .player import Part

Check = Callable[[str], list[str]]

DEATHS = int(os.environ.get("HEADGATE_DEATHS", "100"))
NODES = 80
"""Work for about so many short lives."""


def test_a_rollout_on_sqlite_goes_through_a_hundred_deaths(
    sqlite_url: str, notes: Path, broken_promises: Check
) -> None:
    _die(sqlite_url, notes, seed=5)
    assert broken_promises(sqlite_url) == []


def test_a_rollout_on_postgres_goes_through_a_hundred_deaths(
    postgres_url: str, notes: Path, broken_promises: Check
) -> None:
    _die(postgres_url, notes, seed=6)
    assert broken_promises(postgres_url) == []


def _die(url: str, notes: Path, seed: int) -> None:
    part = Part(url, str(notes), 0, nodes=NODES, is_known_to_end=True, pause_seconds=2.0)
    killing.die_many_times(part, random.Random(seed), DEATHS)


def test_a_worker_on_sqlite_that_is_killed_keeps_every_promise(
    sqlite_url: str, notes: Path, broken_promises: Check
) -> None:
    assert killing.play_with_deaths(Part(sqlite_url, str(notes), 0), random.Random(1)) > 0
    assert broken_promises(sqlite_url) == []


def test_two_workers_on_postgres_that_are_killed_in_turn_keep_every_promise(
    postgres_url: str, notes: Path, broken_promises: Check
) -> None:
    assert _two_die(Part(postgres_url, str(notes), 0), seed=3) > 0
    assert broken_promises(postgres_url) == []


def test_two_workers_on_one_sqlite_file_that_are_killed_in_turn_keep_every_promise(
    sqlite_url: str, notes: Path, broken_promises: Check
) -> None:
    assert _two_die(Part(sqlite_url, str(notes), 0), seed=4) > 0
    assert broken_promises(sqlite_url) == []


def _two_die(part: Part, seed: int) -> int:
    """One of them asks for the steps; both decide and work, whoever has the lease."""
    other = msgspec.structs.replace(part, asks=False)
    with ThreadPoolExecutor(2) as threads:
        lives = [
            threads.submit(killing.play_with_deaths, one, random.Random(seed + number), killing.LIVES // 2)
            for number, one in enumerate((part, other))
        ]
        return sum(one.result() for one in lives)
