"""A collection in a cluster that does what a test says, one look at a time."""

from typing import Any

from cluster.unobserved import UnobservedCluster
from headgate.cluster.simulated.agenda import Agenda
from headgate.cluster.simulated.driver import ControllerDriver
from headgate.cluster.simulated.store import ObjectStore, replace
from headgate.graph.controller import GraphController, GraphPlan
from headgate.graph.reconcile.propagate import InstancePlan
from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.objects import Key, Object

NOW = instants.parse("2026-03-02T09:00:00Z")


class Bench:
    """`count` items of one collection, created and ready; `edit` changes all of them."""

    def __init__(self, count: int, gates: list[str] | None, *, items: list[str] | None = None) -> None:
        self.store = ObjectStore(NamedIds())
        self.signals: dict[str, object] = {}
        self.now = NOW
        self.controller = GraphController(lambda now: self.signals)
        self.driver: ControllerDriver[GraphPlan] = ControllerDriver(
            self.store, Agenda(), self.controller, UnobservedCluster()
        )
        self.items = items if items is not None else [f"i{index:02d}" for index in range(count)]
        self.store.create(definition([]), NOW, "user")
        spec = {"release": "one", "items": self.items}
        self.store.create(Object("example.com/v1", "Pool", "default", "pool", spec=spec), NOW, "user")
        self.settle()
        self.become_ready(*self.items)
        self.settle()
        self.set_gates(gates)

    def set_gates(self, gates: list[str] | None) -> None:
        top = self.store.get(Key("kro.run", "ResourceGraphDefinition", "", "pool"))
        assert top is not None
        self.store.update(replace(top, spec=definition(gates).spec), self.now, "user")
        self.settle()

    def edit(self, **fields: Any) -> None:
        pool = self.store.get(Key("example.com", "Pool", "default", "pool"))
        assert pool is not None
        self.store.update(replace(pool, spec={**pool.spec, **fields}), self.now, "user")
        self.settle()

    def settle(self) -> None:
        while self.driver.has_work:
            self.driver.decide(self.now)

    def become_ready(self, *names: str) -> None:
        for name in names:
            item = self.store.get(Key("example.com", "Worker", "default", name))
            assert item is not None
            status = {"ready": True, "observedGeneration": item.generation}
            self.store.update_status(item.key, item.uid, status, self.now, "world")

    def in_flight(self) -> list[str]:
        return [
            item.name
            for item in sorted(self.store, key=lambda item: item.name)
            if item.kind == "Worker" and item.status.get("observedGeneration") != item.generation
        ]

    def waves(self) -> list[int]:
        """Everything in flight becomes ready, and then what follows is the next wave."""
        found: list[int] = []
        while wave := self.in_flight():
            found.append(len(wave))
            self.become_ready(*wave)
            self.settle()
        return found

    def plan(self) -> InstancePlan:
        plan = self.controller.plan_of(
            Key("example.com", "Pool", "default", "pool"), self.now, self.controller.planner_cache
        )
        assert isinstance(plan, InstancePlan)
        return plan


def definition(gates: list[str] | None) -> Object:
    node: dict[str, Any] = {
        "id": "workers",
        "forEach": [{"worker": "${schema.spec.items}"}],
        "template": {
            "apiVersion": "example.com/v1",
            "kind": "Worker",
            "metadata": {"name": "${worker}"},
            "spec": {"release": "${schema.spec.release}"},
        },
        "readyWhen": ["${each.status.ready}"],
    }
    if gates is not None:
        node["propagateWhen"] = gates
    schema = {
        "apiVersion": "v1",
        "group": "example.com",
        "kind": "Pool",
        "spec": {"release": "string", "items": "[]string"},
    }
    return Object(
        "kro.run/v1alpha1",
        "ResourceGraphDefinition",
        "",
        "pool",
        spec={"schema": schema, "resources": [node]},
    )
