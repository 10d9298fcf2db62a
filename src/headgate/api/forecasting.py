"""When rollouts are expected to be over: a plan of the workspace as it is, made seldom and kept.

A plan costs seconds, so no request has one of its own: whoever asks is given the newest one with its age. A new one is
made when something has happened since, and the last is old for what it took to make.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import msgspec

from headgate.api import rehearsing, sightings
from headgate.api.documents.rollout_views import ExpectedRollout, ExpectedStart
from headgate.api.http.calls import Request
from headgate.fleet.engine.change_tracker import Row
from headgate.kernel import instants, rendering
from headgate.kernel.documents import Moment
from headgate.kernel.instants import Instant
from headgate.kernel.rendering import Document
from headgate.simulate import planning
from headgate.simulate.planning import PlannedRollout
from headgate.store.port import Store, UnknownWorkspaceError

KIND = "forecast"
"""Of the workspace's document in which others find the newest one."""
LONGEST_SECONDS = 10.0
"""Then it is cut, and says so."""
LEAST_SECONDS_BETWEEN = 5.0
SHARE = 10.0
"""One that took a second to make is good for ten."""
MOST_STARTS = 200
MOST_SEEN = 50_000
MOST_WAITING = 300
MOST_WORKSPACES = 32
"""Whose plans are kept in memory; those of the others are made anew."""


class Forecast(msgspec.Struct, frozen=True, rename="camel"):
    """As it is kept. `position` is how far the log went."""

    made_at: Moment
    position: int
    was_cut: bool
    finish_at: Moment | None
    rollouts: list[ExpectedRollout]
    starts: list[ExpectedStart]


class _Kept(msgspec.Struct):
    """`seen` is what will change, None where nobody asked for that."""

    forecast: Forecast
    workspace: str
    """Its id: one that was removed and made anew under the same name is another workspace."""
    asked_at: float
    took_seconds: float
    seen: tuple[tuple[Instant, Row], ...] | None = None
    waiting: list[dict[str, str]] = []

    def is_good(self, position: int) -> bool:
        if self.forecast.position == position:
            return True
        age = time.monotonic() - self.asked_at
        return age < max(LEAST_SECONDS_BETWEEN, SHARE * self.took_seconds)


_kept: dict[str, _Kept] = {}
_making: dict[str, asyncio.Lock] = {}


async def newest(call: Request) -> tuple[Forecast, bool]:
    """With whether anything has happened since."""
    kept, is_current = await _newest(call, is_watched=False)
    return kept.forecast, is_current


async def future(call: Request) -> Document:
    """All that will change, beside when it is over."""
    kept, is_current = await _newest(call, is_watched=True)
    seen = kept.seen or ()
    return {
        "madeAt": rendering.render(kept.forecast.made_at),
        "ageSeconds": age_seconds(call, kept.forecast),
        "isCurrent": is_current,
        "wasCut": kept.forecast.was_cut or len(seen) > MOST_SEEN,
        "finishAt": rendering.render_or_none(kept.forecast.finish_at),
        "changes": [sightings.change(at, *row) for at, row in seen[:MOST_SEEN]],
        "waiting": kept.waiting,
    }


def age_seconds(call: Request, forecast: Forecast) -> int:
    return max(0, call.service.clock() - forecast.made_at) // instants.MICROSECONDS_PER_SECOND


async def _newest(call: Request, *, is_watched: bool) -> tuple[_Kept, bool]:
    """Those who ask while one is made are given the same."""
    async with _making.setdefault(call.workspace, asyncio.Lock()):
        position = await asyncio.to_thread(call.service.store.head, call.workspace)
        workspace = await asyncio.to_thread(_id_of, call.service.store, call.workspace)
        kept = _kept.get(call.workspace)
        if (
            kept is None
            or kept.workspace != workspace
            or not kept.is_good(position)
            or (is_watched and kept.seen is None)
        ):
            kept = await _made(call, workspace, position, is_watched)
            _keep(call.workspace, kept)
            document = msgspec.json.encode(kept.forecast)
            await asyncio.to_thread(call.service.store.put_document, call.workspace, KIND, KIND, document)
    return kept, kept.forecast.position == position


