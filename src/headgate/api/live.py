"""What can be seen changes: followed once for all streams of a workspace that want to know it row by row.

Nothing is looked at while nobody listens. Looking is done in the engine's thread, a little at a time; whoever comes is
given all there is, and from then on what has changed since, always as it is by now: who reads slowly misses moments in
between and nothing else.
"""

from __future__ import annotations

import asyncio
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from headgate.api import sightings
from headgate.api.http import replies
from headgate.api.http.calls import Request
from headgate.fleet.engine.change_tracker import ChangeTracker, Row, Tables
from headgate.runtime.commands import EngineView

SLICE_SECONDS = 0.02
"""How long one look may keep the engine from its work."""
REST_SECONDS = 0.04
"""Between looks: what is decided in many small steps is told in few."""
MOST_KEPT = 20_000
"""Changes that somebody who is behind can catch up with; who is further behind is given everything anew."""
LEAST_SECONDS_BETWEEN = 0.25
SHARE = 10.0
"""A matrix that took a second is good for ten."""
SHORTLY_SECONDS = 0.05
MOST_WORKSPACES = 32

RowKey = tuple[str, str]
StatusReader = Callable[[Request], Awaitable[dict[str, Any]]]


class SeenRows:
    """Of one workspace in this process. `number` counts changes; each row is known by the last one it had."""

    def __init__(self) -> None:
        self.number = 0
        self._tracker = ChangeTracker()
        self._tables: Tables = {table: {} for table in self._tracker.tables}
        self._looked_up: deque[Row] = deque()
        self._changed: OrderedDict[RowKey, int] = OrderedDict()
        self._complete_since = 0
        self._status: bytes | None = None
        self._status_at = self._status_took = 0.0
        self.status_may_differ = True
        self._asking: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._looked_at = 0.0

    async def catch_up(self, call: Request) -> None:
        """Sees all that is committed by now."""
        asked = time.monotonic()
        async with self._lock:
            if self._looked_at > asked:
                return
            await asyncio.sleep(max(0.0, self._looked_at + REST_SECONDS - time.monotonic()))
            while True:
                began = time.monotonic()
                is_all = await replies.ask(call, self._look)
                self._note()
                if is_all:
                    break
            self._looked_at = began

    def _look(self, view: EngineView) -> bool:
        """In the engine's thread. Whoever asked may be gone by the end of it; what was seen is others' too, and waits."""
        ends = time.monotonic() + SLICE_SECONDS
        self._looked_up += self._tracker.changes(view.engine, view.now, lambda: time.monotonic() > ends)
        view.engine.tracker = self._tracker
        return not self._tracker.is_behind

    def _note(self) -> None:
        while self._looked_up:
            table, name, content = self._looked_up.popleft()
            self.status_may_differ = True
            self.number += 1
            self._changed.pop((table, name), None)
            self._changed[table, name] = self.number
            if content is None:
                self._tables[table].pop(name, None)
            else:
                self._tables[table][name] = content
        while len(self._changed) > MOST_KEPT:
            _, self._complete_since = self._changed.popitem(last=False)

    async def status(self, call: Request, ask: StatusReader) -> bytes | None:
        """The matrix, as it was a moment ago: where it is large it takes long, is not asked for all the time, and is waited
        for but shortly, since rows are to be told meanwhile."""
        rest = max(LEAST_SECONDS_BETWEEN, SHARE * self._status_took)
        is_due = self.status_may_differ and time.monotonic() > self._status_at + rest
        if is_due and (self._asking is None or self._asking.done()):
            self.status_may_differ = False
            self._asking = asyncio.create_task(self._ask_status(call, ask))
        if self._asking is not None and not self._asking.done():
            await asyncio.wait({self._asking}, timeout=SHORTLY_SECONDS)
        return self._status

    async def _ask_status(self, call: Request, ask: StatusReader) -> None:
        began = time.monotonic()
        try:
            self._status = msgspec.json.encode(await ask(call))
        except Exception:
            self.status_may_differ = True  # whoever follows is told why by its own questions
        self._status_at = time.monotonic()
        self._status_took = self._status_at - began

    async def since(self, number: int | None) -> tuple[str, bytes] | None:
        """All there is for somebody who knows nothing, or what has changed since; the kind of message, and its data.
        What is gathered here is written in a thread, for it may be long."""
        if number is None or number < self._complete_since:
            every = {table: dict(rows) for table, rows in self._tables.items()}
            return "state", await asyncio.to_thread(_all, every)
        keys = []
        for key, changed in reversed(self._changed.items()):
            if changed <= number:
                break
            keys.append(key)
        if not keys:
            return None
        rows = [(*key, self._tables[key[0]].get(key[1])) for key in reversed(keys)]
        return "changes", await asyncio.to_thread(_some, rows)


def _all(tables: Tables) -> bytes:
    return msgspec.json.encode(
        {
            table: [sightings.document(table, name, content) for name, content in rows.items()]
            for table, rows in tables.items()
        }
    )


def _some(rows: list[Row]) -> bytes:
    return msgspec.json.encode(
        [
            {
                "table": table,
                "name": name,
                "row": None if content is None else sightings.document(table, name, content),
            }
            for table, name, content in rows
        ]
    )


_recent: dict[str, SeenRows] = {}
_followed: weakref.WeakValueDictionary[str, SeenRows] = weakref.WeakValueDictionary()


def rows_of(call: Request) -> SeenRows:
    """Those that somebody follows, however many, and some that somebody followed not long ago. Of a workspace there is
    one: two would take what there is to see from each other."""
    seen_rows = _followed.get(call.workspace) or SeenRows()
    _followed[call.workspace] = seen_rows
    _recent.pop(call.workspace, None)
    _recent[call.workspace] = seen_rows
    while len(_recent) > MOST_WORKSPACES:
        _recent.pop(next(iter(_recent)))
    return seen_rows


class RowStream:
    """One stream: what it has told, and what it has to tell."""

    def __init__(self, call: Request, status: StatusReader) -> None:
        self._call = call
        self._feed = rows_of(call)
        self._status = status
        self._number: int | None = None
        self._told_status: bytes | None = None

    async def next(self, *, has_events: bool) -> list[tuple[str, bytes]]:
        """Kinds of messages with their data."""
        await self._feed.catch_up(self._call)
        if has_events:
            self._feed.status_may_differ = True
        number, self._number = self._number, self._feed.number
        rows = None if number == self._number else await self._feed.since(number)
        messages = [] if rows is None else [rows]
        status = await self._feed.status(self._call, self._status)
        if status is not None and status != self._told_status:
            self._told_status = status
            messages.append(("status", status))
        return messages
