"""The store on any SQL database; what differs between them is in the drivers."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from headgate.kernel import identifiers, instants
from headgate.kernel.instants import Instant
from headgate.store.leases import Lease
from headgate.store.log import AuditEntry, Event, LogEntry
from headgate.store.port import Token, Transaction, UnknownWorkspaceError, Workspace
from headgate.store.rows import EngineRows, Json, Row
from headgate.store.schema import ENGINE_TABLES, TABLES
from headgate.store.sql import encoding, migrations, statements, token_rows
from headgate.store.sql.dispatches import SqlDispatches
from headgate.store.sql.drivers import DatabaseDriver, Session
from headgate.store.sql.history import SqlHistory
from headgate.store.sql.job_logs import SqlJobLogs
from headgate.store.sql.retention import SqlRetention
from headgate.store.sql.transaction import SqlTransaction, log_entries

_PROJECTIONS = frozenset(
    {
        "policy_rule",
        "policy_rule_deployment_bracket",
        "policy_rule_resource_concurrency",
        "policy_rule_deployment_dependency",
        "bracket_version_group_member",
    }
)
"""Written for people; the engine's own copy is in the document of the policy or the group."""
_ONLY_CURRENT = frozenset({"job", "bracket_version_group"})
_DURATIONS_OF = 20


