"""How it was at a past moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from headgate.api import problems, replies, rollout_views
from headgate.api.calls import Answer, Parameter, Request, Route
from headgate.kernel import instants, rendering
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime import historian, holders
from headgate.runtime.commands import UnknownWorkspaceError
from headgate.runtime.historian import Historian
from headgate.store.port import HistoryPiece, Store

LONGEST_READING_SECONDS = 10.0
"""What is left of the log then is read when somebody asks again."""
LEASE_SECONDS = 60.0
MOST_WORKSPACES = 8
"""Whose engines are kept in memory; another one is taken up again from what is stored."""

_historians: dict[str, Historian] = {}
_reading = threading.Lock()


async def get_history(call: Request) -> Answer:
    at = _moment(str(call.query["at"]))
    now = call.service.clock()
    if at > now:
        raise _wrong(
            at, f"is after now, {instants.show_to_the_second(now)}; what will be is said by POST /v1/plan"
        )
    wanted = {key: str(call.query[key]) for key in ("deployment", "environment") if call.query.get(key)}
    return Answer(200, await replies.in_thread(_answer, call.service.store, call.workspace, at, wanted))


def _moment(text: str) -> Instant:
    try:
        return instants.parse(text)
    except ValueError as error:
        raise Rejected([Problem("at", str(error))]) from None


def _wrong(at: Instant, sentence: str) -> Rejected:
    return Rejected([Problem("at", f"is {instants.show(at)}, which {sentence}")])


def _answer(store: Store, workspace: str, at: Instant, wanted: dict[str, str]) -> bytes:
    read_until = _read_on(store, workspace)
    span = store.history_span(workspace)
    if span is None or (read_until is not None and read_until <= at):
        done = "" if read_until is None else f", and is read up to {instants.show_to_the_second(read_until)}"
        raise problems.unavailable(
            f"the log of {workspace} is being read for the first time{done}; ask again"
        )
    earliest = span[0]
    if at < earliest:
        kept = "what was before is not recorded, or no longer kept"
        raise _wrong(at, f"is before {instants.show(earliest)}, the earliest that can be asked for: {kept}")
    pieces = store.history_until(workspace, at)
    return document(pieces, at, earliest, wanted)


def _read_on(store: Store, workspace: str) -> Instant | None:
    """Up to which moment the log is read; None if all of it is. One process of all reads it, the others wait for it."""
    holder = f"{holders.this_process()}-history"
    with _reading:
        lease = store.take_lease(f"history/{workspace}", holder, LEASE_SECONDS)
        if lease is None:
            _historians.pop(workspace, None)
            span = store.history_span(workspace)
            return 0 if span is None else span[1].until_at
        found = _historian(store, workspace)
        is_all = found.read_on(time.monotonic() + LONGEST_READING_SECONDS)
        return None if is_all else found.last_at


def _historian(store: Store, workspace: str) -> Historian:
    found = _historians.pop(workspace, None)
    if found is None:
        known = next((one for one in store.workspaces() if one.name == workspace), None)
        if known is None:
            raise UnknownWorkspaceError(workspace)
        found = Historian(store, known)
    _historians[workspace] = found
    while len(_historians) > MOST_WORKSPACES:
        _historians.pop(next(iter(_historians))).save()
    return found


def document(pieces: list[HistoryPiece], at: Instant, earliest: Instant, wanted: dict[str, str]) -> bytes:
    tables = historian.folded(pieces, at)
    until = [piece.until for piece in pieces if piece.until_at <= at]
    found = {
        "at": instants.show(at),
        "earliest": instants.show(earliest),
        "position": max(until, default=pieces[0].segment),
        "targets": list(_targets(tables[historian.TARGETS], wanted)),
        "groups": [{"id": id_, **group} for id_, group in sorted(tables[historian.GROUPS].items())],
        "budgets": [
            {**budget, "stoppedAt": rendering.shown_or_none(budget["stoppedAt"])}
            for _, budget in sorted(tables[historian.BUDGETS].items())
        ],
    }
    return msgspec.json.encode(found)


def _targets(table: dict[str, Any], wanted: dict[str, str]) -> Iterator[dict[str, Any]]:
    for name, (state, current, reason, job) in sorted(table.items()):
        deployment, environment, _ = name.split("/", 2)
        if wanted.get("deployment", deployment) != deployment:
            continue
        if wanted.get("environment", environment) != environment:
            continue
        shown = None if job is None else {"id": job[0], "status": job[1], "version": job[2]}
        yield {"name": name, "state": state, "current": current, "reason": reason, "job": shown}


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
)  # fmt: skip
