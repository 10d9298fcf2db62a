"""Pods are bound to nodes: gangs all or nothing up to their minimum, best effort above."""

import pytest

from headgate.cluster.simulated.settings import Behavior
from headgate.cluster.simulated.store import replace
from headgate.kernel.problems import Rejected

from .workbench import Bench


def test_a_pod_is_bound_a_second_after_it_is_there() -> None:
    bench = Bench()
    bench.pod("web-a")
    bench.run_until(5)
    assert bench.scheduled() == {"web-a": 1}


def test_a_gate_keeps_a_pod_until_it_is_lifted() -> None:
    bench = Bench()
    item = bench.pod("web-a", gated=True)
    bench.run_until(10)
    assert bench.scheduled() == {}
    bench.store.update(replace(item, spec={"schedulingGates": []}), bench.now, "test")
    bench.run_until(20)
    assert bench.scheduled() == {"web-a": 11}


def test_a_gang_without_room_for_its_minimum_is_not_bound_at_all() -> None:
    bench = Bench(nodes=2)
    bench.gang("g", web=2, db=1)
    for name, clique, index in (("web-a", "web", 0), ("web-b", "web", 1), ("db-a", "db", 0)):
        bench.pod(name, clique, "g", index=index)
    bench.run_until(60)
    assert bench.scheduled() == {}


def test_a_gang_waits_for_pods_that_are_not_there_yet() -> None:
    bench = Bench()
    bench.gang("g", web=2)
    bench.pod("web-a", "web", "g")
    bench.run_until(20)
    assert bench.scheduled() == {}
    bench.pod("web-b", "web", "g", index=1)
    bench.run_until(40)
    assert bench.scheduled() == {"web-a": 21, "web-b": 21}


def test_above_the_minimum_pods_are_bound_as_room_allows_least_index_first() -> None:
    bench = Bench(nodes=3)
    bench.gang("g", web=2)
    for index in (3, 2, 1, 0):
        bench.pod(f"web-{index}", "web", "g", index=index)
    bench.run_until(5)
    assert sorted(bench.scheduled()) == ["web-0", "web-1", "web-2"]


def test_minimums_of_all_gangs_come_before_what_is_above_them() -> None:
    bench = Bench(nodes=2)
    bench.gang("one", web=1)
    bench.gang("two", db=1)
    bench.pod("web-0", "web", "one")
    bench.pod("web-1", "web", "one", index=1)
    bench.pod("db-0", "db", "two")
    bench.run_until(5)
    assert sorted(bench.scheduled()) == ["db-0", "web-0"]


def test_a_smaller_gang_goes_ahead_of_one_that_has_no_room() -> None:
    bench = Bench(nodes=2)
    bench.gang("big", web=3)
    bench.gang("small", db=1)
    for index in range(3):
        bench.pod(f"web-{index}", "web", "big", index=index)
    bench.pod("db-0", "db", "small")
    bench.run_until(5)
    assert sorted(bench.scheduled()) == ["db-0"]


def test_a_scaled_gang_waits_until_its_base_gang_had_its_minimum() -> None:
    bench = Bench(nodes=1)
    bench.gang("base", web=2)
    bench.gang("scaled", db=1)
    bench.pod("web-0", "web", "base")
    bench.pod("web-1", "web", "base", index=1)
    bench.pod("db-0", "db", "scaled", base="base")
    bench.run_until(60)
    assert bench.scheduled() == {}


def test_that_the_base_gang_had_its_minimum_is_remembered() -> None:
    bench = Bench(nodes=2)
    bench.gang("base", web=1)
    bench.gang("scaled", db=1)
    bench.clique("web")
    web = bench.pod("web-0", "web", "base")
    bench.run_until(5)
    bench.delete(web)
    bench.pod("db-0", "db", "scaled", base="base")
    bench.run_until(7)
    assert bench.scheduled() == {"web-0": 1, "db-0": 6}


def test_a_new_incarnation_of_the_base_gang_starts_from_nothing() -> None:
    bench = Bench(nodes=3)
    gang = bench.gang("base", web=1)
    web = bench.pod("web-0", "web", "base")
    bench.run_until(5)
    bench.delete(web)
    bench.delete(gang)
    bench.gang("base", web=1)
    bench.gang("scaled", db=1)
    bench.pod("db-0", "db", "scaled", base="base")
    bench.run_until(60)
    assert sorted(bench.scheduled()) == ["web-0"]


