"""The planner at 10,000 pods, what a pass costs in a set ten times smaller, and a whole update in simulation."""

import gc
import statistics
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from typing import Any

from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.objects import Create, DeleteObject, Key, Object, Update, UpdateStatus
from headgate.simulate import run as simulation
from headgate.simulate import scenario
from headgate.workload.expand import manifests
from headgate.workload.plan import children
from headgate.workload.plan import planner as plan

START = instants.parse("2026-03-02T09:00:00Z")
IDS = NamedIds()
ROUNDS = 7
PODS_PER_REPLICA = 100


def run() -> Iterator[str]:
    small, large = Cluster(_set(10)), Cluster(_set(100))
    small_ms, large_ms = _pass_ms(small), _pass_ms(large)
    yield f"planning pass, {large.pods} pods at rest: {large_ms:.1f} ms (target: 100)"
    yield f"planning pass, {small.pods} pods at rest: {small_ms:.1f} ms"
    yield f"pass, large to small: {large_ms / small_ms:.1f} times (target: 10)"
    for cluster in (small, large):
        cluster.edit(image="v2")
    small_ms, large_ms = _pass_ms(small), _pass_ms(large)
    yield f"planning pass that starts an update, {large.pods} pods: {large_ms:.1f} ms"
    yield f"planning pass that starts an update, {small.pods} pods: {small_ms:.1f} ms"
    yield f"memory of one pass: {_bytes_a_pod(large):.0f} bytes a pod"
    pods, seconds = _simulated_update()
    yield f"simulated update of {pods} pods: {seconds:.2f} s, {pods / seconds:.0f} pods a second"


def _set(replicas: int, image: str = "v1", strategy: dict[str, Any] | None = None) -> dict[str, Any]:
    pod_spec = {"containers": [{"name": "main", "image": image}]}
    cliques = [
        {"name": "frontend", "spec": {"replicas": 20, "minAvailable": 10, "podSpec": pod_spec}},
        {"name": "leader", "spec": {"replicas": 1, "podSpec": pod_spec}},
        {"name": "worker", "spec": {"replicas": 9, "podSpec": pod_spec}},
    ]
    group = {"name": "model", "cliqueNames": ["leader", "worker"], "replicas": 8, "minAvailable": 4}
    spec: dict[str, Any] = {
        "replicas": replicas,
        "template": {"cliques": cliques, "podCliqueScalingGroups": [group]},
    }
    if strategy is not None:
        spec["updateStrategy"] = strategy
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "llm", "namespace": "default"},
        "spec": spec,
    }


class Cluster:
    """Carries out every action at once, and every pod runs: what is left is the planner."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.set = manifests.read(document)
        self.set.uid = "set"
        self.objects: dict[Key, Object] = {}
        self._count = 0
        self._remembered = children.ChildrenCache()
        while actions := self.plan().actions:
            for action in actions:
                self._apply(action)
            self._start_pods()

    @property
    def pods(self) -> int:
        return sum(item.kind == "Pod" for item in self.objects.values())

    def plan(self) -> plan.WorkloadPlan:
        parts = tuple(self.objects.values())
        return plan.plan(self.set, parts, START, IDS, remembered=self._remembered)

    def edit(self, image: str) -> None:
        edited = manifests.read(_set(self.set.spec["replicas"], image))
        self.set.spec, self.set.generation = edited.spec, self.set.generation + 1

    def _apply(self, action: object) -> None:
        match action:
            case Create(object=item):
                self._count += 1
                item.uid = f"uid-{self._count}"
                self.objects[item.key] = item
            case Update(object=item):
                item.status = self.objects[item.key].status
                self.objects[item.key] = item
            case DeleteObject(key=key):
                del self.objects[key]
            case UpdateStatus(key=key, status=status):
                (self.set if key == self.set.key else self.objects[key]).status = status

    def _start_pods(self) -> None:
        for item in self.objects.values():
            if item.kind == "Pod" and not item.spec.get("schedulingGates"):
                item.spec["nodeName"] = "node"
                item.status = {"phase": "Running", "scheduled": True, "ready": True}


def _pass_ms(cluster: Cluster) -> float:
    """What is observed is there already in production too: a cache that the watch fills."""
    observed: Sequence[Object] = tuple(cluster.objects.values())
    gc.collect()
    taken: list[float] = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        plan.plan(cluster.set, observed, START, IDS)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken) * 1e3


def _bytes_a_pod(cluster: Cluster) -> float:
    gc.collect()
    tracemalloc.start()
    cluster.plan()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / cluster.pods


def _simulated_update() -> tuple[int, float]:
    strategy = {"type": "ReplicaRecreate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}}
    document = {
        "apiVersion": "headgate.dev/v1",
        "kind": "Scenario",
        "metadata": {"name": "large-update"},
        "spec": {
            "start": "2026-03-02T09:00:00Z",
            "objects": [_set(10, "v1", strategy)],
            "timeline": [{"at": "+1h", "apply": _set(10, "v2", strategy)}],
        },
    }
    read = scenario.read(document)
    gc.collect()
    started = time.perf_counter()
    result = simulation.simulate(read)
    seconds = time.perf_counter() - started
    assert result.converged
    return 10 * PODS_PER_REPLICA, seconds
