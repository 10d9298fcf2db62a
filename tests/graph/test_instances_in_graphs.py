"""An instance that another graph holds has two masters: the graph that made it, and the definition of its kind."""

from cluster.unobserved import UnobservedCluster
from headgate.cluster.cache import ObjectCache
from headgate.cluster.simulated.agenda import Agenda
from headgate.cluster.simulated.driver import ControllerDriver
from headgate.cluster.simulated.store import ObjectStore, replace
from headgate.graph.compile import validate
from headgate.graph.controller import GraphController, GraphPlan
from headgate.graph.reconcile import labels
from headgate.graph.reconcile.propagate import InstancePlan
from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.objects import Key, Object

from .written import document

NOW = instants.parse("2026-03-02T09:00:00Z")
HELD = Key("kro.run", "Inner", "default", "held")
TOP = Key("kro.run", "Outer", "default", "demo")

INNER = """
schema: {kind: Inner, spec: {v: string}}
resources: [{id: part, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: of-inner}, data: {v: "${schema.spec.v}"}}}]
"""
OUTER = """
schema: {kind: Outer, spec: {v: string}}
resources: [{id: part, template: {apiVersion: kro.run/v1alpha1, kind: Inner, metadata: {name: held}, spec: {v: "${schema.spec.v}"}}}]
"""


def settle(store: ObjectStore) -> None:
    driver: ControllerDriver[GraphPlan] = ControllerDriver(
        store, Agenda(), GraphController(lambda now: {}), UnobservedCluster()
    )
    while driver.has_work:
        driver.decide(NOW)


def store_with_both() -> ObjectStore:
    store = ObjectStore(NamedIds())
    for name, text in (("inner", INNER), ("outer", OUTER)):
        store.create(validate.as_object(document(text, name=name)), NOW, "user")
    store.create(Object("kro.run/v1alpha1", TOP.kind, TOP.namespace, TOP.name, spec={"v": "1"}), NOW, "user")
    settle(store)
    return store


def found_in(store: ObjectStore, key: Key) -> Object:
    found = store.get(key)
    assert found is not None
    return found


def test_it_keeps_the_name_of_its_own_definition_when_the_graph_that_holds_it_writes_it() -> None:
    store = store_with_both()
    store.update(replace(found_in(store, TOP), spec={"v": "2"}), NOW, "user")
    settle(store)
    held = found_in(store, HELD)
    assert held.spec == {"v": "2"}
    assert held.labels[labels.DEFINITION_NAME] == "inner"
    assert held.labels[labels.INSTANCE_KIND] == "Outer"


def test_without_its_definition_it_is_left_alone_whatever_definition_its_labels_name() -> None:
    store = store_with_both()
    orphan = replace(
        found_in(store, HELD), labels={**found_in(store, HELD).labels, labels.DEFINITION_NAME: "outer"}
    )
    controller = GraphController(lambda now: {})
    kept = (
        item
        for item in store
        if item.key != HELD and (item.kind, item.name) != ("ResourceGraphDefinition", "inner")
    )
    controller.restarted(ObjectCache(controller.index, (*kept, orphan)), lambda key: None)
    plan = controller.plan_of(HELD, NOW, controller.planner_cache)
    assert isinstance(plan, InstancePlan)
    assert plan.instance_pass is None
    assert plan.actions == ()
