"""PlanEqualsApply: every moment of every fleet scenario goes as a plan made just before it showed."""

from pathlib import Path

import pytest

from headgate.kernel.spans import Span
from headgate.promises.books.mirror import Mirror
from headgate.simulate import plan_equals_apply, run, scenario, suite
from headgate.simulate.agents import Agents
from headgate.simulate.scenario import AgentEntry, Scenario
from properties import scenario_writer

from .small import document, fleet, manifest, publish

ROOT = Path(__file__).parents[2]
OTHER_LEVELS = {"graph", "workload"}
MOST_JOBS = 500
"""Larger scenarios take long and show nothing new."""


def folders() -> list[Path]:
    found = [*(ROOT / "tests" / "scenarios").iterdir(), *(ROOT / "examples").iterdir()]
    return sorted(path for path in found if path.is_dir() and path.name not in OTHER_LEVELS)


def scenarios_in(folder: Path) -> list[Scenario]:
    return [
        found
        for path, _ in suite.find([folder])
        if "kind: Scenario" in path.read_text("utf-8")
        for found in scenario.load_all(path)
    ]


@pytest.mark.parametrize("folder", folders(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_moment_of_a_scenario_goes_as_planned(folder: Path) -> None:
    for found in scenarios_in(folder):
        if len(run.simulate(found).jobs) <= MOST_JOBS:
            _, violations = plan_equals_apply.check(found)
            assert violations == [], found.name


def test_there_are_many_such_scenarios() -> None:
    assert sum(len(scenarios_in(folder)) for folder in folders()) > 300


def test_the_check_itself_changes_nothing() -> None:
    found = scenario.read(document(publish(), publish("v2", at="+30s"), objects=fleet(3)))
    assert plan_equals_apply.check(found)[0].to_json() == run.simulate(found).to_json()


@pytest.fixture
def wrong_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """In plans, and there alone, jobs take two minutes."""

    def slower(agents: Agents, mirror: Mirror) -> Agents:
        return Agents([AgentEntry(duration=Span(120_000_000))], mirror)

    monkeypatch.setattr(Agents, "going_on", slower)


@pytest.fixture
def two_nodes() -> Scenario:
    limit = {"groupSelector": "true", "limitType": "count", "limitValue": 1}
    slots = manifest("Policy", "one at a time", rules=[{"resourceConcurrency": limit}])
    return scenario.read(document(publish(), objects=[*fleet(2), slots]))


@pytest.mark.usefixtures("wrong_plans")
def test_a_plan_that_shows_something_else_is_found(two_nodes: Scenario) -> None:
    [broken] = plan_equals_apply.check(two_nodes)[1]
    assert broken.promise == "PlanEqualsApply"
    assert "planned was '2026-03-01T09:02:00Z deploy v1 on api/prod/node-2" in broken.message
    assert "done was '2026-03-01T09:01:00Z deploy v1 on api/prod/node-2" in broken.message


@pytest.mark.usefixtures("wrong_plans")
def test_a_scenario_that_does_not_go_as_planned_fails(two_nodes: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "two-nodes.yaml"
    file.write_text(scenario_writer.to_yaml(two_nodes), "utf-8")
    [outcome] = suite.run([file])
    assert not outcome.passed
    assert [violation.promise for violation in outcome.violations] == ["PlanEqualsApply"]


def test_each_moment_is_planned_once_with_all_that_is_done_in_it() -> None:
    conducted: list[plan_equals_apply.RememberingRollout] = []

    def conduct(*arguments: object) -> plan_equals_apply.RememberingRollout:
        conducted.append(plan_equals_apply.RememberingRollout(*arguments))  # type: ignore[arg-type]
        return conducted[0]

    steps = (publish(), publish("v2", at="+1m"), publish("v3", at="+1m"), publish("v3", at="+2m"))
    run.simulate(scenario.read(document(*steps)), conduct=conduct)
    start, later, refused = conducted[0].moments
    assert len(start.made) == len(fleet()) + 1
    assert [len(later.made), len(refused.made)] == [2, 0]
    assert len(later.over) == 1
