"""The matrix: deployments by environments, with versions, counts, and who waits for what."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from headgate.api import finding, forecasting
from headgate.api.documents import rollout_views
from headgate.api.http import replies
from headgate.api.http.calls import Answer, Parameter, Request, Route
from headgate.fleet.engine.queries import brackets, matrix
from headgate.fleet.engine.queries.matrix import Cell
from headgate.fleet.model import kinds
from headgate.runtime.commands import EngineView

_UNFINISHED = ("running", "verifying", "rollingBack", "waiting", "frozen")
Finishes = dict[tuple[str, str], dict[str, str | None]]
SLICE_SECONDS = 0.02
"""How long one question may keep the engine from its work."""


async def get_status(call: Request) -> Answer:
    query = call.query
    return Answer(
        200,
        await _answer(call, query.get("deployment"), query.get("environment"), query.get("stuck") is True),
    )


async def whole(call: Request) -> dict[str, Any]:
    """As who asks for nothing in particular is answered."""
    return await _answer(call, None, None, False)


async def _answer(
    call: Request, deployment: str | None, environment: str | None, wants_stuck: bool
) -> dict[str, Any]:
    cells = await replies.ask(call, partial(_cells, deployment, environment, wants_stuck))
    is_at_rest = await replies.ask(call, lambda view: view.engine.is_at_rest())
    for cell in cells:
        cell.is_at_rest = is_at_rest
    done = 0
    while done < len(cells):
        done = await replies.ask(call, partial(_look, cells, done))
    warnings = await replies.ask(call, lambda view: brackets.lost_hooks(view.engine))
    forecast = await asyncio.to_thread(forecasting.stored, call.service.store, call.workspace)
    return _document(cells, is_at_rest, warnings, forecasting.finishes(forecast, call.service.clock()))


def _cells(
    deployment: str | None, environment: str | None, wants_stuck: bool, view: EngineView
) -> list[Cell]:
    engine = view.engine
    wanted = None if deployment is None else finding.name(engine, kinds.DEPLOYMENT, deployment)
    place = None if environment is None else finding.name(engine, kinds.ENVIRONMENT, environment)
    return matrix.cells(engine, wanted, place, asks_for_stuck=wants_stuck)


def _look(cells: list[Cell], first: int, view: EngineView) -> int:
    """Goes on where the last question stopped; gives the first cell that is not finished."""
    ends = time.monotonic() + SLICE_SECONDS
    return matrix.fill(view.engine, cells, first, view.now, lambda: time.monotonic() > ends)


def _document(cells: list[Cell], is_at_rest: bool, warnings: list[str], finishes: Finishes) -> dict[str, Any]:
    return {"atRest": is_at_rest, "warnings": warnings, "deployments": list(_deployments(cells, finishes))}


def _deployments(cells: list[Cell], finishes: Finishes) -> Iterator[dict[str, Any]]:
    for deployment in dict.fromkeys(cell.deployment for cell in cells):
        yield {
            "name": deployment,
            "environments": [_environment(cell, finishes) for cell in cells if cell.deployment == deployment],
        }


def _environment(cell: Cell, finishes: Finishes) -> dict[str, Any]:
    """What is over by now is not expected any more."""
    is_done = not any(cell.counts[state] for state in _UNFINISHED)
    return {
        "name": cell.environment,
        "newest": cell.newest,
        "newestSuccessful": cell.newest_successful,
        "rollout": {
            "version": cell.newest,
            "desired": cell.desired,
            "running": cell.runs,
            "verifying": cell.counts["verifying"],
            "rolledBack": cell.counts["rolledBack"],
            "failed": cell.counts["failed"],
        },
        "expectedFinish": None if is_done else finishes.get((cell.deployment, cell.environment)),
        "counts": cell.counts,
        "waiting": [{"target": one.target, "message": one.message} for one in cell.waiting],
        "canMove": cell.can_move if cell.asks_for_stuck else None,
        "stuckCount": cell.stuck_count if cell.asks_for_stuck else None,
        "stuck": [{"target": one.target, "state": one.state, "message": one.message} for one in cell.stuck],
    }


ROUTES = (
    Route(
        "GET", "/v1/status", "getStatus", "The matrix of deployments and environments",
        get_status, "read", "status", {200: rollout_views.Status}, lane="lists",
        query=(
            Parameter("deployment", {"type": "string"}, "This deployment only, by id or name."),
            Parameter("environment", {"type": "string"}, "This environment only, by id or name."),
            Parameter(
                "stuck",
                {"type": "boolean", "default": False},
                "Also say who does not run what was asked for and can only be changed by a person.",
            ),
        ),
    ),
)  # fmt: skip
