"""The matrix of deployments and environments: how many targets are in which state, and who waits or is stuck.

A large fleet is looked at in slices: a cell is filled target by target, and whoever asks says when it is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import msgspec

from headgate.fleet.engine import target_states
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model.objects import TargetState
from headgate.fleet.state import candidates, promotion
from headgate.fleet.state.units import DeploymentNode, Pair, Target
from headgate.kernel.instants import Instant

MOST_WAITING_NAMED = 3
MOST_STUCK_NAMED = 10
_NOT_THERE = frozenset({"waiting", "frozen", "failed", "rolledBack"})


class HeldTarget(msgspec.Struct, frozen=True):
    """A target that does not change by now, and the sentence that says why."""

    target: str
    state: TargetState
    message: str


class Cell(msgspec.Struct):
    """One deployment in one environment, as far as it has been looked at.

    `newest` is the tag that is meant for it, `desired` how many targets it is asked for on, `runs` on how many of these it
    runs. `newest_successful` is the newest tag that is proven on one of the targets.
    """

    deployment: str
    environment: str
    names: list[str] = []
    done: int = 0
    counts: dict[str, int] = msgspec.field(default_factory=lambda: dict.fromkeys(get_args(TargetState), 0))
    waiting: list[HeldTarget] = []
    newest: str | None = None
    newest_successful: str | None = None
    desired: int = 0
    runs: int = 0
    asks_for_stuck: bool = False
    is_at_rest: bool = False
    can_move: bool = False
    stuck_count: int = 0
    stuck: list[HeldTarget] = []
    _successful_order: tuple[Instant, str] | None = None


def cells(
    engine: Engine, deployment: str | None, environment: str | None, *, asks_for_stuck: bool
) -> list[Cell]:
    """Deployments by name, environments in the order in which versions pass through them."""
    state = engine.state
    stages = [name for name in promotion.order(state) if environment in (None, name)]
    return [
        Cell(
            node.name,
            name,
            [target.name for target in node.pairs[name].targets.values()],
            newest=_newest(node, node.pairs[name]),
            asks_for_stuck=asks_for_stuck,
        )
        for _, node in sorted(state.deployments.items())
        if deployment in (None, node.name)
        for name in stages
        if name in node.pairs
    ]


def _newest(deployment: DeploymentNode, pair: Pair) -> str | None:
    """Of the versions that are meant for a target there: a hotfix for one region is not what another one waits for."""
    ready = [one for one in reversed(deployment.versions) if one.is_ready]
    here = (one.tag for one in ready if one.scope is None or candidates.scoped_targets(pair, one))
    return next(here, ready[0].tag if ready and not pair.targets else None)


def fill(engine: Engine, wanted: list[Cell], first: int, now: Instant, is_enough: Callable[[], bool]) -> int:
    """Goes on where it stopped before, which `first` says; gives the first cell that is not finished."""
    for number, cell in enumerate(wanted[first:], first):
        if not _finish(engine, cell, now, is_enough):
            return number
    return len(wanted)


def _finish(engine: Engine, cell: Cell, now: Instant, is_enough: Callable[[], bool]) -> bool:
    for name in cell.names[cell.done :]:
        target = engine.state.targets.get(name)
        cell.done += 1
        if target is not None:
            _count(engine, cell, target, now)
        if is_enough() and cell.done < len(cell.names):
            return False
    return True


def _count(engine: Engine, cell: Cell, target: Target, now: Instant) -> None:
    target_state = target_states.of_target(engine.state, target, now)
    cell.counts[target_state] += 1
    _count_versions(engine, cell, target, now)
    if target_state in ("waiting", "frozen") and len(cell.waiting) < MOST_WAITING_NAMED:
        cell.waiting.append(HeldTarget(target.name, target_state, engine.explain(target.name, now).message))
    if cell.asks_for_stuck and not cell.can_move and target_state in _NOT_THERE:
        _look_whether_stuck(engine, cell, target, now)


def _count_versions(engine: Engine, cell: Cell, target: Target, now: Instant) -> None:
    state = engine.state
    runs = state.version(target.record.deployed) if target.record.is_proven else None
    if runs is not None and (cell._successful_order is None or runs.sort_key > cell._successful_order):
        cell.newest_successful, cell._successful_order = runs.tag, runs.sort_key
    newest = target.deployment.version(cell.newest) if cell.newest is not None else None
    if newest is not None and target_states.is_asked_for(state, target, newest, now):
        cell.desired += 1
        cell.runs += runs is newest


def _look_whether_stuck(engine: Engine, cell: Cell, target: Target, now: Instant) -> None:
    """One that can move by itself is enough: then nobody need know about the others."""
    explanation = engine.explain(target.name, now)
    if not explanation.blocked and not cell.is_at_rest:
        cell.can_move = True
    elif not target_states.is_back_by_order(engine.state, target):
        cell.stuck_count += 1
        if len(cell.stuck) < MOST_STUCK_NAMED:
            cell.stuck.append(HeldTarget(target.name, explanation.state, explanation.message))
