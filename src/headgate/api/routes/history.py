"""How it was at a past moment."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from headgate.api import sightings
from headgate.api.documents import rollout_views
from headgate.api.http import problems
from headgate.api.http.calls import Answer, Parameter, Request, Route
from headgate.fleet.engine import change_tracker
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime import historian, holders
from headgate.runtime.commands import UnknownWorkspaceError
from headgate.runtime.historian import Historian
from headgate.store.history import HistoryPiece
from headgate.store.port import Store

LONGEST_READING_SECONDS = 10.0
"""What is left of the log then is read when somebody asks again."""
LEASE_SECONDS = 60.0
MOST_WORKSPACES = 8
"""Whose engines are kept in memory; another one is taken up again from what is stored."""

DEFAULT_CHANGES = 2_000
MOST_CHANGES = 20_000

_historians: dict[str, Historian] = {}
_reading = threading.Lock()


async def get_history(call: Request) -> Answer:
    at = _moment(str(call.query["at"]), "at")
    now = call.service.clock()
    if at > now:
        raise _wrong(
            at, f"is after now, {instants.show_to_the_second(now)}; what will be is said by POST /v1/plan"
        )
    wanted = {key: str(call.query[key]) for key in ("deployment", "environment") if call.query.get(key)}
    return Answer(200, await asyncio.to_thread(_answer, call.service.store, call.workspace, at, wanted))


def _moment(text: str, name: str) -> Instant:
    try:
        return instants.parse(text)
    except ValueError as error:
        raise Rejected([Problem(name, str(error))]) from None


def _wrong(at: Instant, sentence: str) -> Rejected:
    return Rejected([Problem("at", f"is {instants.show(at)}, which {sentence}")])


def _answer(store: Store, workspace: str, at: Instant, wanted: dict[str, str]) -> bytes:
    earliest = _earliest(store, workspace, at)
    if at < earliest:
        kept = "what was before is not recorded, or no longer kept"
        raise _wrong(at, f"is before {instants.show(earliest)}, the earliest that can be asked for: {kept}")
    return document(store.history_until(workspace, at), at, earliest, wanted)


def _earliest(store: Store, workspace: str, at: Instant) -> Instant:
    """The first moment that can be told, once all up to `at` is read."""
    read_until = _read_on(store, workspace)
    span = store.history_span(workspace)
    if span is None or (read_until is not None and read_until <= at):
        done = "" if read_until is None else f", and is read up to {instants.show_to_the_second(read_until)}"
        raise problems.unavailable(
            f"the log of {workspace} is being read for the first time{done}; ask again"
        )
    return span[0]


def _read_on(store: Store, workspace: str) -> Instant | None:
    """Up to which moment the log is read; None if all of it is. One process of all reads it, the others wait for it."""
    holder = f"{holders.this_process()}-history"
    with _reading:
        lease = store.take_lease(f"history/{workspace}", holder, LEASE_SECONDS)
        if lease is None:
            _historians.pop(workspace, None)
            span = store.history_span(workspace)
            return 0 if span is None else span[1].until_at
        read_historian = _historian(store, workspace)
        is_all = read_historian.read_on(time.monotonic() + LONGEST_READING_SECONDS)
        return None if is_all else read_historian.last_at


def _historian(store: Store, workspace: str) -> Historian:
    """One that was removed and made anew under the same name is another workspace."""
    kept_historian = _historians.pop(workspace, None)
    known = next((one for one in store.workspaces() if one.name == workspace), None)
    if known is None:
        raise UnknownWorkspaceError(workspace)
    if kept_historian is None or kept_historian.workspace.id != known.id:
        kept_historian = Historian(store, known)
    _historians[workspace] = kept_historian
    while len(_historians) > MOST_WORKSPACES:
        _historians.pop(next(iter(_historians))).save()
    return kept_historian


def document(pieces: list[HistoryPiece], at: Instant, earliest: Instant, wanted: dict[str, str]) -> bytes:
    tables = historian.folded(pieces, at)
    until = [piece.until for piece in pieces if piece.until_at <= at]
    history_document = {
        "at": instants.show(at),
        "earliest": instants.show(earliest),
        "position": max(until, default=pieces[0].segment),
        **{table: list(_rendered(table, rows, wanted)) for table, rows in tables.items()},
    }
    return msgspec.json.encode(history_document)


def _rendered(table: str, rows: dict[str, Any], wanted: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Groups and budgets are told of all the fleet: who holds a slot may be somebody else."""
    place = (wanted.get("deployment"), wanted.get("environment"))
    for name, content in sorted(rows.items()):
        if table != change_tracker.TARGETS or sightings.is_of(table, name, content, *place):
            yield sightings.document(table, name, content)


