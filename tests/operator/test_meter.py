"""What the operator counts for Prometheus."""

from __future__ import annotations

from graph.planned import Bench
from headgate.cluster.simulated.store import replace
from headgate.graph.reconcile import labels
from headgate.graph.reconcile.propagate import InstancePlan
from headgate.kernel.decisions import Reason
from headgate.kernel.objects import Key
from headgate.operator.running.meter import OperatorMeter
from workload import sets
from workload.world import World

POOL = Key("example.com", "Pool", "default", "pool")
OTHER = Key("example.com", "Pool", "default", "other")


def waiting(meter: OperatorMeter, level: str, reason: str) -> float | None:
    return meter.registry.get_sample_value("headgate_units_waiting", {"level": level, "reason": reason})


def test_objects_that_wait_for_their_wave_are_counted_until_it_comes() -> None:
    bench, meter = Bench(5, None), OperatorMeter()
    meter.waits("graphs", POOL, bench.plan().waiting())
    assert waiting(meter, "graph", "WaveFull") is None
    bench.edit(release="two")
    meter.waits("graphs", POOL, bench.plan().waiting())
    assert waiting(meter, "graph", "WaveFull") == 4
    bench.become_ready(*bench.in_flight())
    bench.settle()
    meter.waits("graphs", POOL, bench.plan().waiting())
    assert waiting(meter, "graph", "WaveFull") == 3


def test_an_instance_whose_objects_are_not_looked_at_is_counted_itself() -> None:
    bench, meter = Bench(2, None), OperatorMeter()
    for order, count in (("suspended", 1), ("", 0)):
        pool = bench.store.get(POOL)
        assert pool is not None
        marks = {**pool.annotations, labels.RECONCILE: order}
        bench.store.update(replace(pool, annotations=marks), bench.now, "user")
        bench.settle()
        meter.waits("graphs", POOL, bench.plan().waiting())
        assert waiting(meter, "graph", "ReconciliationSuspended") == count


def test_an_instance_without_a_graph_revision_is_counted_by_the_reason_that_explain_gives() -> None:
    bench, meter = Bench(1, None), OperatorMeter()
    pool = bench.store.get(POOL)
    assert pool is not None
    plan = InstancePlan(pool, (), pool.status)
    meter.waits("graphs", POOL, plan.waiting())
    assert [line.line.reason for line in plan.lines()] == [Reason.AWAITING_DEPENDENCY]
    assert waiting(meter, "graph", "AwaitingDependency") == 1


def test_pods_that_lack_a_node_are_counted_until_they_run() -> None:
    world, meter = World(sets.document(sets.clique("front", replicas=3))), OperatorMeter()
    world.settle()
    meter.waits("workloads", POOL, world.plan().waiting())
    assert waiting(meter, "workload", "NoCapacity") == 3
    world.come_up()
    meter.waits("workloads", POOL, world.plan().waiting())
    assert waiting(meter, "workload", "NoCapacity") == 0


def test_what_is_found_of_one_object_leaves_the_others_as_they_are() -> None:
    meter = OperatorMeter()
    meter.waits("graphs", POOL, [Reason.PAUSED, Reason.PAUSED])
    meter.waits("graphs", OTHER, [Reason.PAUSED])
    meter.waits("workloads", POOL, [Reason.PAUSED])
    meter.waits("graphs", POOL, [Reason.GATE_FALSE])
    assert waiting(meter, "graph", "Paused") == 1
    assert waiting(meter, "graph", "GateFalse") == 1
    assert waiting(meter, "workload", "Paused") == 1
    meter.waits("graphs", POOL, ())
    assert waiting(meter, "graph", "GateFalse") == 0


def test_who_leads_no_more_counts_nothing_and_who_leads_again_begins_anew() -> None:
    meter = OperatorMeter()
    meter.waits("graphs", POOL, [Reason.PAUSED])
    meter.leads(False)
    assert waiting(meter, "graph", "Paused") is None
    meter.leads(True)
    meter.waits("graphs", POOL, [Reason.PAUSED])
    assert waiting(meter, "graph", "Paused") == 1
