"""Labels say whose an object is, and anybody may write them: what an instance was granted is its own, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.unobserved import UnobservedCluster
from headgate.cluster.simulated.agenda import Agenda
from headgate.cluster.simulated.driver import ControllerDriver
from headgate.cluster.simulated.store import ObjectStore, replace
from headgate.graph.controller import GraphController, GraphPlan
from headgate.graph.reconcile import labels, revisions
from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.objects import Key, Object, OwnerReference

NOW = instants.parse("2026-03-02T09:00:00Z")
DEFINITION = Key("kro.run", "ResourceGraphDefinition", "", "box")
BOX = Key("example.com", "Box", "default", "demo")
OTHER_BOX = Key("example.com", "Box", "default", "other")


def config_map(name: str) -> Key:
    return Key("", "ConfigMap", "default", name)


class Town:
    """A definition whose instances have one ConfigMap, and people who write what they like."""

    def __init__(self) -> None:
        self.store = ObjectStore(NamedIds())
        schema = {"apiVersion": "v1", "group": "example.com", "kind": "Box", "spec": {"text": "string"}}
        template = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "${schema.metadata.name}-config"},
            "data": {"text": "${schema.spec.text}"},
        }
        spec = {"schema": schema, "resources": [{"id": "config", "template": template}]}
        self.create(Object("kro.run/v1alpha1", DEFINITION.kind, "", DEFINITION.name, spec=spec))
        self.drive()

    def drive(self) -> None:
        """An operator's new life."""
        self.controller = GraphController(lambda _: {})
        self.driver: ControllerDriver[GraphPlan] = ControllerDriver(
            self.store, Agenda(), self.controller, UnobservedCluster()
        )
        self.settle()

    def settle(self) -> None:
        while self.driver.has_work:
            self.driver.decide(NOW)

    def create(self, item: Object) -> Object:
        return self.store.create(item, NOW, "people")

    def change(self, key: Key, **fields: Any) -> None:
        self.store.update(replace(self.at(key), **fields), NOW, "people")

    def delete(self, key: Key) -> None:
        self.store.delete(key, None, NOW, "people")
        self.settle()

    def make_box(self, key: Key = BOX) -> Object:
        self.create(Object("example.com/v1", "Box", key.namespace, key.name, spec={"text": "ours"}))
        self.settle()
        return self.at(key)

    def copy(self, name: str, **fields: Any) -> Object:
        """Somebody takes what is there for a pattern, and forgets whose labels those are."""
        return self.create(
            replace(self.at(config_map("demo-config")), name=name, uid="", resource_version=0, **fields)
        )

    def at(self, key: Key) -> Object:
        found = self.store.get(key)
        assert found is not None
        return found


@pytest.fixture
def town() -> Town:
    return Town()


def test_a_copy_of_an_object_outlives_the_instance(town: Town) -> None:
    town.make_box()
    copy = town.copy("copy")
    town.settle()
    town.delete(BOX)
    assert town.at(copy.key) == copy
    assert town.store.get(BOX) is None
    assert town.store.get(config_map("demo-config")) is None


def test_a_copy_that_cannot_go_does_not_keep_the_instance(town: Town) -> None:
    town.make_box()
    town.copy("copy", finalizers=("people/keep",))
    town.delete(BOX)
    assert town.store.get(BOX) is None


def test_the_objects_of_an_instance_go_though_its_revisions_went_before(town: Town) -> None:
    """As they do when it is deleted in the foreground."""
    box = town.make_box()
    stranger = town.create(
        Object("v1", "ConfigMap", "default", "stranger", labels={labels.INSTANCE_ID: box.uid})
    )
    (revision,) = (item for item in town.store if item.kind == revisions.KIND)
    town.store.delete(revision.key, None, NOW, "people")
    town.delete(BOX)
    assert town.store.get(BOX) is None
    assert town.store.get(config_map("demo-config")) is None
    assert town.at(stranger.key) == stranger


