"""SQL text from the schema. Placeholders are `?`; a driver that has others replaces them."""

import functools
from typing import Literal

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


def create(table: Table, dialect: Dialect) -> list[str]:
    columns = [
        f"{column.name} {_TYPES[dialect][column.kind]}{' NOT NULL' if column.required else ''}"
        for column in table.columns
    ]
    key = f"PRIMARY KEY ({', '.join(table.key)})"
    found = [f"CREATE TABLE {table.name} ({', '.join([*columns, key])})"]
    for columns_of_index in table.indexes:
        name = f"{table.name}_by_{'_'.join(columns_of_index)}"
        found.append(f"CREATE INDEX {name} ON {table.name} ({', '.join(columns_of_index)})")
    return found


@functools.cache
def upsert(name: str) -> str:
    table = TABLES[name]
    others = [column for column in table.column_names if column not in table.key]
    values = ", ".join("?" for _ in table.columns)
    updates = ", ".join(f"{column} = excluded.{column}" for column in others)
    action = f"DO UPDATE SET {updates}" if updates else "DO NOTHING"
    return (
        f"INSERT INTO {name} ({', '.join(table.column_names)}) VALUES ({values}) "
        f"ON CONFLICT ({', '.join(table.key)}) {action}"
    )


@functools.cache
def insert(name: str) -> str:
    table = TABLES[name]
    return f"INSERT INTO {name} ({', '.join(table.column_names)}) VALUES ({', '.join('?' for _ in table.columns)})"


@functools.cache
def delete(name: str, columns: tuple[str, ...] | None = None) -> str:
    keys = columns or TABLES[name].key
    return f"DELETE FROM {name} WHERE {' AND '.join(f'{column} = ?' for column in keys)}"


@functools.cache
def select(name: str, where: str = "workspace = ?", tail: str = "") -> str:
    table = TABLES[name]
    return f"SELECT {', '.join(table.column_names)} FROM {name} WHERE {where} {tail}".rstrip()