def test_a_running_gang_gets_a_clique_back_whatever_another_one_lacks() -> None:
    bench = Bench()
    bench.gang("g", web=1, db=1)
    web, db = bench.pod("web-0", "web", "g"), bench.pod("db-0", "db", "g")
    bench.pod("db-1", "db", "g", index=1)
    bench.run_until(5)
    bench.delete(web)
    bench.delete(db)
    bench.run_until(15)
    bench.pod("web-1", "web", "g")
    bench.run_until(20)
    assert bench.scheduled()["web-1"] == 16


def test_the_cliques_of_a_group_replica_come_back_together() -> None:
    bench = Bench()
    bench.gang("g", web=1, x_0_p=1, x_0_d=1)
    bench.clique("x-0-p", group="x")
    bench.clique("x-0-d", group="x")
    bench.pod("web-0", "web", "g")
    leader, worker = bench.pod("p-0", "x-0-p", "g"), bench.pod("d-0", "x-0-d", "g")
    bench.run_until(5)
    bench.delete(leader)
    bench.delete(worker)
    bench.run_until(15)
    bench.pod("p-1", "x-0-p", "g")
    bench.run_until(20)
    assert "p-1" not in bench.scheduled()
    bench.pod("d-1", "x-0-d", "g")
    bench.run_until(30)
    assert (bench.scheduled()["p-1"], bench.scheduled()["d-1"]) == (21, 21)


def test_room_is_free_when_a_pod_is_gone_not_when_it_is_deleted() -> None:
    bench = Bench(nodes=1)
    first = bench.pod("web-0")
    bench.run_until(5)
    bench.pod("web-1", index=1)
    bench.delete(first)
    bench.run_until(30)
    assert bench.scheduled() == {"web-0": 1, "web-1": 16}


def test_an_unschedulable_pod_is_never_bound_and_its_gang_with_it() -> None:
    bench = Bench(
        behaviors=(
            Behavior(match="pod.clique == 'llm-x'"),
            Behavior(match="pod.name == 'db-0'", unschedulable=True),
        )
    )
    bench.gang("g", web=1, db=1)
    bench.pod("web-0", "web", "g")
    bench.pod("db-0", "db", "g")
    bench.run_until(60)
    assert bench.scheduled() == {}


def test_cordoned_nodes_keep_their_pods_and_take_no_new_ones() -> None:
    bench = Bench(nodes=2)
    first = bench.pod("web-0")
    bench.run_until(5)
    bench.nodes.cordon(2)
    bench.pod("web-1", index=1)
    bench.run_until(20)
    assert bench.life(first).deleted_at is None
    assert sorted(bench.scheduled()) == ["web-0"]
    bench.nodes.uncordon(1)
    bench.scheduler.requeue(bench.now)
    bench.run_until(30)
    assert bench.scheduled()["web-1"] == 21


def test_empty_nodes_are_cordoned_first() -> None:
    bench = Bench(nodes=3)
    first = bench.pod("web-0")
    bench.run_until(5)
    bench.nodes.cordon(2)
    bench.delete(first)
    bench.pod("web-1", index=1)
    bench.run_until(30)
    assert bench.scheduled()["web-1"] == 16


def test_no_more_nodes_are_cordoned_than_there_are() -> None:
    bench = Bench(nodes=2)
    with pytest.raises(Rejected, match="has 2 nodes that are open"):
        bench.nodes.cordon(3)
    with pytest.raises(Rejected, match="has 0 nodes that are cordoned"):
        bench.nodes.uncordon(1)


def test_a_cluster_without_limit_has_nothing_to_cordon() -> None:
    with pytest.raises(Rejected, match="no number of nodes"):
        Bench().nodes.cordon(1)


def test_a_gang_that_is_put_back_around_running_pods_counts_as_scheduled() -> None:
    bench = Bench()
    gang = bench.gang("base", web=1)
    bench.pod("web-0", "web", "base")
    bench.run_until(5)
    bench.delete(gang)
    bench.gang("base", web=1)
    bench.gang("scaled", db=1)
    bench.pod("db-0", "db", "scaled", base="base")
    bench.run_until(60)
    assert sorted(bench.scheduled()) == ["db-0", "web-0"]