def test_what_somebody_owns_is_left_alone_whatever_its_labels_say(town: Town) -> None:
    owner = OwnerReference("Deployment", "theirs", "uid-of-theirs")
    box = town.create(Object("example.com/v1", "Box", "default", "demo", spec={"text": "ours"}))
    forged = {labels.INSTANCE_ID: box.uid, labels.NODE_ID: "config"}
    theirs = town.create(
        Object(
            "v1", "ConfigMap", "default", "demo-config", labels=forged, owners=(owner,), other={"data": {}}
        )
    )
    town.settle()
    assert town.at(theirs.key) == theirs
    said = town.at(BOX).status
    assert said["state"] == "ERROR"
    assert "ConfigMap demo-config belongs to Deployment theirs" in str(said["conditions"])
    town.delete(theirs.key)
    assert town.at(config_map("demo-config")).other == {"data": {"text": "ours"}}


@pytest.mark.parametrize("holder", ["other", "nobody"])
def test_an_object_that_is_said_to_be_another_instances_is_put_back(town: Town, holder: str) -> None:
    town.make_box()
    other = town.make_box(OTHER_BOX)
    ours = town.at(config_map("demo-config"))
    marks = {**ours.labels, labels.INSTANCE_ID: other.uid if holder == "other" else "uid-of-nobody"}
    town.change(ours.key, labels={**marks, labels.INSTANCE_NAME: "other"})
    town.settle()
    assert town.at(ours.key).labels == ours.labels
    assert town.at(BOX).status["state"] == "ACTIVE"


def test_an_instance_does_not_take_along_what_only_says_that_it_is_its_own(town: Town) -> None:
    town.make_box()
    other = town.make_box(OTHER_BOX)
    ours = town.at(config_map("demo-config"))
    town.change(
        ours.key, labels={**ours.labels, labels.INSTANCE_ID: other.uid, labels.INSTANCE_NAME: "other"}
    )
    town.delete(OTHER_BOX)
    assert town.at(ours.key).uid == ours.uid


def test_news_of_what_only_says_that_it_is_an_instances_are_nobodys_work(town: Town) -> None:
    town.make_box()
    copy = town.copy("copy")
    assert not town.driver.has_work
    town.change(copy.key, other={"data": {"text": "1"}})
    assert not town.driver.has_work
    town.store.delete(copy.key, None, NOW, "people")
    assert not town.driver.has_work


def test_who_has_the_finalizer_of_instances_is_no_instance(town: Town) -> None:
    town.make_box()
    marks = {labels.DEFINITION_NAME: DEFINITION.name, labels.OWNED: "true"}
    theirs = town.create(
        Object(
            *("v1", "ConfigMap", "default", "theirs"),
            labels=marks,
            annotations={labels.STARTED_ON: "1"},
            finalizers=(labels.FINALIZER,),
        )
    )
    town.drive()
    assert town.at(theirs.key) == theirs
    town.delete(theirs.key)
    assert town.at(theirs.key).finalizers == (labels.FINALIZER,)


def test_a_revision_elsewhere_grants_nothing(town: Town) -> None:
    box = town.make_box()
    (revision,) = (item for item in town.store if item.kind == revisions.KIND)
    theirs = town.create(Object("v1", "ConfigMap", "theirs", "a", labels={labels.INSTANCE_ID: box.uid}))
    granted = {"granted": {"ConfigMap/theirs/a": ["hash", 0]}, "digest": "x", "step": 0, "size": 1}
    status = {**revision.status, "nodes": {**revision.status["nodes"], "gone": granted}}
    forged = replace(
        revision,
        namespace="theirs",
        uid="",
        owners=(),
        spec={**revision.spec, "number": 900},
        status=status,
    )
    town.create(forged)
    town.change(BOX, spec={"text": "changed"})
    town.settle()
    assert town.at(theirs.key) == theirs
    assert town.at(BOX).status["headgate"]["revision"] == 2
    town.delete(BOX)
    assert town.at(theirs.key) == theirs
