"""To plan a target changes nothing: what it finds is carried out by whoever asked for the plan."""

from pathlib import Path

import msgspec
import pytest

from headgate.fleet.cycles import targets
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Target
from headgate.kernel.instants import Instant
from headgate.simulate import run, scenario

SCENARIOS = Path(__file__).parents[1] / "scenarios"
FOLDERS = ("given-up", "retry", "rollback", "variables")


def _seen(state: State, target: Target) -> tuple[object, ...]:
    journal = state.journal
    return (
        msgspec.msgpack.encode(target.record),
        msgspec.msgpack.encode(journal),
        frozenset(unit.sort_key for unit in state.waiting.dirty),
        tuple((table.rule.id, tuple(table.holders)) for table in state.slot_tables()),
    )


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_plan_leaves_everything_as_it_was(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = targets.plan
    kinds = set()

    def watched(state: State, target: Target, now: Instant) -> targets.TargetPlan:
        before = _seen(state, target)
        plan = real(state, target, now)
        assert _seen(state, target) == before, f"planning {target.name} changed something"
        kinds.add("start" if plan.release is not None else "wait")
        kinds.update("ending" for _ in plan.endings)
        return plan

    monkeypatch.setattr(targets, "plan", watched)
    for path in sorted((SCENARIOS / folder).glob("*.yaml")):
        for found in scenario.load_all(path):
            run.simulate(found)
    assert {"start", "wait"} <= kinds


def test_what_a_plan_finds_to_be_over_is_found_in_these_scenarios(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of ending; else the test above would show little."""
    real, endings = targets.end, set()

    def watched(state: State, target: Target, found: tuple[targets.Ending, ...], now: Instant) -> None:
        endings.update(type(one).__name__ if isinstance(one, msgspec.Struct) else one for one in found)
        real(state, target, found, now)

    monkeypatch.setattr(targets, "end", watched)
    for path in sorted((SCENARIOS / "retry").glob("*.yaml")):
        for found in scenario.load_all(path):
            run.simulate(found)
    assert endings == {"EndedAttempts", "retry", "order"}
