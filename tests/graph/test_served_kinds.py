"""A definition does not take over a kind that somebody else brought into the cluster."""

from cluster.unobserved import UnobservedCluster
from headgate.cluster.simulated.agenda import Agenda
from headgate.cluster.simulated.driver import ControllerDriver
from headgate.cluster.simulated.store import ObjectStore, replace
from headgate.graph.compile import validate
from headgate.graph.controller import GraphController, GraphPlan
from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.objects import Key, Object

from .written import document

NOW = instants.parse("2026-03-02T09:00:00Z")
CRD = Key("apiextensions.k8s.io", "CustomResourceDefinition", "", "apps.kro.run")


def settled(store: ObjectStore) -> None:
    driver: ControllerDriver[GraphPlan] = ControllerDriver(
        store, Agenda(), GraphController(lambda now: {}), UnobservedCluster()
    )
    while driver.has_work:
        driver.decide(NOW)


def with_definition(*others: Object) -> ObjectStore:
    store = ObjectStore(NamedIds())
    for other in others:
        store.create(other, NOW, "somebody")
    store.create(validate.as_object(document("")), NOW, "user")
    settled(store)
    return store


def condition(store: ObjectStore, kind: str) -> dict[str, str]:
    top = store.get(Key("kro.run", "ResourceGraphDefinition", "", "app"))
    assert top is not None
    return next(each for each in top.status["conditions"] if each["type"] == kind)


def test_a_foreign_kind_stays_as_it_is_and_the_definition_says_why_it_serves_nothing() -> None:
    foreign = Object("apiextensions.k8s.io/v1", CRD.kind, "", CRD.name, spec={"group": "kro.run"})
    store = with_definition(foreign)
    found = store.get(CRD)
    assert found is not None
    assert found.spec == {"group": "kro.run"}
    assert condition(store, "GraphAccepted")["status"] == "False"
    assert "is not taken over" in condition(store, "GraphAccepted")["message"]


def test_a_kind_of_ours_stays_ours_when_somebody_takes_its_labels_away() -> None:
    store = with_definition()
    crd = store.get(CRD)
    assert crd is not None
    store.update(replace(crd, labels={}), NOW, "somebody")
    settled(store)
    assert condition(store, "GraphAccepted")["status"] == "True"
