"""How many units wait for what is counted while they move; a recount at any time finds the same."""

from collections import Counter
from pathlib import Path

import pytest

from headgate.fleet.state.units import Unit
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.simulate import scenario
from headgate.simulate.rollout import SimulatedFleet
from headgate.simulate.run import simulate

SCENARIOS = Path(__file__).parents[1] / "scenarios"
FILES = [
    *sorted((SCENARIOS / "freezes").glob("*.yaml")),
    *sorted((SCENARIOS / "concurrency").glob("*.yaml"))[:10],
    *sorted((SCENARIOS / "brackets").glob("*.yaml"))[:20],
]


class Recounted(SimulatedFleet):
    """Compares after every decision."""

    reasons: Counter[Reason] = Counter()

    def decide(self, now: Instant) -> None:
        super().decide(now)
        state = self.engine.state
        units: list[Unit] = [*state.targets.values(), *state.sites.values()]
        recounted = Counter(unit.held_by for unit in units if unit.held_by is not None)
        assert recounted == +state.waiting.counts
        self.reasons.update(recounted.keys())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recount_finds_the_same(path: Path) -> None:
    for found in scenario.load_all(path):
        simulate(found, conduct=Recounted)


def test_the_reasons_are_those_of_the_gates() -> None:
    for path in FILES:
        for found in scenario.load_all(path):
            simulate(found, conduct=Recounted)
    assert {Reason.FROZEN, Reason.SLOTS_TAKEN, Reason.COLLECTING} <= set(Recounted.reasons)
