"""Lines that a job printed, numbered from 0, and how many of them are kept."""

from __future__ import annotations

import itertools

import msgspec

from headgate.kernel.instants import Instant

MOST_LINES = 20_000
MOST_BYTES = 4 * 1024 * 1024
"""Of one job. The beginning is kept: how it ended is in the job's message."""
FULL = f"(here the log is full: {MOST_LINES:,} lines or {MOST_BYTES // 1024 // 1024} MiB are kept of a job)"


class JobLines(msgspec.Struct, frozen=True):
    """A piece of a job's log. `offset` is the number of its first line, if its sender counts: what was sent before is
    passed over then."""

    workspace: str
    job: str
    at: Instant
    lines: tuple[str, ...]
    offset: int | None = None


class LogEnd(msgspec.Struct, frozen=True):
    """How far a job's log goes."""

    lines: int
    bytes: int

    @property
    def is_full(self) -> bool:
        return self.lines >= MOST_LINES or self.bytes >= MOST_BYTES

    def new_lines(self, given: JobLines) -> tuple[tuple[str, ...], LogEnd]:
        """What of them is to be added, and the end then."""
        known = 0 if given.offset is None else max(0, self.lines - given.offset)
        room = 0 if self.is_full else MOST_LINES - self.lines
        lines = given.lines[known : known + room]
        sizes = itertools.accumulate(len(line.encode()) + 1 for line in lines)
        fitting = tuple(itertools.takewhile(lambda size: self.bytes + size < MOST_BYTES, sizes))
        if len(fitting) < len(lines):
            return (*lines[: len(fitting)], FULL), LogEnd(self.lines + len(fitting) + 1, MOST_BYTES)
        if lines and self.lines + len(lines) == MOST_LINES:
            return (*lines[:-1], FULL), LogEnd(MOST_LINES, MOST_BYTES)
        return lines, LogEnd(self.lines + len(lines), self.bytes + (fitting[-1] if fitting else 0))
