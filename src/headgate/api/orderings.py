"""Sorted keys of what the engine keeps, made once and used until something comes or goes.

Tables of the engine are dicts by name whose values are replaced by new ones whenever something of that name comes
again. So a table of the same size with the same last value has the same keys in it: what came since would be last.
"""

from __future__ import annotations

import bisect
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from headgate.api.pages import Key, Page
from headgate.fleet.state.state import State
from headgate.kernel.instants import Instant

Table = Mapping[str, Any]
CreatedAt = Callable[[Any], Instant]


class Ordering:
    """The keys of one table at one time."""

    def __init__(self, table: Table) -> None:
        self._size = len(table)
        self._last = _last(table)
        self._keys: dict[str, list[Key]] = {}
        self._ids: dict[str, str] | None = None

    def is_current(self, table: Table) -> bool:
        return len(table) == self._size and _last(table) is self._last

    def keys(self, table: Table, page: Page, created_at: CreatedAt) -> list[Key]:
        """Ascending, whatever the page asks for."""
        found = self._keys.get(page.field)
        if found is None:
            if page.field == "name":
                found = [(name,) for name in sorted(table)]
            else:
                found = sorted((created_at(node), name) for name, node in table.items())
            self._keys[page.field] = found
        return found

    def name_of_id(self, table: Table, id_: str, id_of: Callable[[Any], str]) -> str | None:
        if self._ids is None:
            self._ids = {id_of(node): name for name, node in table.items()}
        return self._ids.get(id_)


_LOCK = threading.Lock()
_ORDERINGS: weakref.WeakKeyDictionary[State, dict[str, Ordering]] = weakref.WeakKeyDictionary()


def of(state: State, kind: str, table: Table) -> Ordering:
    with _LOCK:
        known = _ORDERINGS.setdefault(state, {})
    ordering = known.get(kind)
    if ordering is None or not ordering.is_current(table):
        ordering = known[kind] = Ordering(table)
    return ordering


def after(keys: list[Key], page: Page, position: Key | None, count: int) -> list[Key]:
    """The next keys behind `position` in the direction of the page."""
    if not page.is_descending:
        first = 0 if position is None else bisect.bisect_right(keys, position)
        return keys[first : first + count]
    end = len(keys) if position is None else bisect.bisect_left(keys, position)
    return keys[max(0, end - count) : end][::-1]


def _last(table: Table) -> object:
    values: Iterator[Any] = reversed(table.values())  # type: ignore[call-overload]  # every table is a dict
    return next(values, None)
