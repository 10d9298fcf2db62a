"""A graph revision is an instance's when a revision of its own is made from it; until then the definition may think again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cluster.unobserved import UnobservedCluster
from headgate.cluster import port
from headgate.cluster.port import ObjectChange
from headgate.cluster.simulated.agenda import Agenda
from headgate.cluster.simulated.driver import ControllerDriver
from headgate.cluster.simulated.store import ObjectStore, replace
from headgate.cluster.simulated.writing import StoreWriter
from headgate.graph.controller import GraphController, GraphPlan
from headgate.graph.reconcile import applysets, granted_graph, labels, revisions
from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.objects import Key, Object

NOW = instants.parse("2026-03-02T09:00:00Z")
DEFINITION = Key("kro.run", "ResourceGraphDefinition", "", "box")
NAMES = ("a", "b", "c")


def box(name: str) -> Key:
    return Key("example.com", "Box", "default", name)


def specification(text: str, *, kind: str = "ConfigMap") -> dict[str, Any]:
    template = {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": "${schema.metadata.name}-config"},
        "data": {"text": text},
    }
    return {
        "schema": {"apiVersion": "v1", "group": "example.com", "kind": "Box", "spec": {"text": "string"}},
        "propagateWhen": ["signals['go'] == true"],
        "resources": [{"id": "config", "template": template}],
    }


class Boxes:
    """Three instances at the first graph revision, and a gate that a signal opens."""

    def __init__(self, refusal: Callable[[Object], str | None] = lambda _: None) -> None:
        self.store = ObjectStore(NamedIds())
        self.signals: dict[str, object] = {"go": True}
        self.changes: list[ObjectChange] = []
        self.store.create(
            Object("kro.run/v1alpha1", DEFINITION.kind, "", DEFINITION.name, spec=specification("one")),
            NOW,
            "people",
        )
        for name in NAMES:
            self.store.create(
                Object("example.com/v1", "Box", "default", name, spec={"text": "x"}), NOW, "people"
            )
        self.drive()
        self.drive(refusal)
        self.store.listen(self.changes.append)

    def drive(self, refusal: Callable[[Object], str | None] = lambda _: None) -> None:
        """An operator's new life."""
        self.controller = GraphController(lambda _: self.signals)
        self.driver: ControllerDriver[GraphPlan] = ControllerDriver(
            self.store, Agenda(), self.controller, UnobservedCluster(), refusal=refusal
        )
        self.settle()

    def settle(self) -> None:
        while self.driver.has_work:
            self.driver.decide(NOW)

    def edit(self, **fields: Any) -> None:
        self.store.update(replace(self.at(DEFINITION), **fields), NOW, "people")

    def look_at_definition(self) -> None:
        """Until it lets somebody on, and before anybody went."""
        runner = self.driver.runner
        for _ in range(2):
            plan = runner.plan(DEFINITION, NOW)
            assert plan is not None
            for action in plan.actions:
                port.write(StoreWriter(self.store, NOW, self.controller.name), action)

    def at(self, key: Key) -> Object:
        found = self.store.get(key)
        assert found is not None
        return found

    def numbers(self) -> list[int]:
        cache = self.driver.runner.cache
        return [granted_graph.number_of(self.at(box(name)), cache) for name in NAMES]

    def texts(self) -> list[str]:
        keys = (Key("", "ConfigMap", "default", f"{name}-config") for name in NAMES)
        return [self.at(key).other["data"]["text"] for key in keys]


def test_a_grant_has_no_write_of_its_own() -> None:
    boxes = Boxes()
    boxes.edit(spec=specification("two"))
    boxes.settle()
    assert boxes.numbers() == [2, 2, 2]
    of_boxes = [change for change in boxes.changes if change.object.kind == "Box"]
    assert of_boxes
    for change in of_boxes:
        assert change.old is not None
        assert change.object.status != change.old.status
        assert change.object.annotations == change.old.annotations
        assert change.object.labels == change.old.labels


