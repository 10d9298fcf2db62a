"""Base and scaled gangs, by the index of the scaling group's replica."""

import pytest

from headgate.workload.expand import gangs

from . import sets


def shape(pcs_index: int = 0, live: dict[str, int] | None = None, **group: int) -> dict[str, list[str]]:
    pcs = sets.read(
        sets.clique("frontend", replicas=2),
        sets.clique("leader"),
        sets.clique("worker", replicas=3, minAvailable=2),
        groups=(sets.group("sg", "leader", "worker", **group),),
    )
    found = gangs.expected(pcs, pcs_index, live)
    return {gang.name: [pod_group.name for pod_group in gang.groups] for gang in found}


def test_with_as_many_replicas_as_needed_there_is_only_the_base_gang() -> None:
    assert shape(replicas=2, minAvailable=2) == {
        "llm-0": [
            "llm-0-frontend",
            "llm-0-sg-0-leader",
            "llm-0-sg-0-worker",
            "llm-0-sg-1-leader",
            "llm-0-sg-1-worker",
        ]
    }


def test_each_replica_beyond_min_available_has_a_gang_counted_from_zero() -> None:
    assert shape(replicas=3, minAvailable=1) == {
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
    found = shape(live={"sg": replicas + 1}, replicas=replicas, minAvailable=min_available)
    assert list(found) == ["llm-0", *scaled]
    assert found[scaled[-1]] == [f"llm-0-sg-{replicas}-leader", f"llm-0-sg-{replicas}-worker"]


def test_live_replicas_count_not_those_of_the_template() -> None:
    assert list(shape(live={"sg": 4}, replicas=2, minAvailable=1)) == [
        "llm-0",
        "llm-0-sg-0",
        "llm-0-sg-1",
        "llm-0-sg-2",
    ]
    assert shape(live={"sg": 1}, replicas=2, minAvailable=2)["llm-0"][1:] == [
        "llm-0-sg-0-leader",
        "llm-0-sg-0-worker",
    ]


def test_the_gangs_of_another_replica_of_the_set_carry_its_index() -> None:
    assert list(shape(pcs_index=7, replicas=2, minAvailable=1)) == ["llm-7", "llm-7-sg-0"]


def test_a_pod_group_needs_the_min_available_of_its_clique_and_knows_its_base() -> None:
    pcs = sets.read(
        sets.clique("worker", replicas=3, minAvailable=2), groups=(sets.group("sg", "worker", replicas=2),)
    )
    base, scaled = gangs.expected(pcs, 0)
    assert base == gangs.Gang("llm-0", 0, (gangs.PodGroup("llm-0-sg-0-worker", "worker", 2),))
    assert scaled == gangs.Gang("llm-0-sg-0", 0, (gangs.PodGroup("llm-0-sg-1-worker", "worker", 2),), "llm-0")
    assert (base.is_base, scaled.is_base) == (True, False)
