"""On the live service too: whatever has not converged says what it waits for, and is looked at again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headgate.fleet.engine.engine import Engine
from headgate.runtime import unit_check
from headgate.runtime.workspace_engine import WorkspaceEngine
from headgate.store import Store

from .fleet import APPROVAL, TWO_NODES, policy, resource, version
from .keeping import apply, engine_of, leader
from .stage import HOME, Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keeper(prepared: Callable[[str], Store], clock: Clock) -> WorkspaceEngine:
    """Two targets that wait for an approval."""
    found = leader(prepared("memory:"), clock)
    for change in (*TWO_NODES, policy("rules", APPROVAL), version("api", "v1")):
        apply(found, change)
    return found


def stuck(engine: Engine, target: str) -> None:
    engine.state.waiting.forget(engine.state.unit_of(engine.state.targets[target]))


def look_at_all(keeper: WorkspaceEngine) -> None:
    """The first look makes a list, the second looks at it."""
    keeper.check_units()
    keeper.check_units()


def test_what_waits_for_something_is_in_order(keeper: WorkspaceEngine) -> None:
    look_at_all(keeper)
    assert keeper.health.troubles() == []


def test_a_target_that_waits_for_nothing_is_said_until_it_does(keeper: WorkspaceEngine) -> None:
    stuck(engine_of(keeper), "api/prod/a")
    look_at_all(keeper)
    (trouble,) = keeper.health.troubles()
    assert (trouble.check, trouble.workspace) == ("units", HOME)
    assert trouble.message == "api/prod/a has not converged, and waits for nothing"
    keeper.needs_recheck = True
    keeper.serve([])
    keeper.check_units()
    assert keeper.health.troubles() == []


def test_a_time_that_has_passed_without_a_look_is_said(keeper: WorkspaceEngine, clock: Clock) -> None:
    unit = engine_of(keeper).state.unit_of(engine_of(keeper).state.targets["api/prod/b"])
    unit.requeue_at = clock.now
    clock.advance(119)
    look_at_all(keeper)
    assert keeper.health.troubles() == []
    clock.advance(2)
    look_at_all(keeper)
    (trouble,) = keeper.health.troubles()
    assert "api/prod/b was to be looked at again at" in trouble.message


def test_all_targets_are_looked_at_in_the_end_but_few_at_a_time(
    keeper: WorkspaceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        apply(keeper, resource(f"n{number:02}"))
    stuck(engine_of(keeper), "api/prod/n49")
    moments = iter(range(10**6))
    monkeypatch.setattr(unit_check.time, "monotonic", lambda: next(moments) * 0.5)
    monkeypatch.setattr(unit_check, "LONGEST_SECONDS", 0.75)
    looks = 0
    while not keeper.health.troubles():
        keeper.check_units()
        looks += 1
        assert looks < 10
    assert looks == 4, "one for the list, and twenty in each of the others"
