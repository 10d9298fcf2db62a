"""Addresses of stores: each is opened, or refused with what is allowed."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from headgate.kernel.problems import Rejected
from headgate.store import Store, UnavailableError
from headgate.store.sql.opening import open_store

from .values import HOME


@pytest.mark.parametrize(
    "url", ["", "mysql://localhost/db", "headgate.db", "sqlite://", "sqlite:///", "nonsense:"]
)
def test_an_address_of_no_store_is_refused_with_what_is_allowed(url: str) -> None:
    with pytest.raises(Rejected) as refused:
        open_store(url)
    assert str(refused.value).startswith("--database: ")
    assert "sqlite:///FILE" in str(refused.value)
    assert "postgresql://" in str(refused.value)


def test_a_refused_address_is_shown_without_its_password() -> None:
    with pytest.raises(Rejected) as refused:
        open_store("mysql://ana:opensesame@localhost/db")
    assert "mysql://***@localhost/db" in str(refused.value)
    assert "opensesame" not in str(refused.value)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database\n" * 1000)
    with pytest.raises(UnavailableError, match=r"notes\.txt"):
        _open_and_migrate(file)
    assert file.read_text() == "not a database\n" * 1000


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="missing"):
        _open_and_migrate(tmp_path / "missing" / "headgate.db")


def _open_and_migrate(file: Path) -> None:
    store = open_store(f"sqlite:///{file}")
    try:
        store.migrate()
    finally:
        store.close()


def test_a_store_knows_its_address(store: Store, store_url: str) -> None:
    assert store.url == store_url


def test_a_store_that_is_there_answers(store: Store) -> None:
    store.ping()
    assert [one.name for one in store.workspaces()] == [HOME]


def test_stores_in_memory_are_strangers(tmp_path: Path) -> None:
    one, other = open_store("memory:"), open_store("memory:")
    one.migrate()
    other.migrate()
    one.put_document(HOME, "System", "web", b"{}")
    assert other.documents(HOME, "System") == {}
    one.close()
    other.close()


def test_a_new_database_that_another_process_writes_to_just_now_is_waited_for(tmp_path: Path) -> None:
    """It has no journal of its own yet, and SQLite refuses to give it one without waiting."""
    file = tmp_path / "headgate.db"
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE begun (x)")
        ending = threading.Timer(0.3, other.execute, ["COMMIT"])
        ending.start()
        try:
            open_store(f"sqlite:///{file}").close()
        finally:
            ending.join()
