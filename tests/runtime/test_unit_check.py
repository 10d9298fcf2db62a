"""On the live service too: whatever has not converged says what it waits for, and is looked at again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headgate.fleet.engine.engine import Engine
from headgate.runtime import unit_check
from headgate.runtime.workspace_engine import WorkspaceEngine
from headgate.store import Store

from .fleet import APPROVAL, TWO_NODES, policy, resource, version
from .stage import HOME, Clock
from .workspace_engines import apply, engine_of, leader


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def workspace_engine(prepared: Callable[[str], Store], clock: Clock) -> WorkspaceEngine:
    """Two targets that wait for an approval."""
    found = leader(prepared("memory:"), clock)
    for change in (*TWO_NODES, policy("rules", APPROVAL), version("api", "v1")):
        apply(found, change)
    return found


def stuck(engine: Engine, target: str) -> None:
    engine.state.waiting.forget(engine.state.unit_of(engine.state.targets[target]))


def look_at_all(workspace_engine: WorkspaceEngine) -> None:
    """The first look makes a list, the second looks at it."""
    workspace_engine.check_units()
    workspace_engine.check_units()


def test_what_waits_for_something_is_in_order(workspace_engine: WorkspaceEngine) -> None:
    look_at_all(workspace_engine)
    assert workspace_engine.health.troubles() == []


def test_a_target_that_waits_for_nothing_is_said_until_it_does(workspace_engine: WorkspaceEngine) -> None:
    stuck(engine_of(workspace_engine), "api/prod/a")
    look_at_all(workspace_engine)
    (trouble,) = workspace_engine.health.troubles()
    assert (trouble.check, trouble.workspace) == ("units", HOME)
    assert trouble.message == "api/prod/a has not converged, and waits for nothing"
    workspace_engine.needs_recheck = True
    workspace_engine.serve([])
    workspace_engine.check_units()
    assert workspace_engine.health.troubles() == []


def test_a_time_that_has_passed_without_a_look_is_said(
    workspace_engine: WorkspaceEngine, clock: Clock
) -> None:
    unit = engine_of(workspace_engine).state.unit_of(engine_of(workspace_engine).state.targets["api/prod/b"])
    unit.requeue_at = clock.now
    clock.advance(119)
    look_at_all(workspace_engine)
    assert workspace_engine.health.troubles() == []
    clock.advance(2)
    look_at_all(workspace_engine)
    (trouble,) = workspace_engine.health.troubles()
    assert "api/prod/b was to be looked at again at" in trouble.message


def test_all_targets_are_looked_at_in_the_end_but_few_at_a_time(
    workspace_engine: WorkspaceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        apply(workspace_engine, resource(f"n{number:02}"))
    stuck(engine_of(workspace_engine), "api/prod/n49")
    moments = iter(range(10**6))
    monkeypatch.setattr(unit_check.time, "monotonic", lambda: next(moments) * 0.5)
    monkeypatch.setattr(unit_check, "LONGEST_SECONDS", 0.75)
    looks = 0
    while not workspace_engine.health.troubles():
        workspace_engine.check_units()
        looks += 1
        assert looks < 10
    assert looks == 4, "one for the list, and twenty in each of the others"
