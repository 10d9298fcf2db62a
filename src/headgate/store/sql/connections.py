"""Connections to one PostgreSQL server: so many at a time, and those that are free are kept for the next.

asyncpg's own pool starts tasks and timers whenever it hands a connection out and takes it back, which costs more than the
statements of a small transaction do. Here both are an entry in a list.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import asyncpg

from headgate.store.port import UnavailableError

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

CONNECT_SECONDS = 5.0
STATEMENT_SECONDS = 60.0
LONGEST_IDLE_SECONDS = 300.0


class Connections:
    """Used by one event loop alone."""

    def __init__(self, url: str, most: int, server_settings: Mapping[str, str]) -> None:
        self._url = url
        self._most = most
        self._server_settings = dict(server_settings)
        self._places = asyncio.Semaphore(most)
        self._free: list[tuple[Connection, float]] = []
        """The one used last at the end, each with since when it is free, by the monotonic clock."""
        self._used: set[Connection] = set()
        self._is_closed = False

    async def acquire(self) -> Connection:
        if self._places.locked():
            await asyncio.wait_for(self._places.acquire(), STATEMENT_SECONDS)
        else:
            await self._places.acquire()
        try:
            connection = await self._free_or_new()
        except BaseException:
            self._places.release()
            raise
        self._used.add(connection)
        return connection

    async def _free_or_new(self) -> Connection:
        if self._is_closed:
            raise UnavailableError("the store is closed")
        while self._free:
            connection, _ = self._free.pop()
            if not connection.is_closed():
                return connection
        connection = await asyncpg.connect(
            self._url,
            timeout=CONNECT_SECONDS,
            command_timeout=STATEMENT_SECONDS,
            server_settings=self._server_settings,
        )
        try:
            await connection.set_type_codec(
                "uuid", encoder=str, decoder=str, schema="pg_catalog", format="text"
            )
        except BaseException:
            connection.terminate()
            raise
        return connection

    def release(self, connection: Connection) -> None:
        """Nothing that was done on it may be left over: whoever had it has ended what was begun, or it goes."""
        self._used.discard(connection)
        self._places.release()
        if self._is_closed or connection.is_closed() or connection.is_in_transaction():
            connection.terminate()
        else:
            self._free.append((connection, time.monotonic()))

    def drop(self, connection: Connection) -> None:
        """It looks open, and nobody knows what state it is in."""
        connection.terminate()
        self.release(connection)

    def drop_idle(self, idle_seconds: float) -> None:
        """Those that nobody has needed for so long."""
        before = time.monotonic() - idle_seconds
        idle = [connection for connection, free_since in self._free if free_since <= before]
        self._free = self._free[len(idle) :]
        for connection in idle:
            connection.terminate()

    async def close(self) -> None:
        """Whoever has one is given a moment to end."""
        self._is_closed = True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._take_every_place(), CONNECT_SECONDS)
        for connection in self._used:
            connection.terminate()
        for connection, _ in self._free:
            await connection.close(timeout=CONNECT_SECONDS)

    async def _take_every_place(self) -> None:
        for _ in range(self._most):
            await self._places.acquire()
