"""Validation of a set that replaces a stored one."""

import copy
from typing import Any

import pytest

from headgate.kernel.objects import Object
from headgate.workload import defaults
from headgate.workload.expand import manifests

from . import sets

TEMPLATE = "spec.template"


def document(**fields: Any) -> dict[str, Any]:
    return copy.deepcopy(
        sets.document(
            sets.clique("frontend", replicas=2, minAvailable=1),
            sets.clique("leader", startsAfter=["frontend"]),
            sets.clique("worker", replicas=3),
            groups=(sets.group("sg", "leader", "worker", replicas=3, minAvailable=2),),
            **fields,
        )
    )


def stored(**fields: Any) -> Object:
    return defaults.apply(manifests.read(document(**fields)))


def edited(path: tuple[str | int, ...], value: Any, **fields: Any) -> Object:
    changed = document(**fields)
    place: Any = changed["spec"]["template"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return manifests.read(changed)


FRONTEND = ("cliques", 0)
GROUP = ("podCliqueScalingGroups", 0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*FRONTEND, "spec", "replicas"), 5),
        ((*FRONTEND, "labels"), {"a": "b"}),
        ((*FRONTEND, "annotations"), {"a": "b"}),
        ((*FRONTEND, "spec", "podSpec"), {"containers": []}),
        ((*FRONTEND, "spec", "autoScalingConfig"), {"maxReplicas": 9}),
        ((*FRONTEND, "updateStrategy"), {"maxSurge": 1}),
        ((*GROUP, "replicas"), 5),
        ((*GROUP, "scaleConfig"), {"maxReplicas": 9}),
        ((*GROUP, "updateStrategy"), {"maxUnavailable": 2}),
        (("priorityClassName",), "urgent"),
        (("terminationDelay",), "1m"),
        (("headlessServiceConfig",), {"publishNotReadyAddresses": False}),
    ],
)
def test_what_a_rollout_is_made_of_may_change(path: tuple[str | int, ...], value: Any) -> None:
    assert sets.problems(edited(path, value), stored()) == []


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ((*FRONTEND, "spec", "roleName"), "other", "cliques[0].spec.roleName"),
        ((*FRONTEND, "spec", "minAvailable"), 2, "cliques[0].spec.minAvailable"),
        (("cliques", 1, "spec", "startsAfter"), ["worker"], "cliques[1].spec.startsAfter"),
        (
            (*FRONTEND, "resourceSharing"),
            [{"name": "g", "scope": "PerReplica"}],
            "cliques[0].resourceSharing",
        ),
        (
            (*FRONTEND, "annotations"),
            {"grove.io/mnnvl-group": "g"},
            "cliques[0].annotations['grove.io/mnnvl-group']",
        ),
        (("cliqueStartupType",), "CliqueStartupTypeInOrder", "cliqueStartupType"),
        ((*GROUP, "cliqueNames"), ["worker"], "podCliqueScalingGroups[0].cliqueNames"),
        ((*GROUP, "minAvailable"), 1, "podCliqueScalingGroups[0].minAvailable"),
        (("resourceSharing",), [{"name": "g", "scope": "PerReplica"}], "resourceSharing"),
        (("topologyConstraint",), {"topologyName": "t"}, "topologyConstraint"),
    ],
)
def test_what_the_set_is_built_on_may_not(path: tuple[str | int, ...], value: Any, place: str) -> None:
    assert sets.paths(edited(path, value), stored()) == [f"{TEMPLATE}.{place}"]


def test_a_refused_change_shows_both_values() -> None:
    assert sets.problems(edited((*FRONTEND, "spec", "minAvailable"), 2), stored()) == [
        "spec.template.cliques[0].spec.minAvailable: must not change; it is 1 and would be 2"
    ]


def test_one_scheduler_for_ever() -> None:
    after = document()
    for clique in after["spec"]["template"]["cliques"]:
        clique["spec"]["podSpec"]["schedulerName"] = "kai"
    places = sets.paths(manifests.read(after), stored())
    assert places == [f"{TEMPLATE}.cliques[{index}].spec.podSpec.schedulerName" for index in range(3)]


def test_cliques_are_neither_added_nor_removed() -> None:
    added = edited(("cliques",), [*document()["spec"]["template"]["cliques"], sets.clique("new")])
    assert sets.problems(added, stored()) == [
        'spec.template.cliques: clique "new" must not be added; the composition of a set does not change'
    ]
    removed = edited(("cliques",), document()["spec"]["template"]["cliques"][1:])
    assert (
        'spec.template.cliques: clique "frontend" must not be removed; the composition of a set does not change'
        in (sets.problems(removed, stored()))
    )


def test_scaling_groups_are_neither_added_nor_removed() -> None:
    more = [*document()["spec"]["template"]["podCliqueScalingGroups"], sets.group("new", "frontend")]
    assert sets.paths(edited(("podCliqueScalingGroups",), more), stored()) == [
        "spec.template.podCliqueScalingGroups"
    ]
    assert sets.paths(edited(("podCliqueScalingGroups",), []), stored()) == [
        "spec.template.podCliqueScalingGroups"
    ]


@pytest.mark.parametrize(
    ("kind", "refused"),
    [("CliqueStartupTypeAnyOrder", 0), ("CliqueStartupTypeInOrder", 2), ("CliqueStartupTypeExplicit", 2)],
)
def test_the_order_of_cliques_changes_only_where_it_has_no_meaning(kind: str, refused: int) -> None:
    first, second, third = document()["spec"]["template"]["cliques"]
    after = edited(("cliques",), [second, first, third], cliqueStartupType=kind)
    problems = sets.problems(after, stored(cliqueStartupType=kind))
    assert len(problems) == refused
    assert all("the order of cliques does not change" in problem for problem in problems)


def test_what_is_forbidden_on_new_sets_alone_may_stay_on_old_ones() -> None:
    after = edited((*FRONTEND, "spec", "podSpec", "nodeName"), "n1")
    assert sets.problems(after, stored()) == []
    assert sets.paths(after) == ["spec.template.cliques[0].spec.podSpec.nodeName"]


def test_every_forbidden_change_is_said_at_once_and_beside_other_faults() -> None:
    after = edited((*FRONTEND, "spec", "roleName"), "other", replicas=-1)
    after.spec["template"]["cliqueStartupType"] = "CliqueStartupTypeInOrder"
    assert sets.paths(after, stored()) == [
        "spec.replicas",
        f"{TEMPLATE}.cliqueStartupType",
        f"{TEMPLATE}.cliques[0].spec.roleName",
    ]


@pytest.mark.parametrize(("replicas", "min_available"), [(5, 3), (3, 3), (2, 2)])
def test_replicas_change_freely_where_min_available_was_never_said(replicas: int, min_available: int) -> None:
    before = defaults.apply(sets.item(sets.clique("worker", replicas=3)))
    after = sets.item(sets.clique("worker", replicas=replicas))
    assert sets.problems(after, before) == []
    spec = defaults.apply(after, before).spec["template"]["cliques"][0]["spec"]
    assert spec["minAvailable"] == min_available


def test_the_update_strategy_may_change_at_any_time() -> None:
    after = manifests.read(document(strategy={"type": "ReplicaRecreate", "rollingUpdate": {"maxSurge": 1}}))
    assert sets.problems(after, stored()) == []
