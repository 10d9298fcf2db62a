"""One workspace, locked, on any SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from headgate.kernel import identifiers
from headgate.store.leases import Lease, LeaseLostError
from headgate.store.log import AuditEntry, Event, LogEntry
from headgate.store.port import Remembered, Token, Transaction, UnknownWorkspaceError
from headgate.store.rows import Json
from headgate.store.sql import encoding, statements, token_rows
from headgate.store.sql.drivers import Session
from headgate.store.sql.statements import Dialect, Write

_HEADS = "log_head, event_head, audit_head, consumed, sequence"
_SET_HEADS = Write(
    "workspace",
    "UPDATE workspace SET log_head = ?, event_head = ?, audit_head = ?, consumed = ?, sequence = ? WHERE name = ?",
)
_ORDER = "WHERE workspace = ? AND job = ?"
_DELETE_UNCLAIMED = Write("job_dispatch", f"DELETE FROM job_dispatch {_ORDER} AND claims = 0")
_CANCEL_CLAIMED = Write("job_dispatch", f"UPDATE job_dispatch SET cancelled = TRUE {_ORDER}")

_LOCK: dict[Dialect, str] = {
    "sqlite": (
        f"SELECT {_HEADS}, holder, token FROM (SELECT {_HEADS} FROM workspace WHERE name = ?) "
        "LEFT JOIN lease ON lease.name = ?"
    ),
    "postgresql": (
        f"WITH locked AS MATERIALIZED (SELECT {_HEADS} FROM workspace WHERE name = ? FOR UPDATE), "
        "held AS MATERIALIZED (SELECT holder, token FROM lease WHERE name = ? "
        "AND EXISTS (SELECT 1 FROM locked) FOR SHARE) "
        f"SELECT {_HEADS}, holder, token FROM locked LEFT JOIN held ON TRUE"
    ),
}
"""The workspace, locked, and who holds the lease, which cannot change hands from then on: taking it over waits for this
transaction, and this transaction for a takeover."""


class SqlTransaction(Transaction):
    def __init__(
        self, session: Session, dialect: Dialect, workspace: str, lease: Lease | None = None
    ) -> None:
        self.workspace = workspace
        self._session = session
        self._dialect = dialect
        rows = session.fetch(_LOCK[dialect], (workspace, lease.name if lease is not None else None))
        if not rows:
            raise UnknownWorkspaceError(workspace)
        *heads, holder, token = rows[0]
        if lease is not None and (holder, token) != (lease.holder, lease.token):
            raise LeaseLostError(f"{lease.holder} no longer holds {lease.name}")
        self.head, self.newest_event, self._audit, self._consumed, self._sequence = self._before = tuple(
            heads
        )

    def log_after(self, seq: int) -> list[LogEntry]:
        return log_entries(
            self._session.fetch(
                statements.select("log_entry", "workspace = ? AND seq > ?", "ORDER BY seq"),
                (self.workspace, seq),
            )
        )

    def append(self, entries: Sequence[LogEntry]) -> None:
        for entry in entries:
            self.head += 1
            assert entry.seq == self.head, f"entry {entry.seq} after {self.head - 1}"
        self._insert(
            "log_entry",
            [(self.workspace, e.seq, e.at, e.kind, e.user, e.trace_parent, e.payload) for e in entries],
        )

    def put(self, table: str, rows: Sequence[Sequence[object]]) -> None:
        if rows:
            encoded = encoding.rows(table, self._dialect, rows)
            self._session.execute_many(statements.upsert(table), encoded)

    def _insert(self, table: str, rows: Sequence[Sequence[object]]) -> None:
        if rows:
            encoded = encoding.rows(table, self._dialect, rows)
            self._session.execute_many(statements.insert(table), encoded)

    def delete(
        self, table: str, keys: Sequence[Sequence[object]], columns: tuple[str, ...] | None = None
    ) -> None:
        if keys:
            self._session.execute_many(statements.delete(table, columns), keys)

    def add_events(self, events: Sequence[Event]) -> None:
        rows: list[Sequence[object]] = []
        for event in events:
            self.newest_event += 1
            rows.append(
                (
                    self.workspace,
                    self.newest_event,
                    event.at,
                    event.type,
                    event.kind,
                    event.name,
                    event.message,
                    event.data,
                )
            )
        self._insert("event", rows)

    def add_audit(self, entries: Sequence[AuditEntry]) -> None:
        rows: list[Sequence[object]] = []
        for entry in entries:
            self._audit += 1
            rows.append(
                (
                    self.workspace,
                    self._audit,
                    entry.at,
                    entry.user,
                    entry.action,
                    entry.kind,
                    entry.name,
                    entry.before,
                    entry.after,
                    entry.request_id,
                )
            )
        self._insert("audit", rows)

    def advance(self, consumed: int, sequence: int) -> None:
        self._consumed, self._sequence = consumed, sequence

    def cancel_dispatches(self, jobs: Sequence[str]) -> None:
        keys = [(self.workspace, job) for job in jobs]
        if keys:
            self._session.execute_many(_DELETE_UNCLAIMED, keys)
            self._session.execute_many(_CANCEL_CLAIMED, keys)

    def has_current_job(self, job: str) -> bool:
        sql = "SELECT 1 FROM job WHERE workspace = ? AND id = ? AND is_current"
        return identifiers.is_uuid(job) and bool(self._session.fetch(sql, (self.workspace, job.lower())))

    def recall(self, key: str) -> Remembered | None:
        rows = self._session.fetch(
            statements.select("idempotency_key", "workspace = ? AND key = ?"), (self.workspace, key)
        )
        if not rows:
            return None
        _, _, fingerprint, status, body, at = rows[0]
        return Remembered(key, fingerprint, status, msgspec.json.decode(body, type=str).encode(), at)

    def remember(self, answer: Remembered) -> None:
        body = msgspec.json.encode(answer.body.decode())
        self.put(
            "idempotency_key",
            [(self.workspace, answer.key, answer.fingerprint, answer.status, body, answer.at)],
        )

    def documents(self, kind: str) -> dict[str, Json]:
        sql = "SELECT name, document FROM service_document WHERE workspace = ? AND kind = ? ORDER BY name"
        return {name: text.encode() for name, text in self._session.fetch(sql, (self.workspace, kind))}

    def tokens(self) -> list[Token]:
        rows = self._session.fetch(statements.select("api_token", "1 = 1", "ORDER BY created_at, id"))
        return [token_rows.read(row) for row in rows]

    def add_token(self, token: Token) -> None:
        self._insert("api_token", [token_rows.written(token)])

    def remove_token(self, token_id: str) -> None:
        self.delete("api_token", [(token_id,)])

    def finish(self) -> None:
        """Called just before the commit."""
        heads = (self.head, self.newest_event, self._audit, self._consumed, self._sequence)
        if heads != self._before:
            self._session.execute_many(_SET_HEADS, [(*heads, self.workspace)])


def log_entries(rows: Sequence[tuple[Any, ...]]) -> list[LogEntry]:
    return [
        LogEntry(seq, at, kind, payload.encode(), user, trace_parent)
        for _, seq, at, kind, user, trace_parent, payload in rows
    ]
