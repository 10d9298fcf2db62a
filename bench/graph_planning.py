"""One look at a large collection, and one edit of a definition on its way through a thousand instances."""

import gc
import time
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from headgate.cluster.cache import ObjectCache
from headgate.cluster.simulated.agenda import Agenda
from headgate.cluster.simulated.driver import ControllerDriver
from headgate.cluster.simulated.store import ObjectStore
from headgate.graph.controller import GraphController, GraphPlan
from headgate.graph.reconcile import propagate
from headgate.graph.reconcile.planner_cache import PlannerCache
from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.objects import Action, Key, Object
from headgate.simulate import run as simulation
from headgate.simulate import scenario

NOW = instants.parse("2026-03-02T09:00:00Z")
GATES: dict[str, list[str] | None] = {
    "exponential waves": None,
    "a counting gate": ["${pods.filter(p, p.updated() && !p.ready()).size() < pods.size() / 4}"],
}


def run() -> Iterator[str]:
    for name, gates in GATES.items():
        for size in (1_000, 10_000):
            cold, warm, granted = _look(size, gates)
            yield (
                f"one look at {size:,} items, {name}: {warm * 1000:.0f} ms, "
                f"{cold * 1000:.0f} ms with nothing remembered ({granted:,} let go)"
            )
    yield _instances(1_000)


def definition(gates: list[str] | None) -> Object:
    node: dict[str, Any] = {
        "id": "pods",
        "forEach": [{"pod": "${schema.spec.pods}"}],
        "template": {
            "apiVersion": "example.com/v1",
            "kind": "Worker",
            "metadata": {"name": "${pod}"},
            "spec": {"image": "${schema.spec.image}", "name": "${pod}", "replicas": 1},
        },
        "readyWhen": ["${each.status.phase == 'Running'}"],
    }
    if gates is not None:
        node["propagateWhen"] = gates
    return Object(
        api_version="kro.run/v1alpha1",
        kind="ResourceGraphDefinition",
        namespace="",
        name="pool",
        uid="definition",
        created_at=NOW,
        spec={
            "schema": {
                "apiVersion": "v1",
                "group": "example.com",
                "kind": "Pool",
                "spec": {"image": "string", "pods": "[]string"},
            },
            "resources": [node],
        },
    )


class _Nobody:
    """Watches, at no cost that would be measured."""

    def restarted(self, cache: ObjectCache) -> None: ...

    def planned(self, request: Key, plan: GraphPlan, now: int) -> None: ...

    def written(self, request: Key, actions: Sequence[Action], now: int) -> None: ...


def _look(size: int, gates: list[str] | None) -> tuple[float, float, int]:
    """Half of the items have the change and are ready, a few are in flight, the rest waits."""
    store = ObjectStore(NamedIds())
    controller = GraphController(lambda now: {})
    driver: ControllerDriver[GraphPlan] = ControllerDriver(store, Agenda(), controller, _Nobody())
    store.create(definition([]), NOW, "user")
    pods = [f"pod-{index:05d}" for index in range(size)]
    pool = Object("example.com/v1", "Pool", "default", "pool", spec={"image": "one", "pods": pods})
    store.create(pool, NOW, "user")
    while driver.has_work:
        driver.decide(NOW)
    _become_ready(store)
    while driver.has_work:
        driver.decide(NOW)
    top = next(item for item in store if item.kind == "ResourceGraphDefinition")
    changed = definition(gates)
    store.update(_replaced(top, spec=changed.spec), NOW, "user")
    instance = next(item for item in store if item.kind == "Pool")
    store.update(_replaced(instance, spec={"image": "two", "pods": pods}), NOW, "user")
    for _ in range(12):
        driver.decide(NOW)
        _become_ready(store, most=size // 2)
    # A few more have become ready since the last look, so that this one has someone to let go.
    _become_ready(store, most=size * 5 // 8)
    view = ObjectCache(controller.index, store)
    top = next(item for item in store if item.kind == "ResourceGraphDefinition")
    instance = next(item for item in store if item.kind == "Pool")
    planner_cache = PlannerCache()
    accepted = propagate.plan_definition(top, view, {}, NOW, planner_cache).rollout.accepted
    times = []
    granted = 0
    for _ in range(4):
        gc.collect()
        started = time.perf_counter()
        plan = propagate.plan_instance(instance, accepted, view, {}, NOW, planner_cache)
        times.append(time.perf_counter() - started)
        assert plan.instance_pass is not None
        granted = sum(unit.is_granted_now for unit in plan.instance_pass.units)
    return times[0], min(times[1:]), granted


def _replaced(item: Object, **fields: Any) -> Object:
    return msgspec.structs.replace(item, **fields)


def _become_ready(store: ObjectStore, most: int | None = None) -> None:
    count = 0
    for item in list(store):
        if item.kind == "Worker":
            count += 1
            if most is not None and count > most:
                return
            status = {"phase": "Running", "observedGeneration": item.generation}
            store.update_status(item.key, item.uid, status, NOW, "world")


def _instances(count: int) -> str:
    top = {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "ResourceGraphDefinition",
        "metadata": {"name": "app"},
        "spec": {
            "schema": {
                "apiVersion": "v1",
                "group": "example.com",
                "kind": "App",
                "spec": {"image": "string"},
            },
            "resources": [_resource("first", "one"), _resource("second", "one")],
        },
    }
    apps = [
        {
            "apiVersion": "example.com/v1",
            "kind": "App",
            "metadata": {"name": f"app-{index:04d}"},
            "spec": {"image": "web"},
        }
        for index in range(count)
    ]
    edit = {"spec": {"resources": [_resource("first", "two"), _resource("second", "two")]}}
    document = {
        "apiVersion": "headgate.dev/v1",
        "kind": "Scenario",
        "metadata": {"name": "bench"},
        "spec": {
            "start": "2026-03-02T09:00:00Z",
            "objects": [top, *apps],
            "cluster": {
                "behaviors": [
                    {
                        "match": "object.kind == 'Worker'",
                        "status": {
                            "after": "30s",
                            "set": {"ready": True, "observedGeneration": "${object.metadata.generation}"},
                        },
                    }
                ]
            },
            "timeline": [
                {
                    "at": "+1h",
                    "patch": {"kind": "ResourceGraphDefinition", "name": "app", "patch": edit},
                }
            ],
        },
    }
    loaded = scenario.read(document)
    started = time.perf_counter()
    result = simulation.simulate(loaded)
    seconds = time.perf_counter() - started
    assert result.converged
    assert not result.violations
    objects = [item for item in result.objects if item["node"] is not None]
    writes = sum(len(item["writes"]) for item in objects)
    waves = {item["writes"][-1]["at"] for item in objects if item["node"] == "first"}
    return (
        f"{count:,} instances created, then rolled in {len(waves)} waves: {writes / seconds:,.0f} objects a second "
        f"({writes:,} writes in {seconds:.1f} s)"
    )


def _resource(name: str, setting: str) -> dict[str, Any]:
    return {
        "id": name,
        "template": {
            "apiVersion": "example.com/v1",
            "kind": "Worker",
            "metadata": {"name": "${schema.metadata.name}-" + name},
            "spec": {"image": "${schema.spec.image}", "setting": setting},
        },
        "readyWhen": ["${" + name + ".status.ready}"],
    }
