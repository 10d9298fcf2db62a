"""What would happen: manifests, a version or orders in, the simulated future out, nothing stored."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import msgspec

from headgate.api import applying, objects, performing, rehearsing, secrecy
from headgate.api.applying import Manifest
from headgate.api.documents import bodies, views
from headgate.api.http import replies
from headgate.api.http.calls import Answer, Request, Route
from headgate.api.routes import planned_acts
from headgate.fleet.engine.differences import Difference
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import kinds
from headgate.fleet.model.changes import Change, Put
from headgate.kernel import documents, instants
from headgate.kernel.problems import Problem, Rejected, below, renamed
from headgate.runtime.commands import EngineView
from headgate.simulate import planning

VERSION = "version"
LONGEST_SECONDS = 20.0
"""Then a plan is cut, and says so: the next one waits for it."""


async def plan(call: Request) -> Answer:
    given = await asyncio.to_thread(
        documents.read, bodies.PlanInput, call.body if call.body is not None else {}
    )
    until = _duration(given.until)
    parsed = secrecy.without_guesses(call, await asyncio.to_thread(_parse, given, call.workspace))
    durations = await asyncio.to_thread(call.service.store.typical_durations, call.workspace)
    prepared = await replies.ask(call, partial(_prepare, parsed, given, call))
    return Answer(200, await rehearsing.run(partial(_planned, prepared, durations, until, given.assume)))


def _duration(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return instants.parse_duration(text)
    except ValueError as error:
        raise Rejected([Problem("until", str(error))]) from None


def _parse(given: bodies.PlanInput, workspace: str) -> list[Manifest]:
    parsed = applying.parse_all(given.manifests, workspace)
    if given.version is None:
        return parsed
    with renamed(below(VERSION)):
        version = objects.parse(kinds.VERSION.name, given.version, workspace)
    return [*parsed, Manifest(VERSION, version.object, version.has_own_id)]


class _Prepared(msgspec.Struct, frozen=True):
    copy: rehearsing.Copy
    differences: list[Difference]
    changes: list[Change]


def _prepare(parsed: list[Manifest], given: bodies.PlanInput, call: Request, view: EngineView) -> _Prepared:
    wanted = performing.wanted(view.engine, parsed, given, call.caller.user)
    if not given.force:
        _check_concerns(view.engine, wanted)
    compared = wanted.compared
    changes: list[Change] = [
        one.change for one in applying.changes_of(compared) if one.manifest.path != VERSION
    ]
    changes += [_publishing(one.manifest) for one in compared if one.manifest.path == VERSION]
    changes += [one.change() for one in wanted.removals if one.kept is None]
    changes += planned_acts.changes_of(view.engine, given, call)
    return _Prepared(rehearsing.taken(view), wanted.differences(), changes)


def _check_concerns(engine: Engine, wanted: performing.WantedChanges) -> None:
    """The version is written flat in the request."""
    with renamed(lambda path: path.replace(f"{VERSION}.spec.", f"{VERSION}.")):
        performing.check_beforehand(engine, wanted)


def _publishing(version: Manifest) -> Put:
    """It must not be there yet, as when it is published."""
    return Put(version.object, create_only=True)


def _planned(
    prepared: _Prepared, durations: dict[str, int], until: int | None, assume: tuple[str, ...]
) -> bytes:
    copy = prepared.copy
    ends_at = None if until is None else copy.now + until
    patience = time.monotonic() + LONGEST_SECONDS
    planned = planning.plan(
        copy.document,
        copy.ids,
        copy.now,
        prepared.changes,
        durations,
        ends_at,
        assume=assume,
        is_enough=lambda: time.monotonic() > patience,
    )
    return msgspec.json.encode({"differences": prepared.differences, **planned.document()})


ROUTES = (
    Route(
        "POST", "/v1/plan", "plan", "Simulate what manifests, a new version or an order would lead to",
        plan, "read", "manifests", {200: views.PlanResult}, body=bodies.PlanInput, lane="plans",
        description=(
            "The production engine goes on in virtual time on a copy of the workspace. Jobs take as long as jobs of "
            "their deployment took before, else one minute, and succeed. Nothing is stored. A plan that takes long to make "
            "is cut, and `finish.wasCut` says so."
        ),
    ),
)  # fmt: skip
