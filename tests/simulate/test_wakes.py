"""Every wake of the fleet is driven somewhere, and the promise speaks when one of them calls nobody."""

from collections import Counter
from pathlib import Path

import pytest

from headgate.fleet.engine import acceptance
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes
from headgate.fleet.state import wakes
from headgate.fleet.state.state import State
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected
from headgate.promises import driving
from headgate.promises.driving import WakeDriver
from headgate.simulate import rollout, scenario
from headgate.simulate.model.result import Result
from headgate.simulate.run import simulate

from .synthetic import IDS, START, put, version

SCENARIOS = Path(__file__).parents[1] / "scenarios"
WAITING = {
    "breaker": "failure-budget/per-policy.yaml",
    "environments": "progression/percentage.yaml",
    "freeze": "freezes/freeze-expires.yaml",
    "members": "progression/percentage-of-three.yaml",
    "pair": "gates/targets-are-those-in-scope.yaml",
    "ranks": "scope/rollout-positions-within-scope.yaml",
    "resource": "dependency/only-itself-outside-a-bracket.yaml",
    "signals": "gates/signal-expires.yaml",
    "site": "found/a-rollout-by-success-waits-for-two-environments.yaml",
    "skips": "approval/two-different-people.yaml",
    "slot": "concurrency/one-slot-in-two-environments.yaml",
    "slots": "concurrency/a-limit-that-grows-again-lets-verified-slots-go-on.yaml",
    "stages": "progression/version-by-version.yaml",
    "versions": "brackets/hook-without-a-version.yaml",
    "votes": "approval/roles.yaml",
}
"""By topic, a run in which somebody waits for it."""


def played(topic: str) -> Result:
    return simulate(scenario.load(SCENARIOS / WAITING[topic]))


def calls_nobody(monkeypatch: pytest.MonkeyPatch, topic: str) -> None:
    original = wakes.Waiting.happened
    monkeypatch.setattr(
        wakes.Waiting, "happened", lambda self, wake: original(self, wake) if wake[0] != topic else None
    )


def test_there_is_a_run_for_every_topic() -> None:
    assert WAITING.keys() == driving.TOPICS


@pytest.mark.parametrize("topic", sorted(WAITING))
def test_every_topic_is_made_to_happen(monkeypatch: pytest.MonkeyPatch, topic: str) -> None:
    driver = WakeDriver()
    monkeypatch.setattr(rollout, "WakeDriver", lambda: driver)
    assert played(topic).violations == []
    assert driver.driven[topic] > 0


@pytest.mark.parametrize("topic", sorted(WAITING))
def test_a_topic_that_calls_nobody(monkeypatch: pytest.MonkeyPatch, topic: str) -> None:
    calls_nobody(monkeypatch, topic)
    if topic == "versions":
        # Whoever waits for a version has the deployment among its own, and is looked at for that too.
        monkeypatch.setattr(State, "known_of", lambda *_: [])
    assert "NoStuckWithoutReason" in {violation.promise for violation in played(topic).violations}


def two_on_each_of_two_nodes() -> Engine:
    """node-1 has the only slot, and on node-2 both stand in line."""
    engine = Engine(IDS)
    one_slot = {"groupSelector": "true", "limitType": "count", "limitValue": 1}
    for change in (
        put("Environment", "prod", resourceSelector="true"),
        *(put("Deployment", name, resourceSelector="true") for name in ("api", "web")),
        *(put("Resource", name) for name in ("node-1", "node-2")),
        put("Policy", "limit", rules=[{"name": "slots", "resourceConcurrency": one_slot}]),
        version("api", "v1"),
        version("web", "v1"),
    ):
        engine.apply(change, START)
    engine.decide(START)
    return engine


def test_a_neighbour_takes_a_slot_and_the_other_one_is_called() -> None:
    driver = WakeDriver()
    assert driver.unanswered(two_on_each_of_two_nodes(), START) == []
    assert driver.driven == {"slot": 1, "skips": 1}
    assert driver.not_driven == Counter()


def test_a_slot_that_calls_nobody_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    calls_nobody(monkeypatch, "slot")
    said = WakeDriver().unanswered(two_on_each_of_two_nodes(), START)
    assert said == ["api/prod/node-2 waits for slot node-2, which happened, and is not looked at"]


def test_what_is_refused_was_not_driven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither heard nor slept through: it is counted, and tried again at the next look."""

    def refuse(state: State, change: changes.Change, now: Instant) -> None:
        raise Rejected([Problem("", "is refused")])

    engine, driver = two_on_each_of_two_nodes(), WakeDriver()
    document = engine.dump()
    with monkeypatch.context() as patched:
        patched.setattr(acceptance, "apply", refuse)
        assert driver.unanswered(engine, START) == []
    assert driver.driven == Counter()
    assert driver.not_driven == {"slot": 1, "skips": 1}
    again = Engine.load(document, IDS)
    again.decide(START)
    assert driver.unanswered(again, START) == []
    assert driver.driven == {"slot": 1, "skips": 1}
