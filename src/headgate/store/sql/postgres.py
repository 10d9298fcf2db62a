"""PostgreSQL through asyncpg, whose event loop runs in a thread of its own: callers stay synchronous.

Round trips and changes of thread are what a small transaction costs. So it begins with its first statement, its writes
are collected and sent with the next read or the commit, joined as far as they can be, and a read by itself needs no
transaction.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import asyncpg

from headgate.store.port import DiskFullError, NotAdmittedError, RefusedError, UnavailableError
from headgate.store.sql import connections
from headgate.store.sql.connections import Connections
from headgate.store.sql.drivers import DatabaseDriver, Session, Values
from headgate.store.sql.joining import joined, numbered
from headgate.store.sql.statements import Write

CHANNEL = "headgate"
_MOST_CONNECTIONS = 10
LONGEST_PAUSE_SECONDS = 30.0
"""The server ends a transaction that nothing is heard of: a process that stopped inside one would keep the workspace
locked for everybody. One that computes says so meanwhile, from another thread."""
_LONGEST_TRANSACTION_SECONDS = 900.0
"""After this it says so no more."""
_BETWEEN_HINTS_SECONDS = 0.01
"""Who was told to look a moment ago need not be told for every commit since."""
_BEGIN_WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED"
_BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_GONE = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.AdminShutdownError,
    OSError,
)

Result = TypeVar("Result")

_new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
with contextlib.suppress(ImportError):  # there is none for Windows
    import uvloop

    _new_loop = uvloop.new_event_loop


class PostgresDriver(DatabaseDriver):
    dialect = "postgresql"

    def __init__(self, url: str, *, most_connections: int = _MOST_CONNECTIONS) -> None:
        self._url = url
        self._connections = Connections(
            url,
            most_connections,
            {
                "application_name": "headgate",
                "idle_in_transaction_session_timeout": str(int(LONGEST_PAUSE_SECONDS * 1_000)),
            },
        )
        self._name = uuid.uuid4().hex
        self._hinted = threading.Event()
        self._hinting: asyncio.Task[None] | None = None
        self._hint_is_due = False
        self._loop = _new_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="postgres", daemon=True)
        self._thread.start()
        self._listener: asyncpg.Connection[asyncpg.Record] | None = None
        self._is_closed = False
        self._open_sessions: set[_PostgresSession] = set()
        self._waker = self._run(self._woken())

    async def _woken(self) -> asyncio.Task[None]:
        return asyncio.create_task(self._keep_awake())

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        if self._is_closed:
            work.close()
            raise UnavailableError("the store is closed")
        with _translated():
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    @contextmanager
    def write(self) -> Iterator[Session]:
        with self._session(_BEGIN_WRITING) as session:
            yield session

    @contextmanager
    def read(self) -> Iterator[Session]:
        with self._session(_BEGIN_READING) as session:
            yield session

    def fetch(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        return self._run(self._fetch(numbered(sql), values))

    async def _fetch(self, sql: str, values: Values) -> list[tuple[Any, ...]]:
        async def ask(connection: Any) -> list[tuple[Any, ...]]:
            return [tuple(record) for record in await connection.fetch(sql, *values)]

        connection, answer = await self._on_connection(ask)
        self._connections.release(connection)
        return answer

    @contextmanager
    def _session(self, begin: str) -> Iterator[Session]:
        session = _PostgresSession(self, begin)
        try:
            yield session
            if session.is_used:
                self._run(session.commit())
        except BaseException:
            with contextlib.suppress(UnavailableError):
                if session.is_used:
                    self._run(session.give_up())
            raise

    async def begin(self, session: _PostgresSession, sql: str) -> Any:
        connection, _ = await self._on_connection(lambda session: session.execute(sql))
        self._open_sessions.add(session)
        return connection

    def end(self, session: _PostgresSession, connection: Any) -> None:
        self._open_sessions.discard(session)
        self._connections.release(connection)

    async def _on_connection(self, work: Callable[[Any], Awaitable[Result]]) -> tuple[Any, Result]:
        """A connection that the server has ended meanwhile is only noticed when it is used; then new ones are made."""
        try:
            return await self._on_one_connection(work)
        except _GONE:
            self._connections.drop_idle(0.0)
            return await self._on_one_connection(work)

    async def _on_one_connection(self, work: Callable[[Any], Awaitable[Result]]) -> tuple[Any, Result]:
        connection = await self._connections.acquire()
        try:
            return connection, await work(connection)
        except asyncpg.PostgresError:
            self._connections.release(connection)
            raise
        except BaseException:
            # The server's farewell may have been read and the end of the connection not yet, or an answer is still to come.
            self._connections.drop(connection)
            raise

    async def _keep_awake(self) -> None:
        """Lets the server hear of transactions whose owners compute, and gives back connections that nobody needs."""
        while True:
            await asyncio.sleep(LONGEST_PAUSE_SECONDS / 3)
            self._connections.drop_idle(connections.LONGEST_IDLE_SECONDS)
            for session in self._open_sessions:
                session.say_awake()

    def clock_microseconds(self, session: Session) -> int:
        sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
        return int(session.fetch(sql)[0][0])

    def hint(self) -> None:
        """Nobody waits for it: what was written is written, whether or not others hear of it at once."""
        if not self._is_closed:
            self._loop.call_soon_threadsafe(self._hint_soon)

    def _hint_soon(self) -> None:
        self._hint_is_due = True
        if self._hinting is None or self._hinting.done():
            self._hinting = self._loop.create_task(self._keep_hinting())

    async def _keep_hinting(self) -> None:
        while self._hint_is_due:
            await self._hint()
            await asyncio.sleep(_BETWEEN_HINTS_SECONDS)

    async def _hint(self) -> None:
        self._hint_is_due = False
        with contextlib.suppress(UnavailableError, RefusedError), _translated():
            await self._fetch("SELECT pg_notify($1, $2)", (CHANNEL, self._name))

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
        self._listener = await asyncpg.connect(self._url, timeout=connections.CONNECT_SECONDS)
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
        self._waker.cancel()
        if self._hinting is not None:
            await self._hinting
        if self._listener is not None:
            await self._listener.close()
        await self._connections.close()

    def _stop_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _PostgresSession(Session):
    def __init__(self, driver: PostgresDriver, begin: str) -> None:
        self._driver = driver
        self._begin = begin
        self._connection: Any = None
        self._began_at = 0.0
        self._waiting: list[tuple[Write, Sequence[Values]]] = []
        self._turn = asyncio.Lock()
        """One statement at a time on the connection."""
        self._saying_awake: asyncio.Task[None] | None = None

    @property
    def is_used(self) -> bool:
        return self._connection is not None or bool(self._waiting)

    def say_awake(self) -> None:
        if time.monotonic() - self._began_at < _LONGEST_TRANSACTION_SECONDS and not self._turn.locked():
            self._saying_awake = asyncio.create_task(self._say_awake())

    async def _say_awake(self) -> None:
        """What goes wrong here goes wrong for the owner too, who is told."""
        async with self._turn:
            with contextlib.suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
                if self._connection is not None:
                    await self._connection.execute("SELECT 1")

    def fetch(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        return self._driver._run(self._fetch(numbered(sql), values))

    async def _fetch(self, sql: str, values: Values) -> list[tuple[Any, ...]]:
        async with self._turn:
            connection = await self._flushed()
            return [tuple(record) for record in await connection.fetch(sql, *values)]

    def execute(self, sql: str, values: Values = ()) -> int:
        return self._driver._run(self._execute(numbered(sql), values))

    async def _execute(self, sql: str, values: Values) -> int:
        async with self._turn:
            connection = await self._flushed()
            answer = await connection.execute(sql, *values)
        count = answer.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    def execute_many(self, write: Write, rows: Sequence[Values]) -> None:
        if rows:
            self._waiting.append((write, rows))

    async def _flushed(self) -> Any:
        """The connection, after what waited to be sent."""
        if self._connection is None:
            self._connection = await self._driver.begin(self, self._begin)
            self._began_at = time.monotonic()
        waiting, self._waiting = self._waiting, []
        for sql, rows in joined(waiting):
            await self._connection.executemany(sql, rows)
        return self._connection

    async def commit(self) -> None:
        async with self._turn:
            connection = await self._flushed()
            await connection.execute("COMMIT")
            self._connection = None
            self._driver.end(self, connection)

    async def give_up(self) -> None:
        async with self._turn:
            connection, self._connection = self._connection, None
            if connection is None:
                return
            try:
                if not connection.is_closed():
                    await connection.execute("ROLLBACK")
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                connection.terminate()
            finally:
                self._driver.end(self, connection)


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
