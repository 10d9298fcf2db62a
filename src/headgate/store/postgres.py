"""PostgreSQL through asyncpg, whose event loop runs in a thread of its own: callers stay synchronous.

Writes of a transaction are collected and sent in one go with the next read or the commit, so that a commit costs a few
round trips and as few changes of thread.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import threading
import uuid
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import asyncpg

from headgate.store.drivers import Driver, Session, Values
from headgate.store.port import DiskFullError, NotAdmittedError, RefusedError, UnavailableError

CHANNEL = "headgate"
_CONNECT_SECONDS = 5.0
_STATEMENT_SECONDS = 60.0
_MOST_CONNECTIONS = 10
LONGEST_PAUSE_SECONDS = 30.0
"""The server ends a transaction that nothing is heard of: a process that stopped inside one would keep the workspace
locked for everybody. One that computes says so meanwhile, from another thread."""
_LONGEST_TRANSACTION_SECONDS = 900.0
"""After this it says so no more."""

Result = TypeVar("Result")


class PostgresDriver(Driver):
    dialect = "postgresql"

    def __init__(self, url: str, *, connections: int = _MOST_CONNECTIONS) -> None:
        self._url = url
        self._connections = connections
        self._name = uuid.uuid4().hex
        self._hinted = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="postgres", daemon=True)
        self._thread.start()
        self._listener: asyncpg.Connection[asyncpg.Record] | None = None
        self._is_closed = False
        try:
            self._pool: asyncpg.Pool[asyncpg.Record] = self._run(self._open_pool())
        except BaseException:
            self._stop_loop()
            raise

    async def _open_pool(self) -> asyncpg.Pool[asyncpg.Record]:
        return await asyncpg.create_pool(
            self._url,
            min_size=0,
            max_size=self._connections,
            timeout=_CONNECT_SECONDS,
            command_timeout=_STATEMENT_SECONDS,
            init=_prepare_connection,
            server_settings={
                "application_name": "headgate",
                "idle_in_transaction_session_timeout": str(int(LONGEST_PAUSE_SECONDS * 1_000)),
            },
        )

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        if self._is_closed:
            work.close()
            raise UnavailableError("the store is closed")
        with _translated():
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    @contextmanager
    def write(self) -> Iterator[Session]:
        with self._session("read_committed", is_read_only=False) as session:
            yield session

    @contextmanager
    def read(self) -> Iterator[Session]:
        with self._session("repeatable_read", is_read_only=True) as session:
            yield session

    @contextmanager
    def _session(self, isolation: str, *, is_read_only: bool) -> Iterator[Session]:
        connection, transaction = self._run(self._start(isolation, is_read_only))
        session = _PostgresSession(self, connection)
        asyncio.run_coroutine_threadsafe(session.keep_awake(), self._loop)
        try:
            yield session
            self._run(self._end(session, transaction, connection))
        except BaseException:
            with contextlib.suppress(UnavailableError):
                self._run(self._give_up(session, transaction, connection))
            raise

    async def _start(self, isolation: str, is_read_only: bool) -> tuple[Any, Any]:
        """A connection that the server has ended meanwhile is only noticed when it is used; then new ones are made."""
        try:
            return await self._begin(isolation, is_read_only)
        except (asyncpg.PostgresConnectionError, asyncpg.InterfaceError, asyncpg.AdminShutdownError, OSError):
            await self._pool.expire_connections()
            return await self._begin(isolation, is_read_only)

    async def _begin(self, isolation: str, is_read_only: bool) -> tuple[Any, Any]:
        connection = await self._pool.acquire(timeout=_STATEMENT_SECONDS)
        try:
            transaction = connection.transaction(isolation=isolation, readonly=is_read_only)  # type: ignore[arg-type]  # one of two literals
            await transaction.start()
        except BaseException:
            await self._pool.release(connection)
            raise
        return connection, transaction

    async def _end(self, session: _PostgresSession, transaction: Any, connection: Any) -> None:
        async with session.turn:
            session.over.set()
            await session.flush()
            await transaction.commit()
        await self._pool.release(connection)

    async def _give_up(self, session: _PostgresSession, transaction: Any, connection: Any) -> None:
        async with session.turn:
            session.over.set()
            try:
                if not connection.is_closed():
                    await transaction.rollback()
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                connection.terminate()
            finally:
                await self._pool.release(connection)

    def clock_microseconds(self, session: Session) -> int:
        sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
        return int(session.fetch(sql)[0][0])

    def hint(self) -> None:
        """What was written is written, whether or not others hear of it at once."""
        with contextlib.suppress(UnavailableError):
            self._run(self._pool.execute("SELECT pg_notify($1, $2)", CHANNEL, self._name))

    def wait_for_hint(self, seconds: float) -> bool:
        """Without a connection to listen on it only waits: the next look comes all the same."""
        with contextlib.suppress(UnavailableError):
            self._run(self._listen())
        was_hinted = self._hinted.wait(seconds)
        self._hinted.clear()
        return was_hinted

    async def _listen(self) -> None:
        if self._listener is not None and not self._listener.is_closed():
            return
        self._listener = await asyncpg.connect(self._url, timeout=_CONNECT_SECONDS)
        await self._listener.add_listener(CHANNEL, self._on_notification)

    def _on_notification(self, connection: object, process: int, channel: str, payload: object) -> None:
        """What this very store wrote need not be looked for."""
        if payload != self._name:
            self._hinted.set()

    def close(self) -> None:
        if self._is_closed:
            return
        with contextlib.suppress(UnavailableError):
            self._run(self._close())
        self._is_closed = True
        self._hinted.set()
        self._stop_loop()

    async def _close(self) -> None:
        if self._listener is not None:
            await self._listener.close()
        try:
            await asyncio.wait_for(self._pool.close(), _CONNECT_SECONDS)
        except TimeoutError:
            self._pool.terminate()

    def _stop_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _PostgresSession(Session):
    def __init__(self, driver: PostgresDriver, connection: Any) -> None:
        self._driver = driver
        self._connection = connection
        self._waiting: list[tuple[str, Sequence[Values]]] = []
        self.turn = asyncio.Lock()
        """One statement at a time on the connection."""
        self.over = asyncio.Event()

    async def keep_awake(self) -> None:
        """Lets the server hear of a transaction whose owner computes. What goes wrong here goes wrong there too."""
        for _ in range(int(3 * _LONGEST_TRANSACTION_SECONDS / LONGEST_PAUSE_SECONDS)):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.over.wait(), LONGEST_PAUSE_SECONDS / 3)
            async with self.turn:
                if self.over.is_set():
                    return
                try:
                    await self._connection.execute("SELECT 1")
                except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
                    return

    def fetch(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        return self._driver._run(self._fetch(numbered(sql), values))

    async def _fetch(self, sql: str, values: Values) -> list[tuple[Any, ...]]:
        async with self.turn:
            await self.flush()
            return [tuple(record) for record in await self._connection.fetch(sql, *values)]

    def execute(self, sql: str, values: Values = ()) -> int:
        return self._driver._run(self._execute(numbered(sql), values))

    async def _execute(self, sql: str, values: Values) -> int:
        async with self.turn:
            await self.flush()
            answer = await self._connection.execute(sql, *values)
        count = answer.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    def execute_many(self, sql: str, rows: Sequence[Values]) -> None:
        self._waiting.append((numbered(sql), rows))

    async def flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for sql, rows in waiting:
            await self._connection.executemany(sql, rows)


@functools.lru_cache(maxsize=512)
def numbered(sql: str) -> str:
    """`?` becomes `$1`, `$2`, ...; our statements have no other question marks."""
    pieces = sql.split("?")
    return "".join(
        f"{piece}${number}" if number < len(pieces) else piece for number, piece in enumerate(pieces, 1)
    )


async def _prepare_connection(connection: Any) -> None:
    await connection.set_type_codec("uuid", encoder=str, decoder=str, schema="pg_catalog", format="text")


@contextmanager
def _translated() -> Iterator[None]:
    """What the server refuses because of our statement is told apart from what another time may bring."""
    try:
        yield
    except asyncpg.DiskFullError as error:
        raise DiskFullError(f"PostgreSQL: {error}") from error
    except (asyncpg.InvalidCatalogNameError, asyncpg.InvalidAuthorizationSpecificationError) as error:
        raise NotAdmittedError(f"PostgreSQL: {error}") from error
    except (
        asyncpg.PostgresConnectionError,
        asyncpg.InterfaceError,
        asyncpg.OperatorInterventionError,
        asyncpg.InsufficientResourcesError,
        asyncpg.InvalidTransactionStateError,
        asyncpg.LockNotAvailableError,
        asyncpg.TransactionRollbackError,
        concurrent.futures.CancelledError,
        OSError,
        TimeoutError,
    ) as error:
        raise UnavailableError(f"PostgreSQL: {error or type(error).__name__}") from error
    except (asyncpg.PostgresError, asyncpg.InternalClientError) as error:
        raise RefusedError(f"PostgreSQL: {error}") from error
