"""The matrix: deployments by environments, with versions, counts, and who waits for what."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any, get_args

import msgspec

from headgate.api import (
    finding,
    kinds,
    replies,
    rollout_shapes,
)
from headgate.api.calls import Answer, Call, Parameter, Route
from headgate.api.routes.targets import quietly
from headgate.fleet import explain, model
from headgate.fleet.state import State
from headgate.fleet.units import DeploymentNode, Pair
from headgate.runtime.commands import View

MOST_WAITING_SHOWN = 3
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
    newest_successful: str | None = None


async def get_status(call: Call) -> Answer:
    cells = await replies.ask(
        call, partial(_cells, call.query.get("deployment"), call.query.get("environment"))
    )
    done = 0
    while done < len(cells):
        done = await replies.ask(call, partial(_look, cells, done))
    return Answer(200, _document(cells))


def _cells(deployment: str | None, environment: str | None, view: View) -> list[_Cell]:
    state = view.engine.state
    wanted = None if deployment is None else finding.name(state, kinds.DEPLOYMENT, deployment)
    place = None if environment is None else finding.name(state, kinds.ENVIRONMENT, environment)
    return [
        _cell(state, node, pair)
        for _, node in sorted(state.deployments.items())
        if wanted in (None, node.name)
        for _, pair in sorted(node.pairs.items())
        if place in (None, pair.environment.name)
    ]


def _cell(state: State, deployment: DeploymentNode, pair: Pair) -> _Cell:
    environment = pair.environment.name
    newest = next((one.tag for one in reversed(deployment.versions) if one.is_ready), None)
    landed = (
        one.tag for one in reversed(deployment.versions) if state.progress.get(one.id, {}).get(environment)
    )
    return _Cell(
        deployment.name,
        environment,
        [target.name for target in pair.targets.values()],
        newest=newest,
        newest_successful=next(landed, None),
    )


def _look(cells: list[_Cell], first: int, view: View) -> int:
    """Goes on where the last question stopped; gives the first cell that is not finished."""
    ends = time.monotonic() + SLICE_SECONDS
    with quietly(view.engine.state):
        for number, cell in enumerate(cells[first:], first):
            if not _finish(cell, view, ends):
                return number
    return len(cells)


def _finish(cell: _Cell, view: View, ends: float) -> bool:
    state = view.engine.state
    for name in cell.names[cell.done :]:
        target = state.targets.get(name)
        cell.done += 1
        if target is not None:
            found = explain.state_of(state, target, view.now)
            cell.counts[found] += 1
            if found in ("waiting", "frozen") and len(cell.waiting) < MOST_WAITING_SHOWN:
                message = explain.of_target(state, name, view.now).message
                cell.waiting.append({"target": name, "message": message})
        if time.monotonic() > ends and cell.done < len(cell.names):
            return False
    return True


def _document(cells: list[_Cell]) -> dict[str, Any]:
    return {"deployments": list(_deployments(cells))}


def _deployments(cells: list[_Cell]) -> Iterator[dict[str, Any]]:
    for deployment in dict.fromkeys(cell.deployment for cell in cells):
        yield {
            "name": deployment,
            "environments": [_environment(cell) for cell in cells if cell.deployment == deployment],
        }


def _environment(cell: _Cell) -> dict[str, Any]:
    return {
        "name": cell.environment,
        "newest": cell.newest,
        "newestSuccessful": cell.newest_successful,
        "counts": cell.counts,
        "waiting": cell.waiting,
    }


ROUTES = (
    Route(
        "GET", "/v1/status", "getStatus", "The matrix of deployments and environments",
        get_status, "read", "status", {200: rollout_shapes.Status},
        query=(
            Parameter("deployment", {"type": "string"}, "This deployment only, by id or name."),
            Parameter("environment", {"type": "string"}, "This environment only, by id or name."),
        ),
    ),
)  # fmt: skip
