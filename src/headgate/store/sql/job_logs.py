"""What jobs print, on any SQL database: lines in pieces, as they were handed in.

No workspace is locked for them, and nothing that the engine decides depends on them. Each commit costs a write to the
disk, so whatever arrives while one is under way shares the next.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import msgspec

from headgate.kernel.instants import Instant
from headgate.store.job_lines import JobLines, LogEnd
from headgate.store.job_logs import JobLogs
from headgate.store.port import UnavailableError
from headgate.store.sql import encoding, statements
from headgate.store.sql.drivers import DatabaseDriver, Session

MOST_TOGETHER = 64
"""Pieces of one transaction."""
_MOST_ATTEMPTS = 100


class _Waiting:
    """A piece that is to be written, and what became of it."""

    def __init__(self, given: JobLines, token: int) -> None:
        self.given = given
        self.token = token
        self.is_done = False
        self.end: LogEnd | None = None
        self.error: Exception | None = None


class SqlJobLogs(JobLogs):
    _driver: DatabaseDriver

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []
        self._waiting_lock = threading.Lock()
        self._writing = threading.Lock()

    def append_job_lines(self, given: JobLines, token: int) -> LogEnd | None:
        """Whoever gets to write takes along what the others brought meanwhile."""
        own = _Waiting(given, token)
        with self._waiting_lock:
            self._waiting.append(own)
        while not own.is_done:
            with self._writing:
                if not own.is_done:
                    self._write_together(self._next_ones())
        if own.error is not None:
            raise own.error
        return own.end

    def _next_ones(self) -> list[_Waiting]:
        with self._waiting_lock:
            taken, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
        return taken

    def _write_together(self, pieces: Sequence[_Waiting]) -> None:
        """Job by job in one order everywhere, so that two processes never wait for each other."""
        try:
            with self._driver.write() as session:
                for piece in sorted(
                    pieces, key=lambda each_write: (each_write.given.workspace, each_write.given.job)
                ):
                    piece.end = self._append(session, piece)
        except Exception as error:
            for piece in pieces:
                piece.error = error
        finally:
            for piece in pieces:
                piece.is_done = True

    def _append(self, session: Session, piece: _Waiting) -> LogEnd | None:
        """Two who number lines of one job at once meet at the key, and the later one numbers anew."""
        given = piece.given
        sql = "SELECT token FROM job_dispatch WHERE workspace = ? AND job = ?"
        rows = session.fetch(sql, (given.workspace, given.job))
        if not rows or rows[0][0] != piece.token:
            return None
        for _ in range(_MOST_ATTEMPTS):
            before = _end(session, given.workspace, given.job)
            lines, end = before.new_lines(given)
            if not lines or self._insert_lines(session, given, before, lines, end):
                return end
        raise UnavailableError(f"too many write the log of job {given.job} at once")

    def _insert_lines(
        self, session: Session, given: JobLines, before: LogEnd, lines: Sequence[str], end: LogEnd
    ) -> bool:
        written = msgspec.json.encode(lines)
        row = (given.workspace, given.job, before.lines, given.at, len(lines), end.bytes, written)
        encoded = encoding.rows("job_log", self._driver.dialect, [row])[0]
        sql = f"{statements.insert('job_log').sql} ON CONFLICT (workspace, job, first) DO NOTHING"
        return session.execute(sql, encoded) == 1

    def job_log_end(self, workspace: str, job: str) -> LogEnd:
        with self._driver.read() as session:
            return _end(session, workspace, job)

    def job_lines(self, workspace: str, job: str, offset: int, limit: int) -> list[tuple[Instant, list[str]]]:
        """Each piece is at least one line, so no more than so many pieces are read."""
        where = (
            "workspace = ? AND job = ? AND first >= coalesce("
            "(SELECT max(first) FROM job_log WHERE workspace = ? AND job = ? AND first <= ?), 0)"
        )
        sql = statements.select("job_log", where, "ORDER BY first LIMIT ?")
        rows = self._driver.fetch(sql, (workspace, job, workspace, job, offset, limit))
        pieces = []
        for _, _, first, at, count, _, lines in rows:
            if first + count > offset:
                pieces.append((at, msgspec.json.decode(lines, type=list[str])[max(0, offset - first) :]))
        return pieces


def _end(session: Session, workspace: str, job: str) -> LogEnd:
    sql = (
        "SELECT first + count, bytes FROM job_log WHERE workspace = ? AND job = ? ORDER BY first DESC LIMIT 1"
    )
    rows: list[tuple[Any, ...]] = session.fetch(sql, (workspace, job))
    return LogEnd(*rows[0]) if rows else LogEnd(0, 0)
