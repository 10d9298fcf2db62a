"""Of a pod so little is kept on a cluster as the planner reads: with that alone it decides the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headgate.cluster import port
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, DeleteObject, Key, Object, UpdateStatus
from headgate.simulate import suite
from headgate.workload import pods
from headgate.workload.plan import children
from headgate.workload.plan.controller import WorkloadController

SCENARIOS = Path(__file__).parents[1] / "scenarios" / "workload"
FOLDERS = ("claims", "dead", "gangs", "operators", "recreate", "startup", "status", "surge")

POD = Object(
    "v1",
    "Pod",
    "default",
    "web-0",
    labels={"app": "web"},
    spec={
        "nodeName": "node-1",
        "hostname": "web-0",
        "terminationGracePeriodSeconds": 5,
        "containers": [{"name": "main"}],
    },
    status={
        "phase": "Failed",
        "reason": "Evicted",
        "message": "no room",
        "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "False"}],
        "containerStatuses": [{"name": "main"}],
    },
)


def test_of_a_pod_only_what_is_read_is_kept() -> None:
    kept = pods.read_alone(POD)
    assert kept.spec == {"nodeName": "node-1", "hostname": "web-0", "terminationGracePeriodSeconds": 5}
    assert kept.status == {
        "phase": "Failed",
        "reason": "Evicted",
        "conditions": [{"type": "Ready", "status": "False"}],
    }
    assert (kept.labels, kept.name, kept.uid) == (POD.labels, POD.name, POD.uid)


def test_a_status_that_says_nonsense_is_left_out() -> None:
    odd = Object("v1", "Pod", "default", "web-0", status={"conditions": "none", "phase": 3})
    assert pods.read_alone(odd).status == {"phase": 3}


def test_what_is_no_pod_is_kept_whole() -> None:
    other = Object("metrics.example.com/v1", "Pod", "default", "web-0", spec={"containers": []})
    assert pods.read_alone(other) is other


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_planner_decides_the_same(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    whole = WorkloadController.reconcile
    compared: list[Key] = []

    def both(self: WorkloadController[Any], request: Key, now: Instant) -> Any:
        plan = whole(self, request, now)
        cache, remembered = self._cache, self._remembered
        self._cache, self._remembered = _Sparing(cache), children.ChildrenCache()
        try:
            spared = whole(self, request, now)
        finally:
            self._cache, self._remembered = cache, remembered
        assert (plan is None) == (spared is None)
        if plan is not None and spared is not None:
            assert [_rendered(action) for action in spared.actions] == [
                _rendered(action) for action in plan.actions
            ]
            compared.append(request)
        return plan

    monkeypatch.setattr(WorkloadController, "reconcile", both)
    assert all(outcome.passed for outcome in suite.run([SCENARIOS / folder]))
    assert compared


class _Sparing:
    """A cache in which pods are as they are kept on a cluster; that it was told of them in other words does not count."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def parts_of(self, request: Key) -> list[Object]:
        return [_on_a_cluster(item) for item in self._cache.parts_of(request)]


def _on_a_cluster(item: Object) -> Object:
    """Simulated nodes write `ready` and `scheduled`, where real ones write conditions and a node's name."""
    kept = pods.read_alone(item)
    if kept is item:
        return item
    for word in ("ready", "scheduled"):
        if word in item.status:
            kept.status[word] = item.status[word]
    return kept


def _rendered(action: Action) -> tuple[object, ...]:
    about: object = ""
    if isinstance(action, UpdateStatus):
        about = action.status
    elif isinstance(action, DeleteObject):
        about = action.reason
    elif action.object.kind != "Pod":
        about = (action.object.spec, action.object.labels, action.object.annotations)
    return type(action), port.key_of(action), about
