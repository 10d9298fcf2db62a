"""Every scenario of the repository, with a crash at every moment in which something happens, comes out the same."""

from pathlib import Path

import msgspec
import pytest

from headgate.simulate import scenario
from headgate.simulate.model.result import Result
from headgate.simulate.model.steps import Step
from headgate.simulate.model.times import When
from headgate.simulate.run import simulate
from headgate.simulate.suite import find

ROOT = Path(__file__).parents[2]
MOST_MOMENTS = 60


def scenarios() -> list[Path]:
    found = find([ROOT / "examples", ROOT / "tests" / "scenarios"])
    return [path for path, _ in found if "kind: Scenario" in path.read_text("utf-8")]


def moments(result: Result) -> list[int]:
    """Up to the last thing that happens, so that the crashes themselves do not make the run longer."""
    found = {result.start}
    for job in result.jobs:
        found.update(at for at in (job.created_at, job.completed_at) if at is not None)
    for group in result.groups:
        found.update(step.at for step in group.history)
    found.update(step.at for step in result.played)
    return sorted(at for at in found if at <= result.end)[:MOST_MOMENTS]


def with_crashes(plain: scenario.Scenario, at: list[int]) -> scenario.Scenario:
    """Once before the steps of the moment, once after them."""
    crashes = [Step(When(absolute=moment), "crash", "engine", "crash") for moment in at]
    return msgspec.structs.replace(plain, timeline=(*crashes, *plain.timeline, *crashes))


@pytest.mark.parametrize("path", scenarios(), ids=lambda path: str(path.relative_to(ROOT)))
def test_crashes_change_nothing(path: Path) -> None:
    for plain in scenario.load_all(path):
        result = simulate(plain)
        crashed = simulate(with_crashes(plain, moments(result)))
        assert crashed.violations == []
        if plain.cluster.lag.microseconds or plain.cluster.crash_at_writes:
            continue  # a planner that starts again lists afresh, and so learns sooner than by late news
        if not result.converged:
            # When the last look at what waits is, and so the end, follows from when it was looked at before.
            crashed = msgspec.structs.replace(crashed, end=result.end)
        assert crashed.to_json() == result.to_json()
