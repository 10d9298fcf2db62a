"""What happens in a workspace, as server-sent events that can be resumed, or page by page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from headgate.api import live, live_objects
from headgate.api.documents import views
from headgate.api.http import filters, pages, sse
from headgate.api.http.calls import Answer, Parameter, Request, Route
from headgate.api.http.filters import Filter
from headgate.api.http.lists import LONGEST_SEARCH_SECONDS
from headgate.api.routes import status
from headgate.kernel import rendering
from headgate.runtime.commands import UnknownWorkspaceError
from headgate.store.log import Event

MOST_AT_ONCE = 500
STREAMED_AT_ONCE = 100
_READERS = ThreadPoolExecutor(2, thread_name_prefix="headgate-events")
"""Few, and for nothing else: hundreds of streams that catch up keep each other waiting, and nobody else."""
NEWEST_FIRST = "-seq"


def document(event: Event) -> dict[str, Any]:
    return rendering.built(views.EventView, event, data=msgspec.Raw(event.data))


async def list_events(call: Request) -> Answer:
    headers = {name.lower(): value for name, value in call.headers.items()}
    after = _after(call)
    newest = await asyncio.to_thread(call.service.store.newest_event, call.workspace)
    if "application/json" in headers.get("accept", ""):
        return await _page(call, after, newest)
    stream = _stream(call, newest if after is None or after > newest else after, after)
    return Answer(200, stream=stream, media_type="text/event-stream")


def _after(call: Request) -> int | None:
    """The header is what a reconnecting client knows best."""
    last = sse.last_event_id(call)
    given = call.query.get("after")
    return last if last is not None or given is None else int(given)


async def _page(call: Request, position: int | None, newest: int) -> Answer:
    """`next` is the last event that was looked at, for `after` in the same order."""
    limit = int(call.query.get("limit") or pages.DEFAULT_LIMIT)
    condition = filters.condition(call.query.get("cel"), "event")
    is_descending = call.query.get("sort") == NEWEST_FIRST
    ends = time.monotonic() + LONGEST_SEARCH_SECONDS
    items: list[dict[str, Any]] = []
    while True:
        read = _events_down_from if is_descending else _events_up_from
        events = await asyncio.to_thread(read, call, position, newest)
        if events:
            position = await asyncio.to_thread(_take, events, condition, limit, items, ends)
        is_over = not events or position == (1 if is_descending else newest)
        if is_over or len(items) == limit or time.monotonic() > ends:
            return Answer(200, {"items": items, "next": None if is_over else str(position)})


def _take(
    events: list[Event], condition: Filter | None, limit: int, items: list[dict[str, Any]], ends: float
) -> int:
    """The number of the last one that it has looked at."""
    for event in events:
        item = document(event)
        if condition is None or condition.holds(_seen(item)):
            items.append(item)
        if len(items) == limit or time.monotonic() > ends:
            break
    return event.seq


def _events_up_from(call: Request, position: int | None, newest: int) -> list[Event]:
    return call.service.store.events_after(call.workspace, position or 0, MOST_AT_ONCE)


def _events_down_from(call: Request, position: int | None, newest: int) -> list[Event]:
    """Numbers have no gaps, so the last of them are found by counting back."""
    last = newest if position is None else min(newest, position - 1)
    events = call.service.store.events_after(call.workspace, max(0, last - MOST_AT_ONCE), MOST_AT_ONCE)
    return [event for event in reversed(events) if event.seq <= last]


def _seen(item: dict[str, Any]) -> dict[str, object]:
    return {**filters.with_times(item), "data": msgspec.json.decode(item["data"])}


async def _stream(call: Request, position: int, asked: int | None) -> AsyncIterator[bytes]:
    ends = time.monotonic() + sse.LONGEST_STREAM_SECONDS
    yield sse.RETRY
    if asked is not None and asked > position:
        yield _gap(asked, position)
    follower = live.RowStream(call, status.whole) if call.query.get("changes") else None
    teller = live_objects.ObjectStream(call)
    if follower is not None:
        await teller.begin()
    spoke_at = time.monotonic()
    while time.monotonic() < ends:
        try:
            last, text, events = await asyncio.get_running_loop().run_in_executor(
                _READERS, _next, call, position
            )
            if follower is not None:
                text += await _rendered(follower, teller, events, last)
            if last == position and not text:
                await call.service.worker_client.wait_for_events(
                    call.workspace, position, sse.HEARTBEAT_SECONDS
                )
        except UnknownWorkspaceError:
            return
        if not text and time.monotonic() - spoke_at >= sse.HEARTBEAT_SECONDS:
            text = sse.STILL_HERE
        if text:
            yield text
            spoke_at = time.monotonic()
        position = last


def _next(call: Request, position: int) -> tuple[int, bytes, list[Event]]:
    """The last number that was looked at, what there is to say of those up to it, and the events themselves.

    The newest number is asked for first: what was numbered up to it and is not found is no longer kept.
    """
    store = call.service.store
    newest = store.newest_event(call.workspace)
    if newest <= position:
        return position, b"", []
    events = store.events_after(call.workspace, position, STREAMED_AT_ONCE)
    first = events[0].seq if events else newest + 1
    text = _gap(position, first - 1) if first > position + 1 else b""
    return events[-1].seq if events else newest, text + b"".join(map(_written, events)), events


async def _rendered(
    follower: live.RowStream, teller: live_objects.ObjectStream, events: list[Event], last: int
) -> bytes:
    """What can be seen after these events, each under the number of the last: who goes on from there is given all anew."""
    messages = [("objects", objects)] if (objects := await teller.told_of(events)) is not None else []
    messages += await follower.next(has_events=bool(events))
    return b"".join(sse.written(last, kind, data) for kind, data in messages)


def _written(event: Event) -> bytes:
    return sse.written(event.seq, event.type, msgspec.json.encode(document(event)))


def _gap(after: int, until: int) -> bytes:
    """Events between these two are no longer kept; whoever follows along must look at everything anew."""
    return sse.written(until, "gap", msgspec.json.encode({"after": after, "until": until}))


ROUTES = (
    Route(
        "GET", "/v1/events", "listEvents", "Follow what happens",
        list_events, "read", "events", {200: views.EventPage},
        query=(
            Parameter(
                "after",
                {"type": "integer", "minimum": 0, "maximum": 2**62},
                "Events after this one, in the order of `sort`; 0 from the beginning. A stream without it begins now.",
            ),
            Parameter("cel", {"type": "string"}, "Of a page: only events that this expression is true of; it reads `event`."),
            Parameter(
                "sort", {"type": "string", "enum": ["seq", NEWEST_FIRST], "default": "seq"}, "Of a page; `-` is descending."
            ),
            Parameter(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": pages.LARGEST_LIMIT, "default": pages.DEFAULT_LIMIT},
                "Of a page; a stream has no end.",
            ),
            Parameter("changes", {"type": "boolean"}, "Of a stream: also tell what can be seen, row by row."),
        ),
        media_type="text/event-stream", problems=(422,), lane="lists", streams=True,
        description=(
            "Server-sent events: `id` is the event's number, `event` its type, `data` the event as JSON. With the header "
            "Last-Event-ID a stream goes on where it was left; `event: gap` says that events in between are gone. "
            "With `Accept: application/json` it answers one page, and `next` is the `after` of the next. "
            "With `changes=true` a stream begins with `event: state`, all targets, groups and budgets there are, in the words "
            "of `GET /v1/history`, and goes on with `event: changes` (a list of `table`, `name` and `row`, null if it is "
            "gone), `event: status` (that of `GET /v1/status`) and `event: objects` (`kind`, `name` and `object`: objects of all "
            "kinds, groups, the votes of an approval, all skips, and entries of the audit log for those who may read it): "
            "enough to show all of it without asking again."
        ),
    ),
)  # fmt: skip
