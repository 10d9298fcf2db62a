"""What graphs and workloads wait for is made up for them, and the promise speaks if they do not come back."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from headgate.cluster.queue import WorkQueue
from headgate.cluster.runner import Runner
from headgate.graph.controller import GraphController, is_definition
from headgate.graph.reconcile.possessions import ObjectsInTheWay
from headgate.kernel.objects import Key, Object
from headgate.promises.requests import RequestDriver
from headgate.simulate import scenario
from headgate.simulate.graphs import part as graph_part
from headgate.simulate.model.result import Result
from headgate.simulate.run import simulate
from headgate.simulate.workloads import part as workload_part
from headgate.workload.plan.controller import WorkloadController

ROOT = Path(__file__).parents[2]
GRAPHS = {
    "time": "examples/graph/controls/time.yaml",
    "instance": "tests/scenarios/graph/order/waits-for-two.yaml",
    "definition of the instance": "tests/scenarios/graph/order/waits-for-two.yaml",
    "object": "tests/scenarios/graph/order/waits-for-two.yaml",
    "object that goes": "tests/scenarios/graph/order/waits-for-two.yaml",
    "external": "tests/scenarios/graph/external/waits-until-it-exists.yaml",
    "in the way": "tests/scenarios/graph/ownership/second-instance-does-not-take-over.yaml",
    "definition": "tests/scenarios/graph/propagation/aborted-definition.yaml",
    "member": "tests/scenarios/graph/propagation/aborted-definition.yaml",
}
"""By topic, a run in which somebody waits for it."""
WORKLOADS = {
    "time": "tests/scenarios/workload/objects/two-sets.yaml",
    "set": "tests/scenarios/workload/status/counts.yaml",
    "status of a Pod": "tests/scenarios/workload/status/counts.yaml",
    "end of a Pod": "tests/scenarios/workload/status/counts.yaml",
    "status of a PodClique": "tests/scenarios/workload/status/counts.yaml",
    "end of a ResourceClaim": "tests/scenarios/workload/claims/filters.yaml",
    "claim template": "tests/scenarios/workload/claims/a-template-of-the-cluster.yaml",
}
LEVELS = {
    **{("graph", topic): file for topic, file in GRAPHS.items()},
    **{("workload", topic): file for topic, file in WORKLOADS.items()},
}
Fault = Callable[[pytest.MonkeyPatch], None]
IsUnheard = Callable[[Object, Object | None], bool]


def played(file: str) -> Result:
    return simulate(scenario.load(ROOT / file))


@pytest.mark.parametrize(("level", "topic"), sorted(LEVELS))
def test_every_topic_is_made_to_happen(monkeypatch: pytest.MonkeyPatch, level: str, topic: str) -> None:
    drivers: list[RequestDriver] = []

    def noted(*given: Any) -> RequestDriver:
        drivers.append(RequestDriver(*given))
        return drivers[-1]

    monkeypatch.setattr(graph_part if level == "graph" else workload_part, "RequestDriver", noted)
    assert played(LEVELS[level, topic]).violations == []
    assert sum(driver.driven[topic] for driver in drivers) > 0


def _deaf(controller: type[Any], is_unheard: IsUnheard) -> Fault:
    """Some news concern nobody."""

    def fault(patched: pytest.MonkeyPatch) -> None:
        original = controller.requests

        def requests(self: Any, item: Object, before: Object | None, **more: bool) -> Iterable[Key]:
            return () if is_unheard(item, before) else original(self, item, before, **more)

        patched.setattr(controller, "requests", requests)

    return fault


def _no_time_is_kept(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(WorkQueue, "requeue", lambda *_: None)


def _nobody_is_in_the_way(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(ObjectsInTheWay, "of", lambda *_: ())


def _is_edit(item: Object, before: Object | None) -> bool:
    return before is not None and before.generation != item.generation


def _is_edit_of_definition(item: Object, before: Object | None) -> bool:
    return is_definition(item.key) and _is_edit(item, before)


def _is_report_of(*kinds: str) -> IsUnheard:
    return lambda item, before: item.kind in kinds and before is not None and before.status != item.status


def _is_end_of(kind: str) -> IsUnheard:
    return lambda item, before: item.kind == kind and item.deleted_at is not None


GRAPH_FAULTS: dict[str, Fault] = {
    "time": _no_time_is_kept,
    "instance": _deaf(GraphController, _is_edit),
    "definition of the instance": _deaf(GraphController, _is_edit_of_definition),
    "object": _deaf(
        GraphController, lambda item, before: before is not None and before.status != item.status
    ),
    "object that goes": _deaf(GraphController, lambda item, _: item.deleted_at is not None),
    "external": _deaf(GraphController, lambda item, before: before is None and item.kind == "ConfigMap"),
    "in the way": _nobody_is_in_the_way,
    "definition": _deaf(GraphController, _is_edit_of_definition),
    "member": _deaf(
        GraphController, lambda item, before: before is not None and before.status != item.status
    ),
}
WORKLOAD_FAULTS: dict[str, Fault] = {
    "time": _no_time_is_kept,
    "set": _deaf(WorkloadController, _is_edit),
    "status of a Pod": _deaf(WorkloadController, _is_report_of("Pod")),
    "end of a Pod": _deaf(WorkloadController, _is_end_of("Pod")),
    "status of a PodClique": _deaf(WorkloadController, _is_report_of("PodClique")),
    "end of a ResourceClaim": _deaf(WorkloadController, _is_end_of("ResourceClaim")),
    "claim template": _deaf(WorkloadController, lambda item, _: item.kind == "ResourceClaimTemplate"),
}


@pytest.mark.parametrize(("level", "topic"), sorted(LEVELS))
def test_a_topic_that_calls_nobody(monkeypatch: pytest.MonkeyPatch, level: str, topic: str) -> None:
    (GRAPH_FAULTS if level == "graph" else WORKLOAD_FAULTS)[topic](monkeypatch)
    found = played(LEVELS[level, topic]).violations
    said = [each.message for each in found if each.promise == "NoStuckWithoutReason"]
    assert any("is not looked at" in message for message in said)


def test_a_refused_write_that_nobody_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    file = "tests/scenarios/graph/refused/a-wave-is-not-silent.yaml"
    assert played(file).violations == []
    monkeypatch.setattr(Runner, "failed", lambda *_: None)
    said = [each.message for each in played(file).violations if each.promise == "NoStuckWithoutReason"]
    assert any("no time is set for that" in message for message in said)
