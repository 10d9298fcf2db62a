"""Base and scaled gangs, by the index of the scaling group's replica, as the planner makes them."""

from typing import Any

import pytest

from . import sets
from .world import World


def world_of(set_replicas: int = 1, **group: Any) -> World:
    """At rest, with all its pods ready."""
    world = World(
        sets.document(
            sets.clique("frontend", replicas=2),
            sets.clique("leader"),
            sets.clique("worker", replicas=3, minAvailable=2),
            groups=(sets.group("sg", "leader", "worker", **group),),
            replicas=set_replicas,
        )
    )
    world.come_up()
    return world


def scale_to(world: World, replicas: int) -> None:
    [group] = [item for item in world.objects.values() if item.kind == "PodCliqueScalingGroup"]
    group.spec["replicas"] = replicas
    world.come_up()


def test_with_as_many_replicas_as_needed_there_is_only_the_base_gang() -> None:
    assert world_of(replicas=2, minAvailable=2).gangs() == {
        "llm-0": [
            "llm-0-frontend",
            "llm-0-sg-0-leader",
            "llm-0-sg-0-worker",
            "llm-0-sg-1-leader",
            "llm-0-sg-1-worker",
        ]
    }


def test_each_replica_beyond_min_available_has_a_gang_counted_from_zero() -> None:
    assert world_of(replicas=3, minAvailable=1).gangs() == {
        "llm-0": ["llm-0-frontend", "llm-0-sg-0-leader", "llm-0-sg-0-worker"],
        "llm-0-sg-0": ["llm-0-sg-1-leader", "llm-0-sg-1-worker"],
        "llm-0-sg-1": ["llm-0-sg-2-leader", "llm-0-sg-2-worker"],
    }


@pytest.mark.parametrize(
    ("replicas", "min_available", "scaled"),
    [(3, 3, ["llm-0-sg-0"]), (3, 2, ["llm-0-sg-0", "llm-0-sg-1"]), (1, 1, ["llm-0-sg-0"])],
)
def test_a_surge_replica_has_a_scaled_gang_even_when_all_others_are_in_the_base(
    replicas: int, min_available: int, scaled: list[str]
) -> None:
    strategy = {"maxUnavailable": 0, "maxSurge": 1}
    world = world_of(replicas=replicas, minAvailable=min_available, updateStrategy=strategy)
    without = list(world.gangs())
    world.set.spec["template"]["cliques"][1]["spec"]["podSpec"]["containers"][0]["image"] = "app:v2"
    world.set.generation += 1
    world.settle()
    found = world.gangs()
    assert (without, list(found)) == (["llm-0", *scaled[:-1]], ["llm-0", *scaled])
    assert found[scaled[-1]] == [f"llm-0-sg-{replicas}-leader", f"llm-0-sg-{replicas}-worker"]


def test_the_replicas_of_the_group_count_not_those_of_the_template() -> None:
    world = world_of(replicas=2, minAvailable=1, scaleConfig={"minReplicas": 1, "maxReplicas": 4})
    scale_to(world, 4)
    assert list(world.gangs()) == ["llm-0", "llm-0-sg-0", "llm-0-sg-1", "llm-0-sg-2"]
    scale_to(world, 1)
    assert list(world.gangs()) == ["llm-0"]


def test_the_base_gang_keeps_the_groups_that_it_needs_however_small_the_group_is_made() -> None:
    world = world_of(replicas=2, minAvailable=2, scaleConfig={"minReplicas": 2, "maxReplicas": 4})
    whole = world.gangs()
    scale_to(world, 1)
    assert world.gangs() == whole


def test_the_gangs_of_another_replica_of_the_set_carry_its_index() -> None:
    assert list(world_of(8, replicas=2, minAvailable=1).gangs(7)) == ["llm-7", "llm-7-sg-0"]


def test_a_pod_group_needs_the_min_available_of_its_clique_and_a_scaled_gang_waits_for_its_base() -> None:
    worker = sets.clique("worker", replicas=3, minAvailable=2)
    world = World(sets.document(worker, groups=(sets.group("sg", "worker", replicas=2),)))
    world.settle()
    minima = {
        item.name: [(group["name"], group["minReplicas"]) for group in item.spec["podgroups"]]
        for item in world.objects.values()
        if item.kind == "PodGang"
    }
    assert minima == {"llm-0": [("llm-0-sg-0-worker", 2)], "llm-0-sg-0": [("llm-0-sg-1-worker", 2)]}
    assert {pod.spec["hostname"] for pod in world.pods() if not pod.spec["schedulingGates"]} == {
        f"llm-0-sg-0-worker-{index}" for index in range(3)
    }
    world.run_pods()
    world.settle()
    assert all(not pod.spec["schedulingGates"] for pod in world.pods())
