"""The outbox on any SQL database: each dispatch is handed to one caller at a time."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.store.dispatches import Dispatch, Dispatches
from headgate.store.rows import Json
from headgate.store.schema import TABLES
from headgate.store.sql import statements
from headgate.store.sql.drivers import DatabaseDriver

_COLUMNS = TABLES["job_dispatch"].column_names
_CLAIM = statements.Write(
    "job_dispatch",
    "UPDATE job_dispatch SET claims = ?, token = ?, claimed_by = ?, claimed_until = ?, state = ? "
    "WHERE workspace = ? AND job = ?",
)


class SqlDispatches(Dispatches):
    _driver: DatabaseDriver

    def claim_dispatches(
        self,
        *,
        types: Iterable[str] | None = None,
        workspace: str | None = None,
        agent: str | None = None,
        holder: str,
        now: Instant,
        seconds: float,
        limit: int,
        without: Collection[tuple[str, str]] = (),
        note: Callable[[Dispatch], Json] | None = None,
    ) -> list[Dispatch]:
        where, values = self._due(types, workspace, agent, now)
        for each in without:
            where += " AND NOT (workspace = ? AND agent = ?)"
            values += each
        if not self._is_any(where, values):
            return []
        lock = " FOR UPDATE SKIP LOCKED" if self._driver.dialect == "postgresql" else ""
        sql = statements.select("job_dispatch", where, f"ORDER BY created_at, job LIMIT ?{lock}")
        with self._driver.write() as session:
            dispatches = [_dispatch(row) for row in session.fetch(sql, (*values, limit))]
            for dispatch in dispatches:
                dispatch.claims += 1
                dispatch.token = _new_token()
                dispatch.claimed_by = holder
                dispatch.claimed_until = now + instants.seconds(seconds)
                dispatch.state = dispatch.state if note is None else note(dispatch)
            session.execute_many(
                _CLAIM,
                [
                    (o.claims, o.token, o.claimed_by, o.claimed_until, o.state.decode(), o.workspace, o.job)
                    for o in dispatches
                ],
            )
        return dispatches

    def _is_any(self, where: str, values: Sequence[Any]) -> bool:
        """Looks before it writes: mostly there are none, and many look."""
        return bool(self._driver.fetch(f"SELECT 1 FROM job_dispatch WHERE {where} LIMIT 1", values))

    def claim_states(self, workspace: str, type_: str, now: Instant) -> list[Json]:
        sql = "SELECT state FROM job_dispatch WHERE workspace = ? AND type = ? AND claimed_until > ?"
        return [state.encode() for (state,) in self._driver.fetch(sql, (workspace, type_, now))]

    def _due(
        self, types: Iterable[str] | None, workspace: str | None, agent: str | None, now: Instant
    ) -> tuple[str, list[Any]]:
        where = "not_before <= ? AND cancelled = FALSE AND (claimed_until IS NULL OR claimed_until <= ?)"
        values: list[Any] = [now, now]
        if types is not None:
            names = list(types)
            where += f" AND type IN ({', '.join('?' for _ in names)})" if names else " AND 1 = 0"
            values += names
        for column, value in (("workspace", workspace), ("agent", agent)):
            if value is not None:
                where += f" AND {column} = ?"
                values.append(value)
        return where, values

    def renew_dispatch(self, dispatch: Dispatch, until: Instant) -> bool:
        with self._driver.write() as session:
            count = session.execute(
                "UPDATE job_dispatch SET claimed_until = ? WHERE workspace = ? AND job = ? AND token = ? "
                "AND cancelled = FALSE",
                (until, dispatch.workspace, dispatch.job, dispatch.token),
            )
        if count == 1:
            dispatch.claimed_until = until
        return count == 1

    def save_dispatch(self, dispatch: Dispatch) -> bool:
        with self._driver.write() as session:
            count = session.execute(
                "UPDATE job_dispatch SET state = ?, not_before = ?, claimed_by = ?, claimed_until = ? "
                "WHERE workspace = ? AND job = ? AND token = ?",
                (
                    dispatch.state.decode(),
                    dispatch.not_before,
                    dispatch.claimed_by,
                    dispatch.claimed_until,
                    dispatch.workspace,
                    dispatch.job,
                    dispatch.token,
                ),
            )
        return count == 1

    def claim_holders(self) -> list[str]:
        sql = "SELECT DISTINCT claimed_by FROM job_dispatch WHERE claimed_by IS NOT NULL ORDER BY claimed_by"
        return [holder for (holder,) in self._driver.fetch(sql)]

    def release_claims(self, holder: str) -> None:
        with self._driver.write() as session:
            session.execute("UPDATE job_dispatch SET claimed_until = NULL WHERE claimed_by = ?", (holder,))

    def give_back_dispatch(self, dispatch: Dispatch) -> None:
        with self._driver.write() as session:
            session.execute(
                "UPDATE job_dispatch SET claims = claims - 1, token = ?, claimed_by = NULL, "
                "claimed_until = NULL WHERE workspace = ? AND job = ? AND token = ?",
                (_new_token(), dispatch.workspace, dispatch.job, dispatch.token),
            )

    def end_lost_claims(self, type_: str, now: Instant, limit: int) -> list[Dispatch]:
        """Looks before it writes: mostly there are none, and many look."""
        where = "type = ? AND claimed_by IS NOT NULL AND claimed_until <= ? AND cancelled = FALSE"
        tail = "ORDER BY claimed_until, job LIMIT ?"
        lost = self._dispatches(where, (type_, now, limit), tail)
        if not lost:
            return []
        with self._driver.write() as session:
            return [
                dispatch
                for dispatch in lost
                if session.execute(
                    "UPDATE job_dispatch SET claimed_by = NULL, claimed_until = NULL "
                    "WHERE workspace = ? AND job = ? AND token = ? AND claimed_by IS NOT NULL AND claimed_until <= ?",
                    (dispatch.workspace, dispatch.job, dispatch.token, now),
                )
            ]

    def finish_dispatch(self, workspace: str, job: str) -> None:
        with self._driver.write() as session:
            session.execute(statements.delete("job_dispatch").sql, (workspace, job))

    def dispatch(self, workspace: str, job: str) -> Dispatch | None:
        return next(iter(self._dispatches("workspace = ? AND job = ?", (workspace, job))), None)

    def cancelled_dispatches(self, types: Iterable[str]) -> list[Dispatch]:
        names = list(types)
        if not names:
            return []
        where = f"cancelled = TRUE AND type IN ({', '.join('?' for _ in names)})"
        return self._dispatches(where, names)

    def oldest_waiting_dispatch(self) -> Instant | None:
        oldest = self._driver.fetch("SELECT min(created_at) FROM job_dispatch WHERE claims = 0")[0][0]
        return None if oldest is None else int(oldest)

    def overdue_dispatches(self, now: Instant, limit: int) -> list[Dispatch]:
        return self._dispatches(
            "deadline_at <= ? AND cancelled = FALSE", (now, limit), "ORDER BY deadline_at, job LIMIT ?"
        )

    def _dispatches(
        self, where: str, values: Sequence[Any], tail: str = "ORDER BY created_at, job"
    ) -> list[Dispatch]:
        return [
            _dispatch(row)
            for row in self._driver.fetch(statements.select("job_dispatch", where, tail), values)
        ]


def _new_token() -> int:
    """Not to be guessed by whoever knows another one; and a number that every JSON reader keeps as it is."""
    return 1 + secrets.randbits(52)


def _dispatch(row: tuple[Any, ...]) -> Dispatch:
    values = dict(zip(_COLUMNS, row))
    values["document"] = values["document"].encode()
    values["state"] = values["state"].encode()
    values["cancelled"] = bool(values["cancelled"])
    return Dispatch(**values)