async def list_changes(call: Request) -> Answer:
    now = call.service.clock()
    since = _moment(str(call.query["since"]), "since")
    until = _moment(str(call.query["until"]), "until") if call.query.get("until") else now
    return Answer(200, await asyncio.to_thread(_changes, call, since, min(until, now)))


def _changes(call: Request, since: Instant, until: Instant) -> bytes:
    """The newest, which are read first; those before them are cut off."""
    store, workspace, query = call.service.store, call.workspace, call.query
    earliest = _earliest(store, workspace, until)
    most = int(query.get("limit") or DEFAULT_CHANGES)
    entries: list[dict[str, Any]] = []
    was_cut = since < earliest
    for piece in store.history_between(workspace, since, until):
        for at, table, name, content in reversed(historian.changes_of(piece)):
            if not since <= at <= until or query.get("table") not in (None, table):
                continue
            if sightings.is_of(table, name, content, query.get("deployment"), query.get("environment")):
                entries.append(sightings.change(at, table, name, content))
        if len(entries) > most:
            was_cut = True
            break
    entries = entries[:most]
    entries.reverse()
    return msgspec.json.encode({"earliest": instants.show(earliest), "wasCut": was_cut, "changes": entries})


_TEXT = {"type": "string"}
ROUTES = (
    Route(
        "GET", "/v1/history", "getHistory", "How it was at a past moment",
        get_history, "read", "status", {200: rollout_views.Past}, lane="history", problems=(422,),
        query=(
            Parameter("at", {**_TEXT, "minLength": 1, "maxLength": 100}, "The moment, in RFC 3339: 2026-03-01T09:00:00Z.", required=True),
            Parameter("deployment", _TEXT, "Only targets of this deployment, by the name that it had."),
            Parameter("environment", _TEXT, "Only targets in this environment, by the name that it had."),
        ),
        description=(
            "Targets, groups that had not ended, and budgets, exactly as they were: replayed from the log. `earliest` is the "
            "first moment that can be asked for, which goes forward as the log is forgotten. Asked for the first time, a long log takes "
            "a while to be read, and 503 says how far it is."
        ),
    ),
    Route(
        "GET", "/v1/history/changes", "listPastChanges", "What changed in a past time",
        list_changes, "read", "status", {200: rollout_views.PastChanges}, lane="history", problems=(422,),
        query=(
            Parameter("since", {**_TEXT, "minLength": 1, "maxLength": 100}, "The first moment, in RFC 3339.", required=True),
            Parameter("until", {**_TEXT, "maxLength": 100}, "The last moment; now if absent."),
            Parameter("table", {**_TEXT, "enum": ["targets", "groups", "budgets"]}, "Only changes of these."),
            Parameter("deployment", _TEXT, "Only targets of this deployment and groups with it, by the name that it had."),
            Parameter("environment", _TEXT, "Only there, by the name that it had."),
            Parameter(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": MOST_CHANGES, "default": DEFAULT_CHANGES},
                "How many at most: the newest.",
            ),
        ),
        description=(
            "Each target, group and budget as it was from each moment on at which a decision changed it. With how it was "
            "at `since`, from `GET /v1/history`, every moment in between is known."
        ),
    ),
)  # fmt: skip
