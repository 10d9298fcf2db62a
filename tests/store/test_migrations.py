"""Databases of every released schema come to the present one whole, or stay as they were."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import postgres
from headgate.store import Store
from headgate.store.port import NewerSchemaError
from headgate.store.sql import migrations
from headgate.store.sql.drivers import DatabaseDriver, Session
from headgate.store.sql.opening import open_store
from headgate.store.sql.postgres import PostgresDriver
from headgate.store.sql.sqlite import SqliteDriver
from headgate.store.sql.statements import Dialect

from .sample import content, filled
from .values import HOME, append, payloads

RELEASED = Path(__file__).parent / "released"
VERSIONS = [f"{number:04}" for number in range(1, len(migrations.STEPS) + 1)]


class Database:
    """A new database, seen from outside the store."""

    def __init__(self, url: str, driver: Callable[[], DatabaseDriver]) -> None:
        self.url = url
        self.driver = driver
        self.kind = "sqlite" if url.startswith("sqlite:") else "postgres"

    def run(self, script: str) -> None:
        if self.kind == "sqlite":
            with closing(sqlite3.connect(self.url.removeprefix("sqlite:///"))) as connection:
                connection.executescript(script)
        else:
            postgres.execute(self.url, script)

    def schema(self) -> set[tuple[object, ...]]:
        """Tables with their columns, and indexes."""
        if self.kind == "sqlite":
            with closing(sqlite3.connect(self.url.removeprefix("sqlite:///"))) as connection:
                return set(connection.execute("SELECT type, name, sql FROM sqlite_master"))
        return {
            *postgres.fetch(
                self.url,
                "SELECT table_name, column_name, data_type, is_nullable, column_default "
                "FROM information_schema.columns WHERE table_schema = 'public'",
            ),
            *postgres.fetch(
                self.url, "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'"
            ),
        }


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "sqlite":
        file = tmp_path / "headgate.db"
        return Database(f"sqlite:///{file}", lambda: SqliteDriver(file))
    url = request.getfixturevalue("postgres_url")
    return Database(url, lambda: PostgresDriver(url))


@pytest.fixture
def driver(database: Database) -> Iterator[DatabaseDriver]:
    found = database.driver()
    yield found
    found.close()


def test_migrating_twice_is_migrating_once(database: Database, opened: Callable[[str], Store]) -> None:
    store = filled(open_store(database.url))
    before, schema = content(store), database.schema()
    store.close()
    again = opened(database.url)
    assert content(again) == before
    assert database.schema() == schema


@pytest.mark.parametrize("version", VERSIONS)
def test_a_released_database_comes_to_the_present_schema_with_its_data(
    database: Database, opened: Callable[[str], Store], version: str
) -> None:
    new = filled(open_store(database.url))
    expected, schema = content(new), database.schema()
    new.close()
    _drop_everything(database)
    database.run((RELEASED / f"{version}-{database.kind}.sql").read_text())
    upgraded = opened(database.url)
    assert database.schema() == schema, (
        "after a change of a schema that nobody has: scripts/released_schema --again"
    )
    assert content(upgraded) == _before_later_tables(expected, int(version))
    with upgraded.begin(HOME) as transaction:
        append(transaction, b"3")
    assert payloads(upgraded)[-1] == b"3"


def _before_later_tables(expected: dict[str, Any], version: int) -> dict[str, Any]:
    """What steps after the version's add is there, and empty: nobody could have written into it."""
    later = {name for names in migrations.ADDED[version - 1 :] for name in names}
    consumed, sequence, tables = expected["engine"]
    kept = {name: [] if name in later else rows for name, rows in tables.items()}
    return {**expected, "engine": (consumed, sequence, kept)}


def test_a_table_that_a_later_step_adds_is_expected_to_be_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "ADDED", (("first",), ("second",), ("third",)))
    rows = {"before": [b"0"], "first": [b"1"], "second": [b"2"], "third": [b"3"]}
    found = _before_later_tables({"head": 2, "engine": (2, 5, rows)}, 2)
    assert found == {
        "head": 2,
        "engine": (2, 5, {"before": [b"0"], "first": [b"1"], "second": [], "third": []}),
    }


def _drop_everything(database: Database) -> None:
    if database.kind == "sqlite":
        for file in Path(database.url.removeprefix("sqlite:///")).parent.glob("headgate.db*"):
            file.unlink()
    else:
        database.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public")


def test_a_database_of_a_later_version_is_refused_with_a_sentence(database: Database) -> None:
    store = open_store(database.url)
    store.migrate()
    store.close()
    later = len(migrations.STEPS) + 7
    database.run(f"INSERT INTO schema_version (version) VALUES ({later})")
    schema = database.schema()
    refused = open_store(database.url)
    with pytest.raises(NewerSchemaError) as error:
        refused.migrate()
    refused.close()
    assert f"schema {later}" in str(error.value)
    assert f"up to {len(migrations.STEPS)}" in str(error.value)
    assert database.schema() == schema


def _second(session: Session, dialect: Dialect) -> None:
    session.execute("CREATE TABLE second_step (name TEXT)")
    session.execute("INSERT INTO second_step VALUES ('here')")


def _broken(session: Session, dialect: Dialect) -> None:
    _second(session, dialect)
    session.execute("DROP TABLE IF EXISTS log_entry")
    raise KeyboardInterrupt


def test_an_interrupted_step_leaves_the_schema_before_it(
    database: Database, driver: DatabaseDriver, opened: Callable[[str], Store]
) -> None:
    filled(open_store(database.url)).close()
    schema = database.schema()
    with pytest.raises(KeyboardInterrupt):
        migrations.migrate(driver, (*migrations.STEPS, _broken))
    assert database.schema() == schema
    assert content(opened(database.url))["head"] == 2


def test_an_interrupted_first_step_leaves_nothing(database: Database, driver: DatabaseDriver) -> None:
    before = database.schema()
    with pytest.raises(KeyboardInterrupt):
        migrations.migrate(driver, (_broken,))
    assert database.schema() == before


def test_a_step_that_was_interrupted_is_taken_at_the_next_start(
    database: Database, driver: DatabaseDriver
) -> None:
    with pytest.raises(KeyboardInterrupt):
        migrations.migrate(driver, (*migrations.STEPS, _broken))
    migrations.migrate(driver, (*migrations.STEPS, _second))
    with driver.read() as session:
        assert session.fetch("SELECT name FROM second_step") == [("here",)]


def test_steps_are_taken_in_their_order_and_once(database: Database, driver: DatabaseDriver) -> None:
    taken: list[int] = []

    def step(number: int) -> migrations.Step:
        return lambda session, dialect: taken.append(number)

    migrations.migrate(driver, (step(1), step(2)))
    migrations.migrate(driver, (step(1), step(2), step(3)))
    assert taken == [1, 2, 3]
