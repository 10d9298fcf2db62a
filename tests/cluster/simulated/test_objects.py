"""Objects other than pods have the status that a behavior gives them, some time after each write."""

from headgate.cluster.simulated.settings import Behavior, StatusBehavior
from headgate.cluster.simulated.store import replace
from headgate.kernel import instants
from headgate.kernel.spans import Span

from .workbench import SECOND, Bench


def deployments_take(seconds: int, **status: object) -> Behavior:
    return Behavior(
        match="object.kind == 'Deployment'",
        status=StatusBehavior(status, Span(instants.seconds(seconds))),
    )


def test_an_object_has_no_status_without_a_behavior() -> None:
    bench = Bench(behaviors=(deployments_take(45, ready=True),))
    service = bench.put("v1", "Service", "web")
    bench.run_until(1000)
    assert bench.get(service).status == {}  # type: ignore[union-attr]


def test_an_expression_that_stands_alone_keeps_its_type() -> None:
    behavior = deployments_take(
        45,
        availableReplicas="${object.spec.replicas}",
        note="${object.metadata.name} of ${object.spec.replicas}",
        nested={"list": ["${object.metadata.generation}"]},
    )
    bench = Bench(behaviors=(behavior,))
    item = bench.put("apps/v1", "Deployment", "web", spec={"replicas": 3})
    bench.run_until(44)
    assert bench.get(item).status == {}  # type: ignore[union-attr]
    bench.run_until(45)
    assert bench.get(item).status == {  # type: ignore[union-attr]
        "availableReplicas": 3,
        "note": "web of 3",
        "nested": {"list": [1]},
    }


def test_the_timer_starts_anew_at_each_write_of_the_spec() -> None:
    bench = Bench(behaviors=(deployments_take(45, observedGeneration="${object.metadata.generation}"),))
    item = bench.put("apps/v1", "Deployment", "web", spec={"replicas": 1})
    bench.run_until(40)
    bench.store.update(replace(item, spec={"replicas": 2}), bench.now, "test")
    bench.run_until(84)
    assert bench.get(item).status == {}  # type: ignore[union-attr]
    bench.run_until(85)
    assert bench.get(item).status == {"observedGeneration": 2}  # type: ignore[union-attr]
    assert bench.statuses.set_at[item.uid] == [85 * SECOND]


def test_never_ready_holds_for_objects_too() -> None:
    behavior = Behavior(match="object.metadata.name == 'web'", never="ready")
    bench = Bench(behaviors=(behavior, deployments_take(1, ready=True)))
    web, db = bench.put("apps/v1", "Deployment", "web"), bench.put("apps/v1", "Deployment", "db")
    bench.run_until(10)
    assert bench.get(web).status == {}  # type: ignore[union-attr]
    assert bench.get(db).status == {"ready": True}  # type: ignore[union-attr]


def test_an_expression_that_fails_leaves_the_status_as_it_was_and_says_so() -> None:
    bench = Bench(behaviors=(deployments_take(1, replicas="${object.spec.missing}"),))
    item = bench.put("apps/v1", "Deployment", "web")
    bench.run_until(10)
    assert bench.get(item).status == {}  # type: ignore[union-attr]
    assert [target for _, target, _ in bench.statuses.failures] == ["Deployment web"]
