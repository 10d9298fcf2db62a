"""How a list is answered: rows are fetched in short steps, then filtered and written outside of the engine's thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from headgate.api.http import filters, pages
from headgate.api.http.calls import Answer, Request
from headgate.api.http.filters import Filter
from headgate.api.http.pages import Key, Page

Row = TypeVar("Row")

FILTERED_STEP = 2_000
LONGEST_SEARCH_SECONDS = 2.0
"""After this a page ends where the search is; `next` goes on from there."""


class Listing(msgspec.Struct, Generic[Row], frozen=True):
    """`fetch` gives the next rows behind a key, fewer than asked for only at the end.

    A `sparse` list leaves rows out by giving None for them.
    """

    variable: str
    fetch: Callable[[Page, Key | None, int], Awaitable[Sequence[tuple[Key, Row | None]]]]
    document: Callable[[Row], Any]
    view: Callable[[Row], dict[str, Any]]
    step: int = FILTERED_STEP
    default_sort: str = "name"
    is_sparse: bool = False
    around: tuple[str, ...] = ()
    """Further variables of its filter: the objects that one of the list is made of."""
    bindings: Callable[[Row], Mapping[str, object] | None] = lambda _: None


class _ListPage(msgspec.Struct):
    items: list[tuple[Key, msgspec.Raw]] = []


async def answer(call: Request, listing: Listing[Row]) -> Answer:
    page = pages.read(call, listing.default_sort)
    condition = filters.condition(call.query.get("cel"), listing.variable, listing.around)
    deadline = time.monotonic() + LONGEST_SEARCH_SECONDS
    list_page = _ListPage()
    position = page.after
    while True:
        missing = page.limit + 1 - len(list_page.items)
        is_searching = condition is not None or listing.is_sparse
        count = max(listing.step, missing) if is_searching else missing
        rows = await listing.fetch(page, position, count)
        looked_at = await asyncio.to_thread(_take, listing, rows, condition, missing, list_page, deadline)
        if len(list_page.items) > page.limit:
            kept = list_page.items[: page.limit]
            return _answer(kept, page.cursor(kept[-1][0]))
        if looked_at == len(rows) < count:
            return _answer(list_page.items, None)
        position = rows[looked_at - 1][0]
        if time.monotonic() > deadline:
            return _answer(list_page.items, page.cursor(position))


def _take(
    listing: Listing[Row],
    rows: Sequence[tuple[Key, Row | None]],
    condition: Filter | None,
    missing: int,
    list_page: _ListPage,
    deadline: float,
) -> int:
    """How many of the rows it has looked at: at least one, and no more than there is time for."""
    wanted = len(list_page.items) + missing
    for number, (key, row) in enumerate(rows):
        if len(list_page.items) >= wanted or (number and time.monotonic() > deadline):
            return number
        if row is not None and (
            condition is None or condition.holds(listing.view(row), listing.bindings(row))
        ):
            list_page.items.append((key, msgspec.Raw(msgspec.json.encode(listing.document(row)))))
    return len(rows)


def _answer(items: Sequence[tuple[Key, msgspec.Raw]], following: str | None) -> Answer:
    document = {"items": [item for _, item in items], "next": following}
    return Answer(200, msgspec.json.encode(document))


def of_rows(
    variable: str,
    rows: Callable[[], Awaitable[Sequence[tuple[str, int, dict[str, Any]]]]],
    default_sort: str = "name",
) -> Listing[dict[str, Any]]:
    """A list that is small enough to be sorted each time: (name, created at, document) each."""

    async def fetch(page: Page, position: Key | None, count: int) -> Sequence[tuple[Key, dict[str, Any]]]:
        keyed = [(page.key(name, at), document) for name, at, document in await rows()]
        keyed.sort(key=lambda row: row[0], reverse=page.is_descending)
        if position is not None:
            keyed = [row for row in keyed if (row[0] < position if page.is_descending else row[0] > position)]
        return keyed[:count]

    return Listing(variable, fetch, _same, filters.with_times, default_sort=default_sort)


def _same(row: dict[str, Any]) -> dict[str, Any]:
    return row