def _id_of(store: Store, workspace: str) -> str:
    workspace_id = next((one.id for one in store.workspaces() if one.name == workspace), None)
    if workspace_id is None:
        raise UnknownWorkspaceError(workspace)
    return workspace_id


def _keep(workspace: str, kept: _Kept) -> None:
    _kept.pop(workspace, None)
    _kept[workspace] = kept
    while len(_kept) > MOST_WORKSPACES:
        _kept.pop(next(iter(_kept)))


def stored(store: Store, workspace: str) -> Forecast | None:
    """For those who do not make one themselves."""
    stored_forecast = store.documents(workspace, KIND).get(KIND)
    try:
        return None if stored_forecast is None else msgspec.json.decode(stored_forecast, type=Forecast)
    except msgspec.DecodeError:
        return None


def finishes(forecast: Forecast | None, now: Instant) -> dict[tuple[str, str], dict[str, str | None]]:
    """By deployment and environment. What should be over by now did not go as foreseen, and says nothing any more."""
    if forecast is None:
        return {}
    made_at = rendering.render(forecast.made_at)
    return {
        (one.deployment, one.environment): {"at": rendering.render_or_none(one.finish_at), "madeAt": made_at}
        for one in forecast.rollouts
        if one.finish_at is None or one.finish_at > now
    }


async def _made(call: Request, workspace: str, position: int, is_watched: bool) -> _Kept:
    durations = await asyncio.to_thread(call.service.store.typical_durations, call.workspace)
    copy = await rehearsing.copy_of(call)
    asked_at = time.monotonic()

    def plan() -> PlannedRollout:
        patience = time.monotonic() + LONGEST_SECONDS
        return planning.plan(
            copy.document,
            copy.ids,
            copy.now,
            (),
            durations,
            is_enough=lambda: time.monotonic() > patience,
            is_watched=is_watched,
        )

    planned = await rehearsing.run(plan)
    return _Kept(
        summary(planned, copy.now, position),
        workspace,
        time.monotonic(),
        time.monotonic() - asked_at,
        planned.seen[: MOST_SEEN + 1] if is_watched else None,
        [{"target": one.target, "message": one.reason} for one in planned.result.waiting[:MOST_WAITING]],
    )


def summary(planned: PlannedRollout, made_at: Instant, position: int) -> Forecast:
    result = planned.result
    is_sure = result.converged and not result.was_cut
    return Forecast(
        made_at=made_at,
        position=position,
        was_cut=result.was_cut,
        finish_at=planned.finished_at() if is_sure else None,
        rollouts=list(_rollouts(planned)),
        starts=_starts(planned, made_at),
    )


def _rollouts(planned: PlannedRollout) -> Iterator[ExpectedRollout]:
    """Those that something is still to happen in."""
    result = planned.result
    held: dict[tuple[str, str], str] = {}
    for waiting in result.waiting:
        deployment, environment, _ = waiting.target.split("/", 2)
        held.setdefault((deployment, environment), f"{waiting.target}: {waiting.reason}")
    ends: dict[tuple[str, str], list[Instant]] = {}
    tags: dict[tuple[str, str], str] = {}
    for job in result.jobs:
        pair = (job.deployment, job.environment)
        ends.setdefault(pair, []).append(max(job.completed_at or 0, job.verified_at or 0))
        tags[pair] = job.tag
    for pair in sorted({*ends, *held}):
        is_known = pair not in held and not result.was_cut
        at = max(ends[pair]) if is_known else None
        yield ExpectedRollout(*pair, tags.get(pair), at, len(ends.get(pair, ())), held.get(pair))


def _starts(planned: PlannedRollout, made_at: Instant) -> list[ExpectedStart]:
    first: dict[tuple[str, str], Instant] = {}
    for job in planned.result.jobs:
        if job.created_at >= made_at:
            first.setdefault((job.environment, job.resource), job.created_at)
    ordered = sorted(first.items(), key=lambda item: (item[1], item[0]))
    return [ExpectedStart(*place, at) for place, at in ordered[:MOST_STARTS]]
