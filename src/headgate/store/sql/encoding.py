"""Values as each database takes them, by the kind of their column."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from headgate.kernel import instants
from headgate.store.schema import TABLES, Kind
from headgate.store.sql.statements import Dialect

Encoder = Callable[[Any], Any]


@functools.lru_cache(maxsize=4096)
def time_text(instant: int | None) -> str | None:
    """Sorts as text in the order of time, unlike the shortest form."""
    if instant is None:
        return None
    return instants.to_datetime(instant).isoformat(" ", "microseconds")


@functools.lru_cache(maxsize=4096)
def _time_value(instant: int | None) -> object:
    return None if instant is None else instants.to_datetime(instant)


def _json_text(document: bytes | None) -> str | None:
    return None if document is None else document.decode()


_ENCODERS: dict[Dialect, dict[Kind, Encoder]] = {
    "sqlite": {"time": time_text, "json": _json_text},
    "postgresql": {"time": _time_value, "json": _json_text},
}


def time(dialect: Dialect, instant: int) -> Any:
    return _ENCODERS[dialect]["time"](instant)


@functools.cache
def _encoders(table: str, dialect: Dialect) -> tuple[tuple[int, Encoder], ...]:
    return tuple(
        (position, _ENCODERS[dialect][column.kind])
        for position, column in enumerate(TABLES[table].columns)
        if column.kind in _ENCODERS[dialect]
    )


def rows(table: str, dialect: Dialect, given: Sequence[Sequence[Any]]) -> list[list[Any]]:
    encoders = _encoders(table, dialect)
    encoded_rows = []
    for row in given:
        values = list(row)
        for position, encode in encoders:
            values[position] = encode(values[position])
        encoded_rows.append(values)
    return encoded_rows
