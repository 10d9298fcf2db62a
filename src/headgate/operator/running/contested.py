"""Objects that somebody else changes back whenever they are put right: two writers that never give way would write for
ever, as fast as they can."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from headgate.kernel.objects import Key
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.resources import Document

FREE_TIMES = 3
"""A person may try twice; whoever comes back after that is a program."""
LONGEST_SECONDS = 300.0
FORGOTTEN_AFTER_SECONDS = 2 * LONGEST_SECONDS
MOST_OBJECTS = 10_000


class ContestedError(ApiError):
    """Nothing was sent."""


class _Repair(NamedTuple):
    uid: str
    patch: Document
    times: int
    at: float


class ContestedObjects:
    """Of one controller: what was put right last of each object, and how often the same in a row."""

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady = steady
        self._repairs: dict[Key, _Repair] = {}

    def check(self, key: Key, uid: str, patch: Document) -> None:
        """Raises while it is too early to write the same once more: each time it is twice as long."""
        last = self._same(key, uid, patch)
        if last is None or last.times < FREE_TIMES:
            return
        wait = last.at + _seconds(last.times) - self._steady()
        if wait > 0:
            raise ContestedError(
                f"{key.kind} {key.name} was put back {last.times} times, and somebody changes {_fields(patch)} each "
                "time; it is put back again later",
                reason="Contested",
            )

    def wrote(self, key: Key, uid: str, patch: Document) -> None:
        last = self._same(key, uid, patch)
        times = 1 if last is None else last.times + 1
        self._repairs.pop(key, None)
        self._repairs[key] = _Repair(uid, patch, times, self._steady())
        if len(self._repairs) > MOST_OBJECTS:
            del self._repairs[next(iter(self._repairs))]

    def _same(self, key: Key, uid: str, patch: Document) -> _Repair | None:
        last = self._repairs.get(key)
        if last is None or last.uid != uid or last.patch != patch:
            return None
        return last if self._steady() - last.at < FORGOTTEN_AFTER_SECONDS else None


def _seconds(times: int) -> float:
    return min(2.0 ** (times - FREE_TIMES), LONGEST_SECONDS)


def _fields(patch: Document) -> str:
    """As a person would write them; what is below a third level is named with it."""
    paths: list[str] = []

    def walk(value: object, path: tuple[str, ...]) -> None:
        if isinstance(value, dict) and value and len(path) < 3:
            for name in sorted(value):
                walk(value[name], (*path, name))
        else:
            paths.append(".".join(path))

    walk(patch, ())
    return ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
