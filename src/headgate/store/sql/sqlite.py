"""SQLite in WAL mode: one connection writes, others read beside it."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headgate.store.port import DiskFullError, RefusedError, UnavailableError
from headgate.store.sql.drivers import Clock, DatabaseDriver, Session, Values, machine_clock
from headgate.store.sql.statements import Write

_BUSY_SECONDS = 30.0
_BUSY_AGAIN_SECONDS = 0.01
_MOST_IDLE_READERS = 8


class SqliteDriver(DatabaseDriver):
    """`path` None keeps everything in memory; then one connection serves all, one block at a time."""

    dialect = "sqlite"

    def __init__(self, path: Path | None, clock: Clock = machine_clock) -> None:
        self._path = path
        self._clock = clock
        self._write_lock = threading.RLock()
        self._readers: list[sqlite3.Connection] = []
        self._readers_lock = threading.Lock()
        self._closed = threading.Event()
        self._is_closed = False
        try:
            if path is not None:
                _make_private(path)
            self._writer = self._connect()
        except (sqlite3.DatabaseError, OSError) as error:
            raise UnavailableError(f"SQLite cannot open {path}: {error}") from error

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            ":memory:" if self._path is None else str(self._path),
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        if self._path is not None:
            _begin_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA cache_size = -65536")
            connection.execute("PRAGMA wal_autocheckpoint = 4000")
        return connection

    @contextmanager
    def write(self) -> Iterator[Session]:
        with self._write_lock, _translated():
            connection = self._writer
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield _SqliteSession(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def read(self) -> Iterator[Session]:
        if self._path is None:
            with self._write_lock, _translated():
                yield _SqliteSession(self._writer)
            return
        with _translated():
            connection = self._borrow()
            try:
                connection.execute("BEGIN")
                yield _SqliteSession(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")
                self._give_back(connection)

    def _borrow(self) -> sqlite3.Connection:
        with self._readers_lock:
            if self._is_closed:
                raise UnavailableError("the store is closed")
            if self._readers:
                return self._readers.pop()
        return self._connect()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._readers_lock:
            if len(self._readers) < _MOST_IDLE_READERS and not self._is_closed:
                self._readers.append(connection)
                return
        connection.close()

    def clock_microseconds(self, session: Session) -> int:
        return self._clock()

    def hint(self) -> None:
        """There is no way to tell other processes: they look."""

    def wait_for_hint(self, seconds: float) -> bool:
        self._closed.wait(seconds)
        return False

    def close(self) -> None:
        self._closed.set()
        with self._write_lock, self._readers_lock:
            self._is_closed = True
            for connection in (*self._readers, self._writer):
                connection.close()
            self._readers.clear()


def _begin_wal(connection: sqlite3.Connection) -> None:
    """Two processes may open a new database at once. While one of them changes the journal, SQLite refuses the other without
    waiting for as long as it waits elsewhere, so that is done here."""
    ends = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                raise
        time.sleep(_BUSY_AGAIN_SECONDS)


def _make_private(path: Path) -> None:
    """A new file is its owner's alone; what SQLite keeps beside it is given the same mode."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


class _SqliteSession(Session):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def fetch(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()

    def execute(self, sql: str, values: Values = ()) -> int:
        return self._connection.execute(sql, values).rowcount

    def execute_many(self, write: Write, rows: Sequence[Values]) -> None:
        self._connection.executemany(write.sql, rows)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (sqlite3.OperationalError, sqlite3.InternalError) as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            raise DiskFullError(f"SQLite: {error}") from error
        raise UnavailableError(f"SQLite: {error}") from error
    except sqlite3.ProgrammingError as error:
        if "closed database" in str(error):
            raise UnavailableError("the store is closed") from error
        raise RefusedError(f"SQLite: {error}") from error
    except sqlite3.Error as error:
        raise RefusedError(f"SQLite: {error}") from error
