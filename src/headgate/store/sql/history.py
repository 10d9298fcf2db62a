"""What was, on any SQL database: segments that begin with all there was at a moment, and go on with what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from headgate.kernel.instants import Instant
from headgate.store.history import HistoryPiece, HistoryPieces, pack, unpack
from headgate.store.sql import encoding, statements
from headgate.store.sql.drivers import DatabaseDriver


class SqlHistory(HistoryPieces):
    _driver: DatabaseDriver

    def add_history(self, workspace: str, pieces: Sequence[HistoryPiece]) -> None:
        given = [
            (workspace, one.segment, one.piece, one.at, one.until, one.until_at, pack(one.document))
            for one in pieces
        ]
        with self._driver.write() as session:
            encoded = encoding.rows("history_piece", self._driver.dialect, given)
            session.execute_many(statements.upsert("history_piece"), encoded)

    def drop_history_after(self, workspace: str, position: int) -> None:
        with self._driver.write() as session:
            sql = "DELETE FROM history_piece WHERE workspace = ? AND until > ?"
            session.execute(sql, (workspace, position))

    def history_span(self, workspace: str) -> tuple[Instant, HistoryPiece] | None:
        sql = "SELECT min(at) FROM history_piece WHERE workspace = ? AND piece = 0"
        with self._driver.read() as session:
            earliest = session.fetch(sql, (workspace,))[0][0]
            where, tail = "workspace = ?", "ORDER BY segment DESC, piece DESC LIMIT 1"
            newest = session.fetch(statements.select("history_piece", where, tail), (workspace,))
        return None if earliest is None else (int(earliest), _piece(newest[0]))

    def history_until(self, workspace: str, at: Instant) -> list[HistoryPiece]:
        begin = "SELECT max(segment) FROM history_piece WHERE workspace = ? AND piece = 0 AND at <= ?"
        where = f"workspace = ? AND segment = ({begin}) AND at <= ?"
        sql = statements.select("history_piece", where, "ORDER BY piece")
        return [_piece(row) for row in self._driver.fetch(sql, (workspace, workspace, at, at))]

    def history_between(self, workspace: str, since: Instant, until: Instant) -> Iterator[HistoryPiece]:
        keys = "SELECT segment, piece FROM history_piece WHERE workspace = ? AND piece > 0 AND until_at >= ? AND at <= ?"
        select_piece = statements.select("history_piece", "workspace = ? AND segment = ? AND piece = ?")
        for key in self._driver.fetch(f"{keys} ORDER BY segment DESC, piece DESC", (workspace, since, until)):
            yield from map(_piece, self._driver.fetch(select_piece, (workspace, *key)))


def _piece(row: tuple[Any, ...]) -> HistoryPiece:
    _, segment, piece, at, until, until_at, document = row
    return HistoryPiece(segment, piece, at, until, until_at, unpack(document))
