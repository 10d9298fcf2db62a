"""Brings a database to the schema of this version, step by step, each in one transaction.

A step is never edited once it was released: later versions add steps. The first one is written by the code that
defines the tables, without those that later steps add.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from headgate.store.port import NewerSchemaError
from headgate.store.schema import TABLES
from headgate.store.sql import statements
from headgate.store.sql.drivers import DatabaseDriver, Session
from headgate.store.sql.statements import Dialect

Step = Callable[[Session, Dialect], None]


ADDED: tuple[tuple[str, ...], ...] = (("job_log",), ("history_piece",))
"""The tables of each step after the first."""


def _first_schema(session: Session, dialect: Dialect) -> None:
    later = frozenset(name for names in ADDED for name in names)
    _create([name for name in TABLES if name not in later], session, dialect)


def _create(names: Sequence[str], session: Session, dialect: Dialect) -> None:
    for name in names:
        for sql in statements.create(TABLES[name], dialect):
            session.execute(sql)


STEPS: tuple[Step, ...] = (_first_schema, *(partial(_create, names) for names in ADDED))


def migrate(driver: DatabaseDriver, steps: Sequence[Step] = STEPS) -> None:
    while True:
        with driver.write() as session:
            _one_at_a_time(session, driver.dialect)
            session.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY)")
            version = session.fetch("SELECT max(version) FROM schema_version")[0][0] or 0
            if version > len(steps):
                raise NewerSchemaError(
                    f"the database has schema {version}, this version of Headgate knows up to {len(steps)}; "
                    "use the version that wrote it, or a later one"
                )
            if version == len(steps):
                return
            steps[version](session, driver.dialect)
            session.execute("INSERT INTO schema_version (version) VALUES (?)", (version + 1,))


def _one_at_a_time(session: Session, dialect: Dialect) -> None:
    """Several processes may start at once; SQLite's write transactions are one at a time anyhow."""
    if dialect == "postgresql":
        session.execute("SELECT pg_advisory_xact_lock(4712001)")