class SqlStore(SqlDispatches, SqlRetention, SqlJobLogs, SqlHistory):
    def __init__(self, driver: DatabaseDriver, url: str) -> None:
        super().__init__()
        self.url = url
        self._driver = driver

    def migrate(self) -> None:
        migrations.migrate(self._driver)

    def close(self) -> None:
        self._driver.close()

    def ping(self) -> None:
        self._driver.fetch("SELECT 1")

    def clock(self) -> Instant:
        with self._driver.read() as session:
            return self._driver.clock_microseconds(session)

    def try_to_write(self) -> None:
        """Not in one transaction: room has to be found on the disk."""
        name = f"attempt/{uuid.uuid4()}"
        with self._driver.write() as session:
            session.execute("INSERT INTO lease (name, holder, token, ends_at) VALUES (?, '', 0, 0)", (name,))
        with self._driver.write() as session:
            session.execute("DELETE FROM lease WHERE name = ?", (name,))

    def workspaces(self) -> list[Workspace]:
        rows = self._driver.fetch("SELECT id, name, description, created_at FROM workspace ORDER BY name")
        return [Workspace(id_, name, text, self._instant(at)) for id_, name, text, at in rows]

    def _instant(self, value: Any) -> Instant:
        return instants.parse(value) if isinstance(value, str) else instants.from_datetime(value)

    def add_workspace(self, workspace: Workspace) -> bool:
        with self._driver.write() as session:
            return self._add_workspace(session, workspace)

    def _add_workspace(self, session: Session, workspace: Workspace) -> bool:
        row = (workspace.name, workspace.id, workspace.description, workspace.created_at, 0, 0, 0, 0, 0)
        encoded = encoding.rows("workspace", self._driver.dialect, [row])[0]
        sql = f"{statements.insert('workspace').sql} ON CONFLICT (name) DO NOTHING"
        return session.execute(sql, encoded) == 1

    @contextmanager
    def begin_with(self, workspace: Workspace) -> Iterator[tuple[Transaction, bool]]:
        with self._driver.write() as session:
            is_new = self._add_workspace(session, workspace)
            transaction = SqlTransaction(session, self._driver.dialect, workspace.name)
            yield transaction, is_new
            transaction.finish()

    def remove_workspace(self, name: str) -> bool:
        lock = " FOR UPDATE" if self._driver.dialect == "postgresql" else ""
        with self._driver.write() as session:
            session.fetch(f"SELECT 1 FROM workspace WHERE name = ?{lock}", (name,))
            for table in TABLES.values():
                if "workspace" in table.column_names:
                    session.execute(f"DELETE FROM {table.name} WHERE workspace = ?", (name,))
            session.execute("DELETE FROM lease WHERE name = ?", (f"engine/{name}",))
            return session.execute("DELETE FROM workspace WHERE name = ?", (name,)) == 1

    def take_lease(self, name: str, holder: str, seconds: float) -> Lease | None:
        with self._driver.write() as session:
            now = self._driver.clock_microseconds(session)
            session.execute(
                "INSERT INTO lease (name, holder, token, ends_at) VALUES (?, '', 0, 0) ON CONFLICT (name) DO NOTHING",
                (name,),
            )
            lock = " FOR UPDATE SKIP LOCKED" if self._driver.dialect == "postgresql" else ""
            rows = session.fetch(f"SELECT holder, token, ends_at FROM lease WHERE name = ?{lock}", (name,))
            if not rows:
                return None  # whoever has it is in the middle of a transaction
            held_by, token, ends_at = rows[0]
            if ends_at > now and held_by != holder:
                return None
            session.execute(
                "UPDATE lease SET holder = ?, token = ?, ends_at = ? WHERE name = ?",
                (holder, token + 1, now + instants.seconds(seconds), name),
            )
            return Lease(name, holder, token + 1)

    def renew_lease(self, lease: Lease, seconds: float) -> bool:
        with self._driver.write() as session:
            return (
                session.execute(
                    "UPDATE lease SET ends_at = ? WHERE name = ? AND token = ?",
                    (
                        self._driver.clock_microseconds(session) + instants.seconds(seconds),
                        lease.name,
                        lease.token,
                    ),
                )
                == 1
            )

    def release_lease(self, lease: Lease) -> None:
        with self._driver.write() as session:
            session.execute(
                "UPDATE lease SET ends_at = 0 WHERE name = ? AND token = ?", (lease.name, lease.token)
            )

    def leases(self) -> list[tuple[Lease, Instant]]:
        rows = self._driver.fetch("SELECT name, holder, token, ends_at FROM lease ORDER BY name")
        return [(Lease(name, holder, token), ends_at) for name, holder, token, ends_at in rows]

    @contextmanager
    def begin(self, workspace: str, lease: Lease | None = None) -> Iterator[Transaction]:
        with self._driver.write() as session:
            transaction = SqlTransaction(session, self._driver.dialect, workspace, lease)
            yield transaction
            transaction.finish()

    def load(self, workspace: str) -> EngineRows:
        with self._driver.read() as session:
            rows = session.fetch("SELECT consumed, sequence FROM workspace WHERE name = ?", (workspace,))
            if not rows:
                raise UnknownWorkspaceError(workspace)
            tables = {
                table.name: self._rows(session, table.name, workspace)
                for table in ENGINE_TABLES
                if table.name not in _PROJECTIONS
            }
            return EngineRows(rows[0][0], rows[0][1], tables)

    def _rows(self, session: Session, table: str, workspace: str) -> list[Row]:
        where = "workspace = ?"
        if table in _ONLY_CURRENT:
            where += " AND is_current"
        names = TABLES[table].column_names
        rows = session.fetch(statements.select(table, where), (workspace,))
        return [dict(zip(names, row)) for row in rows]

    def head(self, workspace: str) -> int:
        rows = self._driver.fetch("SELECT log_head FROM workspace WHERE name = ?", (workspace,))
        if not rows:
            raise UnknownWorkspaceError(workspace)
        return int(rows[0][0])

    def log_after(self, workspace: str, seq: int, limit: int) -> list[LogEntry]:
        sql = statements.select("log_entry", "workspace = ? AND seq > ?", "ORDER BY seq LIMIT ?")
        return log_entries(self._driver.fetch(sql, (workspace, seq, limit)))

    def wait_for_hint(self, seconds: float) -> bool:
        return self._driver.wait_for_hint(seconds)

    def hint(self) -> None:
        self._driver.hint()

    def events_after(self, workspace: str, seq: int, limit: int) -> list[Event]:
        sql = statements.select("event", "workspace = ? AND seq > ?", "ORDER BY seq LIMIT ?")
        rows = self._driver.fetch(sql, (workspace, seq, limit))
        return [
            Event(number, at, type_, kind, name, message, data.encode())
            for _, number, at, type_, kind, name, message, data in rows
        ]

    def newest_event(self, workspace: str) -> int:
        rows = self._driver.fetch("SELECT event_head FROM workspace WHERE name = ?", (workspace,))
        if not rows:
            raise UnknownWorkspaceError(workspace)
        return int(rows[0][0])

    def audit_before(
        self, workspace: str, seq: int | None, limit: int, *, kind: str | None = None, name: str | None = None
    ) -> list[AuditEntry]:
        where, values = "workspace = ?", [workspace]
        for column, value in (("kind", kind), ("name", name)):
            if value is not None:
                where += f" AND {column} = ?"
                values.append(value)
        if seq is not None:
            where += " AND seq < ?"
        sql = statements.select("audit", where, "ORDER BY seq DESC LIMIT ?")
        rows = self._driver.fetch(sql, (*values, *(() if seq is None else (seq,)), limit))
        return [
            AuditEntry(at, user, action, kind_, name_, _bytes(before), _bytes(after), request, number)
            for _, number, at, user, action, kind_, name_, before, after, request in rows
        ]

    def job(self, workspace: str, job: str) -> Row | None:
        return self._row_by_key("job", workspace, job)

    def group(self, workspace: str, group: str) -> Row | None:
        return self._row_by_key("bracket_version_group", workspace, group)

    def _row_by_key(self, table: str, workspace: str, key: str) -> Row | None:
        if not identifiers.is_uuid(key):
            return None
        rows = self._driver.fetch(
            statements.select(table, "workspace = ? AND id = ?"), (workspace, key.lower())
        )
        return self._row(table, rows[0]) if rows else None

    def _row(self, table: str, values: tuple[Any, ...]) -> Row:
        row = dict(zip(TABLES[table].column_names, values))
        row["document"] = row["document"].encode()
        row["created_at"] = self._instant(row["created_at"])
        return row

    def jobs_before(
        self, workspace: str, after: tuple[Instant, str] | None, limit: int, equal: Mapping[str, str]
    ) -> list[Row]:
        return self._page("job", workspace, after, limit, equal)

    def groups_before(
        self, workspace: str, after: tuple[Instant, str] | None, limit: int, equal: Mapping[str, str]
    ) -> list[Row]:
        return self._page("bracket_version_group", workspace, after, limit, equal)

    def _page(
        self,
        table: str,
        workspace: str,
        after: tuple[Instant, str] | None,
        limit: int,
        equal: Mapping[str, str],
    ) -> list[Row]:
        where, values = "workspace = ?", [workspace]
        for column, value in equal.items():
            assert column in TABLES[table].column_names, column
            if column.endswith("_id") and not identifiers.is_uuid(value):
                return []
            where += f" AND {column} = ?"
            values.append(value.lower() if column.endswith("_id") else value)
        if after is not None:
            where += " AND (created_at, id) < (?, ?)"
            if not identifiers.is_uuid(after[1]):
                return []
            values += [encoding.time(self._driver.dialect, after[0]), after[1].lower()]
        sql = statements.select(table, where, "ORDER BY created_at DESC, id DESC LIMIT ?")
        return [self._row(table, row) for row in self._driver.fetch(sql, (*values, limit))]

    def typical_durations(self, workspace: str) -> dict[str, int]:
        sql = (
            "SELECT deployment, document FROM (SELECT deployment, document, "
            "row_number() OVER (PARTITION BY deployment ORDER BY created_at DESC, id DESC) AS place "
            "FROM job WHERE workspace = ? AND status = 'successful') AS recent WHERE place <= ?"
        )
        rows = self._driver.fetch(sql, (workspace, _DURATIONS_OF))
        spans: dict[str, list[int]] = {}
        for deployment, document in rows:
            times = msgspec.json.decode(document, type=_Times)
            if times.completed_at is not None:
                begin = times.started_at if times.started_at is not None else times.created_at
                spans.setdefault(deployment, []).append(times.completed_at - begin)
        return {deployment: sum(durations) // len(durations) for deployment, durations in spans.items()}

    def add_token(self, token: Token) -> None:
        with self._driver.write() as session:
            session.execute(
                statements.insert("api_token").sql,
                encoding.rows("api_token", self._driver.dialect, [token_rows.written(token)])[0],
            )

    def token_by_hash(self, digest: str) -> Token | None:
        rows = self._driver.fetch(statements.select("api_token", "hash = ?"), (digest,))
        return token_rows.read(rows[0]) if rows else None

    def tokens(self, workspace: str | None) -> list[Token]:
        where = "1 = 1" if workspace is None else "workspace = ?"
        sql = statements.select("api_token", where, "ORDER BY created_at, id")
        return [
            token_rows.read(row) for row in self._driver.fetch(sql, () if workspace is None else (workspace,))
        ]

    def remove_token(self, token_id: str) -> bool:
        with self._driver.write() as session:
            return session.execute("DELETE FROM api_token WHERE id = ?", (token_id,)) == 1

    def documents(self, workspace: str, kind: str) -> dict[str, Json]:
        sql = "SELECT name, document FROM service_document WHERE workspace = ? AND kind = ? ORDER BY name"
        return {name: document.encode() for name, document in self._driver.fetch(sql, (workspace, kind))}

    def put_document(self, workspace: str, kind: str, name: str, document: Json) -> None:
        row = (workspace, kind, name, document.decode())
        with self._driver.write() as session:
            session.execute(statements.upsert("service_document").sql, row)

    def remove_document(self, workspace: str, kind: str, name: str) -> bool:
        with self._driver.write() as session:
            return session.execute(statements.delete("service_document").sql, (workspace, kind, name)) == 1


class _Times(msgspec.Struct):
    created_at: Instant
    started_at: Instant | None = None
    completed_at: Instant | None = None


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