def test_who_was_let_on_and_has_not_gone_yet_stays_when_the_definition_is_paused() -> None:
    boxes = Boxes()
    boxes.edit(spec=specification("two"))
    boxes.look_at_definition()
    boxes.edit(annotations={labels.PROPAGATION: labels.PAUSED})
    for name in NAMES:
        boxes.controller.reconcile(box(name), NOW)
    boxes.settle()
    assert boxes.numbers() == [1, 1, 1]
    assert boxes.texts() == ["one", "one", "one"]


def test_who_was_let_on_and_has_not_gone_yet_stays_when_it_is_paused_itself() -> None:
    boxes = Boxes()
    boxes.edit(spec=specification("two"))
    boxes.look_at_definition()
    paused = {**boxes.at(box("b")).annotations, labels.PROPAGATION: labels.PAUSED}
    boxes.store.update(replace(boxes.at(box("b")), annotations=paused), NOW, "people")
    boxes.settle()
    assert boxes.numbers() == [2, 1, 2]


def test_a_new_life_asks_the_gates_again() -> None:
    boxes = Boxes()
    boxes.edit(spec=specification("two"))
    boxes.look_at_definition()
    boxes.signals = {"go": False}
    boxes.drive()
    assert boxes.numbers() == [1, 1, 1]
    boxes.signals = {"go": True}
    boxes.drive()
    assert boxes.numbers() == [2, 2, 2]


def test_a_graph_revision_that_the_server_does_not_take_is_granted_to_nobody() -> None:
    boxes = Boxes(lambda item: "no room" if item.kind == revisions.GRAPH_KIND else None)
    boxes.edit(spec=specification("two"))
    boxes.settle()
    assert boxes.numbers() == [1, 1, 1]
    assert boxes.texts() == ["one", "one", "one"]


def test_an_instance_whose_revisions_somebody_took_away_keeps_its_graph_revision() -> None:
    boxes = Boxes()
    boxes.edit(spec=specification("two"))
    boxes.settle()
    boxes.signals = {"go": False}
    for item in list(boxes.store):
        if item.kind == revisions.KIND:
            boxes.store.delete(item.key, None, NOW, "people")
    boxes.drive()
    assert boxes.numbers() == [2, 2, 2]
    assert boxes.texts() == ["two", "two", "two"]


def test_who_has_not_left_its_content_has_landed_on_each_later_revision_with_it() -> None:
    boxes = Boxes()
    paused = {**boxes.at(box("c")).annotations, labels.PROPAGATION: labels.PAUSED}
    boxes.store.update(replace(boxes.at(box("c")), annotations=paused), NOW, "people")
    for text in ("two", "one", "three"):
        boxes.edit(spec=specification(text))
        boxes.settle()
        boxes.signals = {"go": False}
    assert boxes.numbers() == [2, 2, 1]
    remembered = boxes.at(DEFINITION)
    assert remembered.status["lastLandedRevision"] == 3
    status = {key: value for key, value in remembered.status.items() if key != "lastLandedRevision"}
    boxes.store.update_status(DEFINITION, remembered.uid, status, NOW, "people")
    boxes.store.create(Object("example.com/v1", "Box", "default", "d", spec={"text": "x"}), NOW, "people")
    boxes.drive()
    assert boxes.at(box("d")).annotations[labels.STARTED_ON] == "3"
    assert boxes.at(DEFINITION).status["lastLandedRevision"] == 3


def test_an_instance_says_which_kinds_it_has_before_it_has_one_more() -> None:
    boxes = Boxes()
    boxes.edit(spec=specification("two", kind="Secret"))
    boxes.settle()
    assert boxes.numbers() == [2, 2, 2]
    of_a = [change for change in boxes.changes if change.object.name in ("a", "a-config")]
    first = next(index for index, change in enumerate(of_a) if change.object.kind == "Secret")
    said = [change.object.annotations.get(applysets.KINDS) for change in of_a[:first]]
    assert said[-1] == "ConfigMap,Secret"
