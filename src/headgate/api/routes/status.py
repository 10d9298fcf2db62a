"""The matrix: deployments by environments, with versions, counts, and who waits for what."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, get_args

import msgspec

from headgate.api import (
    finding,
    forecasting,
    replies,
    rollout_views,
)
from headgate.api.calls import Answer, Parameter, Request, Route
from headgate.fleet.cycles import hooks
from headgate.fleet.engine import explain, target_states
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.state import candidates, promotion
from headgate.fleet.state.state import State
from headgate.fleet.state.units import DeploymentNode, Pair, Target, VersionNode
from headgate.kernel.instants import Instant
from headgate.runtime.commands import EngineView

MOST_WAITING_SHOWN = 3
MOST_STUCK_SHOWN = 10
_NOT_THERE = frozenset({"waiting", "frozen", "failed", "rolledBack"})
_UNFINISHED = ("running", "verifying", "rollingBack", "waiting", "frozen")
Finishes = dict[tuple[str, str], dict[str, str | None]]
SLICE_SECONDS = 0.02
"""How long one question may keep the engine from its work."""


class _Cell(msgspec.Struct):
    """One pair of the matrix, as far as it has been looked at."""

    deployment: str
    environment: str
    names: list[str] = []
    done: int = 0
    counts: dict[str, int] = msgspec.field(
        default_factory=lambda: dict.fromkeys(get_args(model.TargetState), 0)
    )
    waiting: list[dict[str, str]] = []
    newest: str | None = None
    newest_successful: VersionNode | None = None
    desired: int = 0
    runs: int = 0
    asks_for_stuck: bool = False
    is_at_rest: bool = False
    can_move: bool = False
    stuck_count: int = 0
    stuck: list[dict[str, str]] = []


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
    warnings = await replies.ask(call, lambda view: hooks.warnings(view.engine.state))
    forecast = await asyncio.to_thread(forecasting.stored, call.service.store, call.workspace)
    return _document(cells, is_at_rest, warnings, forecasting.finishes(forecast))


def _cells(
    deployment: str | None, environment: str | None, wants_stuck: bool, view: EngineView
) -> list[_Cell]:
    state = view.engine.state
    wanted = None if deployment is None else finding.name(state, kinds.DEPLOYMENT, deployment)
    place = None if environment is None else finding.name(state, kinds.ENVIRONMENT, environment)
    stages = [name for name in promotion.order(state) if place in (None, name)]
    return [
        _cell(node, node.pairs[name], wants_stuck)
        for _, node in sorted(state.deployments.items())
        if wanted in (None, node.name)
        for name in stages
        if name in node.pairs
    ]


def _cell(deployment: DeploymentNode, pair: Pair, wants_stuck: bool) -> _Cell:
    return _Cell(
        deployment.name,
        pair.environment.name,
        [target.name for target in pair.targets.values()],
        newest=_newest(deployment, pair),
        asks_for_stuck=wants_stuck,
    )


def _newest(deployment: DeploymentNode, pair: Pair) -> str | None:
    """Of the versions that are meant for a target there: a hotfix for one region is not what another one waits for."""
    ready = [one for one in reversed(deployment.versions) if one.is_ready]
    here = (one.tag for one in ready if one.scope is None or candidates.scoped_targets(pair, one))
    return next(here, ready[0].tag if ready and not pair.targets else None)


def _look(cells: list[_Cell], first: int, view: EngineView) -> int:
    """Goes on where the last question stopped; gives the first cell that is not finished."""
    ends = time.monotonic() + SLICE_SECONDS
    for number, cell in enumerate(cells[first:], first):
        if not _finish(cell, view, ends):
            return number
    return len(cells)


def _finish(cell: _Cell, view: EngineView, ends: float) -> bool:
    state = view.engine.state
    for name in cell.names[cell.done :]:
        target = state.targets.get(name)
        cell.done += 1
        if target is not None:
            _count(cell, state, target, view.now)
        if time.monotonic() > ends and cell.done < len(cell.names):
            return False
    return True


def _count(cell: _Cell, state: State, target: Target, now: Instant) -> None:
    found = target_states.of_target(state, target, now)
    cell.counts[found] += 1
    _count_versions(cell, state, target, now)
    if found in ("waiting", "frozen") and len(cell.waiting) < MOST_WAITING_SHOWN:
        message = explain.of_target(state, target.name, now).message
        cell.waiting.append({"target": target.name, "message": message})
    if cell.asks_for_stuck and not cell.can_move and found in _NOT_THERE:
        _look_whether_stuck(cell, state, target, now)


def _count_versions(cell: _Cell, state: State, target: Target, now: Instant) -> None:
    runs = state.version(target.record.deployed) if target.record.is_proven else None
    if runs is not None and (cell.newest_successful is None or runs.order > cell.newest_successful.order):
        cell.newest_successful = runs
    newest = target.deployment.version(cell.newest) if cell.newest is not None else None
    if newest is not None and target_states.is_asked_for(state, target, newest, now):
        cell.desired += 1
        cell.runs += runs is newest


def _look_whether_stuck(cell: _Cell, state: State, target: Target, now: Instant) -> None:
    """One that can move by itself is enough: then nobody need know about the others."""
    explanation = explain.of_target(state, target.name, now)
    if not explanation.blocked and not cell.is_at_rest:
        cell.can_move = True
    elif not target_states.is_back_by_order(state, target):
        cell.stuck_count += 1
        if len(cell.stuck) < MOST_STUCK_SHOWN:
            found = {"target": target.name, "state": explanation.state, "message": explanation.message}
            cell.stuck.append(found)


def _document(
    cells: list[_Cell], is_at_rest: bool, warnings: list[str], finishes: Finishes
) -> dict[str, Any]:
    return {"atRest": is_at_rest, "warnings": warnings, "deployments": list(_deployments(cells, finishes))}


def _deployments(cells: list[_Cell], finishes: Finishes) -> Iterator[dict[str, Any]]:
    for deployment in dict.fromkeys(cell.deployment for cell in cells):
        yield {
            "name": deployment,
            "environments": [_environment(cell, finishes) for cell in cells if cell.deployment == deployment],
        }


def _environment(cell: _Cell, finishes: Finishes) -> dict[str, Any]:
    """What is over by now is not expected any more."""
    is_done = not any(cell.counts[state] for state in _UNFINISHED)
    successful = cell.newest_successful
    return {
        "name": cell.environment,
        "newest": cell.newest,
        "newestSuccessful": successful.tag if successful is not None else None,
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
        "waiting": cell.waiting,
        "canMove": cell.can_move if cell.asks_for_stuck else None,
        "stuckCount": cell.stuck_count if cell.asks_for_stuck else None,
        "stuck": cell.stuck,
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
