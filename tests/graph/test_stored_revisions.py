"""What an earlier version accepted goes on as it did, also if this one would not accept it any more."""

import copy

import pytest

from cluster.unobserved import UnobservedCluster
from graph import planned
from graph.planned import NOW, Bench
from headgate.cluster.simulated.agenda import Agenda
from headgate.cluster.simulated.driver import ControllerDriver
from headgate.cluster.simulated.store import replace
from headgate.graph.compile import resources
from headgate.graph.controller import GraphController
from headgate.kernel.objects import Key, Object

WORKED = planned.definition
TOP = Key("kro.run", "ResourceGraphDefinition", "", "pool")


def _naming_the_list(gates: list[str] | None) -> Object:
    made = WORKED(gates)
    spec = copy.deepcopy(made.spec)
    spec["resources"][0]["readyWhen"] = ["${each.status.ready || workers.size() > 100}"]
    return replace(made, spec=spec)


def _states(bench: Bench) -> list[str]:
    return [item.status["state"] for item in bench.store if item.kind == "Pool"]


def _new_life(bench: Bench) -> None:
    driver = ControllerDriver(bench.store, Agenda(), GraphController(lambda _: {}), UnobservedCluster())
    while driver.has_work:
        driver.decide(NOW)


def test_a_revision_that_is_refused_by_now_goes_on_and_can_be_repaired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(planned, "definition", _naming_the_list)
        earlier.setattr(resources, "_is_name_of_list", lambda resource, name: False)
        bench = Bench(2, [])
    assert _states(bench) == ["ACTIVE"]
    _new_life(bench)
    assert _states(bench) == ["ACTIVE"]
    top = bench.store.get(TOP)
    assert top is not None
    assert any("in sight here are each" in str(each.get("message")) for each in top.status["conditions"])
    bench.store.update(replace(top, spec=WORKED([]).spec), NOW, "user")
    _new_life(bench)
    assert _states(bench) == ["ACTIVE"]
    repaired = bench.store.get(TOP)
    assert repaired is not None
    assert not any("in sight here" in str(each.get("message")) for each in repaired.status["conditions"])
