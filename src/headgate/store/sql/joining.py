"""Writes of one transaction, joined for PostgreSQL: several tables in one statement, many rows in one array a column.

The parts of one statement all see the database as it was before it. So writes that may touch the same row are kept
apart, in their order.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence

from headgate.store.sql.drivers import Values
from headgate.store.sql.statements import Write

ValueRows = Sequence[Values]
Waiting = tuple[Write, ValueRows]

_MOST_ROWS = 1_000
"""More are sent row by row, so that no statement grows without bound."""


def joined(waiting: Iterable[Waiting]) -> Iterator[tuple[str, ValueRows]]:
    """Statements, each with the rows of values that it is to be carried out for."""
    together: list[Waiting] = []
    for write_waiting in waiting:
        write, rows = write_waiting
        if not _can_be_joined(write, rows):
            yield from _statement(together)
            yield numbered(write.sql), rows
            together = []
        elif any(_may_meet(write_waiting, other) for other in together):
            yield from _statement(together)
            together = [write_waiting]
        else:
            together.append(write_waiting)
    yield from _statement(together)


def _can_be_joined(write: Write, rows: ValueRows) -> bool:
    """One statement may not write a row twice, as one after another may."""
    if len(rows) == 1:
        return True
    is_insertion = write.sql_of_many is not None
    return is_insertion and len(rows) <= _MOST_ROWS and len(_keys(write, rows)) == len(rows)


def _may_meet(first: Waiting, other: Waiting) -> bool:
    if first[0].table != other[0].table:
        return False
    if first[0].key is None or other[0].key is None:
        return True
    return not _keys(*first).isdisjoint(_keys(*other))


def _keys(write: Write, rows: ValueRows) -> set[tuple[object, ...]]:
    key = write.key or ()
    return {tuple([row[place] for place in key]) for row in rows}


def _statement(together: Sequence[Waiting]) -> Iterator[tuple[str, ValueRows]]:
    if not together:
        return
    texts: list[str] = []
    values: list[object] = []
    for write, rows in together:
        text, given = _part(write, rows)
        texts.append(text)
        values += given
    yield _text(tuple(texts)), [values]


def _part(write: Write, rows: ValueRows) -> tuple[str, Iterable[object]]:
    """Arrays are dear to encode, and most writes are of one row or two."""
    if len(rows) == 1:
        return write.sql, rows[0]
    if len(rows) == 2:
        assert write.sql_of_two is not None, write.sql
        return write.sql_of_two, (*rows[0], *rows[1])
    assert write.sql_of_many is not None, write.sql
    return write.sql_of_many, zip(*rows)


@functools.lru_cache(maxsize=512)
def _text(parts: tuple[str, ...]) -> str:
    *before, last = parts
    if not before:
        return numbered(last)
    named = ", ".join(f"part_{number} AS ({part})" for number, part in enumerate(before, 1))
    return numbered(f"WITH {named} {last}")


@functools.lru_cache(maxsize=512)
def numbered(sql: str) -> str:
    """`?` becomes `$1`, `$2`, ...; our statements have no other question marks."""
    pieces = sql.split("?")
    return "".join(
        f"{piece}${number}" if number < len(pieces) else piece for number, piece in enumerate(pieces, 1)
    )
