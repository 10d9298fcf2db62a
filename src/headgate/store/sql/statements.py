"""SQL text from the schema. Placeholders are `?`; a driver that has others replaces them."""

import functools
from typing import Literal

import msgspec

from headgate.store.schema import TABLES, Kind, Table

Dialect = Literal["sqlite", "postgresql"]

_TYPES: dict[Dialect, dict[Kind, str]] = {
    "sqlite": {
        "text": "TEXT",
        "int": "INTEGER",
        "bool": "INTEGER",
        "json": "TEXT",
        "time": "TEXT",
        "uuid": "TEXT",
    },
    "postgresql": {
        "text": "TEXT",
        "int": "BIGINT",
        "bool": "BOOLEAN",
        "json": "JSON",
        "time": "TIMESTAMPTZ",
        "uuid": "UUID",
    },
}


class Write(msgspec.Struct, frozen=True):
    """What is done to one table, once for each row of values."""

    table: str
    sql: str
    sql_of_two: str | None = None
    """Does it for two rows at once, the values of one behind those of the other."""
    sql_of_many: str | None = None
    """For PostgreSQL: does it for all rows at once, which it takes as one array for each column."""
    key: tuple[int, ...] | None = None
    """Where among the values the table's key stands; None if they say nothing of it."""


def create(table: Table, dialect: Dialect) -> list[str]:
    columns = [
        f"{column.name} {_TYPES[dialect][column.kind]}{' NOT NULL' if column.required else ''}"
        for column in table.columns
    ]
    key = f"PRIMARY KEY ({', '.join(table.key)})"
    sql_statements = [f"CREATE TABLE {table.name} ({', '.join([*columns, key])})"]
    for columns_of_index in table.indexes:
        name = f"{table.name}_by_{'_'.join(columns_of_index)}"
        sql_statements.append(f"CREATE INDEX {name} ON {table.name} ({', '.join(columns_of_index)})")
    return sql_statements


@functools.cache
def upsert(name: str) -> Write:
    table = TABLES[name]
    others = [column for column in table.column_names if column not in table.key]
    updates = ", ".join(f"{column} = excluded.{column}" for column in others)
    action = f"DO UPDATE SET {updates}" if updates else "DO NOTHING"
    return _insertion(table, f" ON CONFLICT ({', '.join(table.key)}) {action}")


@functools.cache
def insert(name: str) -> Write:
    return _insertion(TABLES[name])


def _insertion(table: Table, tail: str = "") -> Write:
    begin = f"INSERT INTO {table.name} ({', '.join(table.column_names)})"
    values = f"({', '.join('?' for _ in table.columns)})"
    arrays = ", ".join(f"?::{_TYPES['postgresql'][column.kind]}[]" for column in table.columns)
    return Write(
        table.name,
        f"{begin} VALUES {values}{tail}",
        f"{begin} VALUES {values}, {values}{tail}",
        f"{begin} SELECT * FROM unnest({arrays}){tail}",
        tuple(table.column_names.index(column) for column in table.key),
    )


@functools.cache
def delete(name: str, columns: tuple[str, ...] | None = None) -> Write:
    table = TABLES[name]
    given = columns or table.key
    sql = f"DELETE FROM {name} WHERE {' AND '.join(f'{column} = ?' for column in given)}"
    return Write(name, sql, key=tuple(range(len(given))) if given == table.key else None)


@functools.cache
def select(name: str, where: str = "workspace = ?", tail: str = "") -> str:
    table = TABLES[name]
    return f"SELECT {', '.join(table.column_names)} FROM {name} WHERE {where} {tail}".rstrip()
