"""Sorted keys of what the engine keeps, made once and used until something comes or goes.

Tables of the engine are dicts by name whose values are replaced by new ones whenever something of that name comes
again. So a table of the same size with the same last value has the same keys in it: what came since would be last.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from headgate.kernel.instants import Instant

Key = tuple[Any, ...]
"""(name,) or (created at, name): what a list is sorted by, ending in what is unique."""
Table = Mapping[str, Any]
CreatedAt = Callable[[Any], Instant]
NAME = "name"
"""The field by which a list is sorted whose keys are names alone; by any other it is sorted by time."""


class KeyRange(msgspec.Struct, frozen=True):
    """A part of a sorted list: `count` keys behind `position`, in one direction or the other."""

    field: str
    is_descending: bool
    position: Key | None
    count: int

    def of(self, keys: list[Key]) -> list[Key]:
        """`keys` ascend, whatever the range asks for."""
        if not self.is_descending:
            first = 0 if self.position is None else bisect.bisect_right(keys, self.position)
            return keys[first : first + self.count]
        end = len(keys) if self.position is None else bisect.bisect_left(keys, self.position)
        return keys[max(0, end - self.count) : end][::-1]


class Ordering:
    """The keys of one table at one time."""

    def __init__(self, table: Table) -> None:
        self._size = len(table)
        self._last = _last(table)
        self._keys: dict[str, list[Key]] = {}
        self._ids: dict[str, str] | None = None

    def is_current(self, table: Table) -> bool:
        return len(table) == self._size and _last(table) is self._last

    def keys(self, table: Table, field: str, created_at: CreatedAt) -> list[Key]:
        """Ascending."""
        keys = self._keys.get(field)
        if keys is None:
            if field == NAME:
                keys = [(name,) for name in sorted(table)]
            else:
                keys = sorted((created_at(node), name) for name, node in table.items())
            self._keys[field] = keys
        return keys

    def name_of_id(self, table: Table, id_: str, id_of: Callable[[Any], str]) -> str | None:
        if self._ids is None:
            self._ids = {id_of(node): name for name, node in table.items()}
        return self._ids.get(id_)


def of(known: dict[str, Ordering], kind: str, table: Table) -> Ordering:
    """The one that is known, if it still is what the table has."""
    ordering = known.get(kind)
    if ordering is None or not ordering.is_current(table):
        ordering = known[kind] = Ordering(table)
    return ordering


def _last(table: Table) -> object:
    values: Iterator[Any] = reversed(table.values())  # type: ignore[call-overload]  # every table is a dict
    return next(values, None)
