"""Forgets what is old, a few rows at a time, so that nobody waits for it."""

from __future__ import annotations

import itertools
from typing import Any

from headgate.kernel.instants import Instant
from headgate.store.port import History, Store
from headgate.store.sql import encoding, statements
from headgate.store.sql.drivers import DatabaseDriver, Session

_NUMBERED: dict[History, tuple[str, str]] = {
    "events": ("event", "event_head"),
    "audit": ("audit", "audit_head"),
    "log": ("log_entry", "consumed - 1"),
}
"""Tables whose rows have numbers, and the newest that may go."""
_BY_TIME: dict[History, str] = {"jobs": "job", "groups": "bracket_version_group"}
_OLD_HISTORY = (
    "DELETE FROM history_piece WHERE workspace = ? AND segment < "
    "(SELECT max(segment) FROM history_piece WHERE workspace = ? AND piece = 0 AND at <= ?)"
)
"""What was goes with the log that it follows from, segment by segment."""


class SqlRetention(Store):
    _driver: DatabaseDriver

    def prune(self, workspace: str, what: History, *, before: Instant, keep: int, limit: int) -> int:
        with self._driver.write() as session:
            if what in _NUMBERED:
                if what == "log":
                    session.execute(_OLD_HISTORY, (workspace, workspace, before))
                return self._prune_numbered(session, workspace, what, before, keep, limit)
            return self._prune_by_time(session, workspace, _BY_TIME[what], before, keep, limit)

    def _prune_numbered(
        self, session: Session, workspace: str, what: History, before: Instant, keep: int, limit: int
    ) -> int:
        """The oldest have the lowest numbers, so only those are looked at."""
        table, newest = _NUMBERED[what]
        rows = session.fetch(f"SELECT {newest} FROM workspace WHERE name = ?", (workspace,))
        if not rows:
            return 0
        last = int(rows[0][0])
        oldest = session.fetch(
            f"SELECT seq, at FROM {table} WHERE workspace = ? AND seq <= ? ORDER BY seq LIMIT ?",
            (workspace, last, limit),
        )
        going = list(itertools.takewhile(lambda row: row[1] < before or row[0] <= last - keep, oldest))
        if not going:
            return 0
        return session.execute(
            f"DELETE FROM {table} WHERE workspace = ? AND seq <= ?", (workspace, going[-1][0])
        )

    def _prune_by_time(
        self, session: Session, workspace: str, table: str, before: Instant, keep: int, limit: int
    ) -> int:
        """What the engine works with stays, however old it is."""
        oldest = session.fetch(
            f"SELECT id, created_at FROM {table} WHERE workspace = ? AND is_current = FALSE "
            "ORDER BY created_at, id LIMIT ?",
            (workspace, limit),
        )
        edge = encoding.time(self._driver.dialect, before)
        old = sum(at < edge for _, at in oldest)
        if old < len(oldest):
            old = max(old, self._count(session, table, workspace) - keep)
        going = [id_ for id_, _ in oldest[:old]]
        self._delete(session, table, workspace, going)
        return len(going)

    def _count(self, session: Session, table: str, workspace: str) -> int:
        sql = f"SELECT count(*) FROM {table} WHERE workspace = ? AND is_current = FALSE"
        return int(session.fetch(sql, (workspace,))[0][0])

    def _delete(self, session: Session, table: str, workspace: str, ids: list[Any]) -> None:
        keys = [(workspace, id_) for id_ in ids]
        if keys and table == "bracket_version_group":
            members = statements.delete("bracket_version_group_member", ("workspace", "group_id"))
            session.execute_many(members, keys)
        if keys and table == "job":
            lines = [(workspace, str(id_)) for id_ in ids]
            session.execute_many(statements.delete("job_log", ("workspace", "job")), lines)
        if keys:
            session.execute_many(statements.delete(table), keys)

    def prune_keys(self, *, before: Instant, limit: int) -> int:
        with self._driver.write() as session:
            return session.execute(
                "DELETE FROM idempotency_key WHERE (workspace, key) IN "
                "(SELECT workspace, key FROM idempotency_key WHERE at < ? ORDER BY at LIMIT ?)",
                (before, limit),
            ) + session.execute(
                "DELETE FROM job_dispatch WHERE (workspace, job) IN "
                "(SELECT workspace, job FROM job_dispatch WHERE cancelled = TRUE AND deadline_at < ? LIMIT ?)",
                (before, limit),
            )
