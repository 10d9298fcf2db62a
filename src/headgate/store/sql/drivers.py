"""What a database must offer so that one store can stand on it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from headgate.store.sql.statements import Dialect, Write

Values = Sequence[Any]
Clock = Callable[[], int]
"""Microseconds since 1970."""


def machine_clock() -> int:
    return time.time_ns() // 1_000


class Session(ABC):
    """One transaction. Values are of the column's kind: str, int, bool, JSON as bytes, instants as int."""

    @abstractmethod
    def fetch(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]: ...

    @abstractmethod
    def execute(self, sql: str, values: Values = ()) -> int:
        """The number of rows it touched."""

    @abstractmethod
    def execute_many(self, write: Write, rows: Sequence[Values]) -> None:
        """May be sent later, at the latest with the commit."""


class DatabaseDriver(ABC):
    dialect: Dialect

    @abstractmethod
    def write(self) -> AbstractContextManager[Session]:
        """Commits when the block ends, rolls back when it raises."""

    @abstractmethod
    def read(self) -> AbstractContextManager[Session]:
        """All reads of the block see one moment."""

    def fetch(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """One read by itself."""
        with self.read() as session:
            return session.fetch(sql, values)

    @abstractmethod
    def clock_microseconds(self, session: Session) -> int:
        """The time that all processes on this database agree on."""

    @abstractmethod
    def hint(self) -> None: ...

    @abstractmethod
    def wait_for_hint(self, seconds: float) -> bool: ...

    @abstractmethod
    def close(self) -> None: ...
