"""Whatever a database does, callers are told that it is not available; and it is used again when it is there again."""

from __future__ import annotations

import sqlite3
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import postgres
from headgate.store import DiskFullError, RefusedError, Store, UnavailableError
from headgate.store.log import Event
from headgate.store.port import NotAdmittedError
from headgate.store.sql import connections
from headgate.store.sql import postgres as postgres_driver
from headgate.store.sql.opening import open_store
from headgate.store.sql.sqlite import SqliteDriver

from .values import HOME, workspace

PATIENCE_SECONDS = 30.0
_END_ALL = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


def _event(message: str) -> Event:
    return Event(0, 1, "told", "Test", "x", message)


def _tell(store: Store, message: str, before_the_end: Callable[[], None]) -> None:
    with store.begin(HOME) as transaction:
        transaction.add_events([_event(message)])
        before_the_end()


def test_connections_that_the_server_ended_are_replaced(
    opened: Callable[[str], Store], emptied_postgres_url: str
) -> None:
    store = opened(emptied_postgres_url)
    store.add_workspace(workspace(HOME))
    postgres.execute(emptied_postgres_url, _END_ALL)
    assert [one.name for one in store.workspaces()] == [HOME]


def test_a_transaction_whose_connection_was_ended_is_lost_as_a_whole_and_said_to_be(
    opened: Callable[[str], Store], emptied_postgres_url: str
) -> None:
    store = opened(emptied_postgres_url)
    store.add_workspace(workspace(HOME))
    with pytest.raises(UnavailableError):
        _tell(store, "lost", lambda: postgres.execute(emptied_postgres_url, _END_ALL))
    with store.begin(HOME) as transaction:
        transaction.add_events([_event("kept")])
    assert [event.message for event in store.events_after(HOME, 0, 10)] == ["kept"]


def test_connections_that_nobody_needs_are_given_back(
    emptied_postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_driver, "LONGEST_PAUSE_SECONDS", 0.3)
    monkeypatch.setattr(connections, "LONGEST_IDLE_SECONDS", 0.2)
    store = open_store(emptied_postgres_url)
    try:
        store.add_workspace(workspace(HOME))
        with store.begin(HOME):
            assert store.newest_event(HOME) == 0
        _until(lambda: not _connections(emptied_postgres_url))
        assert store.newest_event(HOME) == 0
        assert len(_connections(emptied_postgres_url)) == 1
    finally:
        store.close()


def _connections(url: str) -> list[object]:
    query = (
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'headgate'"
    )
    return list(postgres.fetch(url, query))


def test_a_transaction_may_compute_for_longer_than_the_server_waits_for_a_silent_one(
    emptied_postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine who keeps the transaction awake may itself be late by a second.
    monkeypatch.setattr(postgres_driver, "LONGEST_PAUSE_SECONDS", 2.0)
    store = open_store(emptied_postgres_url)
    try:
        store.add_workspace(workspace(HOME))
        with store.begin(HOME) as transaction:
            transaction.add_events([_event("kept")])
            end = time.monotonic() + 5.0
            while time.monotonic() < end:
                sum(range(10_000))
        assert store.newest_event(HOME) == 1
    finally:
        store.close()


def test_the_server_ends_a_transaction_that_nothing_is_heard_of(
    emptied_postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a process that was stopped: others can go on, and it is told when it goes on itself."""
    monkeypatch.setattr(postgres_driver, "LONGEST_PAUSE_SECONDS", 0.3)
    monkeypatch.setattr(postgres_driver, "_LONGEST_TRANSACTION_SECONDS", 0.0)
    store = open_store(emptied_postgres_url)
    try:
        store.add_workspace(workspace(HOME))
        with pytest.raises(UnavailableError):
            _tell(store, "lost", lambda: _until(lambda: not _idle_transactions(emptied_postgres_url)))
        assert store.newest_event(HOME) == 0
    finally:
        store.close()


def _idle_transactions(url: str) -> bool:
    query = (
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"
    )
    return bool(postgres.fetch(url, query))


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"


def test_a_lease_whose_holder_is_in_a_transaction_is_not_waited_for(
    opened: Callable[[str], Store], emptied_postgres_url: str
) -> None:
    """Even when it has run out: the holder cannot renew it while it computes, and what it writes counts."""
    one, other = opened(emptied_postgres_url), opened(emptied_postgres_url)
    one.add_workspace(workspace(HOME))
    lease = one.take_lease("engine/home", "one", -1.0)
    with one.begin(HOME, lease) as transaction:
        assert other.take_lease("engine/home", "other", 60.0) is None
        transaction.add_events([_event("kept")])
    assert other.take_lease("engine/home", "other", 60.0) is not None


def test_a_statement_that_the_database_refuses_is_told_apart(store: Store) -> None:
    """Trying it again does not help; it is no reason to answer 500 either."""
    with pytest.raises(RefusedError), store.begin(HOME) as transaction:
        transaction.put("event", [(HOME, 1, 1, "told", "Test", "x", None, b"{}")])


def test_an_unknown_database_is_told_apart_from_one_that_is_away(postgres_server_url: str) -> None:
    with pytest.raises(NotAdmittedError, match="nowhere"):
        open_store(postgres_server_url.replace("/postgres?", "/nowhere?"))


def test_a_store_can_be_opened_before_its_server_is_there(private_postgres: postgres.Server) -> None:
    private_postgres.stop()
    store = open_store(private_postgres.url, is_there=False)
    try:
        with pytest.raises(UnavailableError):
            store.migrate()
        private_postgres.start()
        store.migrate()
        assert store.add_workspace(workspace(HOME))
    finally:
        store.close()


def test_a_full_disk_is_said_to_be_one_and_nothing_of_the_transaction_is_kept(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'headgate.db'}")
    try:
        store.migrate()
        store.add_workspace(workspace(HOME))
        fill(store)
        with pytest.raises(DiskFullError), store.begin(HOME) as transaction:
            transaction.add_events([_event("x" * 4_000) for _ in range(100)])
        assert [one.name for one in store.workspaces()] == [HOME], "what is there can be read"
        assert store.newest_event(HOME) == 0
        make_room(store)
        with store.begin(HOME) as transaction:
            transaction.add_events([_event("x" * 4_000) for _ in range(100)])
        assert store.newest_event(HOME) == 100
    finally:
        store.close()


def fill(store: Store) -> None:
    """The database may not grow any more."""
    writer = _writer(store)
    (pages,) = writer.execute("PRAGMA page_count").fetchone()
    writer.execute(f"PRAGMA max_page_count = {pages}")


def make_room(store: Store) -> None:
    _writer(store).execute("PRAGMA max_page_count = 1000000")


def _writer(store: Store) -> sqlite3.Connection:
    driver = store._driver  # type: ignore[attr-defined]
    assert isinstance(driver, SqliteDriver)
    return driver._writer


def test_the_files_of_a_database_are_their_owners_alone(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'headgate.db'}")
    try:
        store.migrate()
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
        assert modes == {"headgate.db": 0o600, "headgate.db-wal": 0o600, "headgate.db-shm": 0o600}
    finally:
        store.close()
