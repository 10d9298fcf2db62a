"""What a plan says: its actions in their order, its conditions, its next look."""

from headgate.cluster.cache import ObjectCache
from headgate.cluster.simulated.store import replace
from headgate.graph.controller import GraphController, request_for
from headgate.graph.reconcile.propagate import InstancePlan
from headgate.kernel import instants
from headgate.kernel.objects import Create, Key, Update, UpdateStatus

from .planned import NOW, Bench


def kinds(bench: Bench) -> list[str]:
    found = []
    for action in bench.plan().actions:
        match action:
            case Create(object=item) | Update(object=item):
                found.append(f"{type(action).__name__} {item.kind}")
            case UpdateStatus(key=key):
                found.append(f"UpdateStatus {key.kind}")
            case _:
                found.append(f"Delete {action.key.kind}")
    return found


def changed(bench: Bench) -> None:
    pool = bench.store.get(Key("example.com", "Pool", "default", "pool"))
    assert pool is not None
    bench.store.update(replace(pool, spec={**pool.spec, "release": "two"}), NOW, "user")


def test_grants_are_written_before_objects_and_what_lets_go_after_them() -> None:
    bench = Bench(3, ["linearlyUpdated(worker, workers, 2)"])
    changed(bench)
    assert kinds(bench) == [
        "Create ResourceGraphRevision",
        "Update Worker",
        "Update Worker",
        "UpdateStatus ResourceGraphRevision",
        "UpdateStatus Pool",
    ]


def test_a_second_look_at_the_same_state_is_the_same_plan() -> None:
    bench = Bench(5, None)
    changed(bench)
    first, second = bench.plan(), bench.plan()
    assert repr(first.actions) == repr(second.actions)


def test_nothing_remembered_gives_the_same_plan() -> None:
    bench = Bench(5, ["workers.filter(w, w.updated() && !w.ready()).size() < 2"])
    changed(bench)
    fresh = GraphController(lambda now: bench.signals)
    fresh.restarted(ObjectCache(fresh.index, bench.store), lambda request: None)
    fresh.reconcile(request_for("pool"), NOW)
    plan = fresh.reconcile(Key("example.com", "Pool", "default", "pool"), NOW)
    assert isinstance(plan, InstancePlan)
    assert repr(plan.actions) == repr(bench.plan().actions) != "()"


def test_a_settled_instance_has_nothing_to_do_and_no_time_to_look() -> None:
    bench = Bench(4, None)
    plan = bench.plan()
    assert plan.actions == ()
    assert plan.requeue_at is None
    assert plan.instance_status is not None
    assert plan.instance_status.state == "ACTIVE"


def test_a_time_gate_is_looked_at_when_it_opens() -> None:
    bench = Bench(2, ["now > timestamp('2026-03-09T06:00:00Z')", "now.getHours() >= 8"])
    bench.edit(release="two")
    assert bench.in_flight() == []
    assert bench.plan().requeue_at == instants.parse("2026-03-09T08:00:00Z")


def test_a_gate_that_cannot_be_evaluated_blocks_and_is_shown() -> None:
    bench = Bench(2, ["signals['go'] == true"])
    bench.edit(release="two")
    instance_status = bench.plan().instance_status
    assert instance_status is not None
    condition = instance_status.conditions[-1]
    assert (condition.type, condition.status, condition.reason) == (
        "ResourcesPropagated",
        "False",
        "EvaluationFailed",
    )
    assert "signals['go'] == true" in condition.message
    bench.signals = {"go": True}
    bench.controller.enqueue_everything()
    bench.settle()
    assert bench.in_flight() == ["i00", "i01"]


def test_an_unchanged_item_reaches_the_revision_without_a_write() -> None:
    bench = Bench(3, [])
    bench.edit(items=[*bench.items, "new"])
    numbers = {
        item.name: item.annotations["headgate.dev/revision"] for item in bench.store if item.kind == "Worker"
    }
    assert numbers == {"i00": "1", "i01": "1", "i02": "1", "new": "2"}
    assert [unit.number for unit in bench.plan().instance_pass.units] == [2, 2, 2, 2]  # type: ignore[union-attr]


def test_revisions_in_use_stay_and_others_go() -> None:
    bench = Bench(3, ["linearlyUpdated(worker, workers, 1)"])
    for release in ("two", "three", "four"):
        bench.edit(release=release)
    kept = sorted(item.spec["number"] for item in bench.store if item.kind == "ResourceGraphRevision")
    assert kept == [1, 4]


def test_gates_are_those_of_the_newest_definition_for_every_instance() -> None:
    bench = Bench(4, ["false"])
    bench.edit(release="two")
    assert bench.in_flight() == []
    bench.set_gates([])
    assert bench.in_flight() == ["i00", "i01", "i02", "i03"]
