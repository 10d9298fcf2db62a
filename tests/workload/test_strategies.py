"""Validation of update strategies, level by level."""

from typing import Any

import pytest

from headgate.kernel.objects import Object
from headgate.kernel.quantities import Quantity
from headgate.workload import model
from headgate.workload.checks import validate

from . import sets

PCS = "spec.updateStrategy.rollingUpdate"
CLIQUE = "spec.template.cliques[0].updateStrategy"
GROUP = "spec.template.podCliqueScalingGroups[0].updateStrategy"

AT_EVERY_LEVEL = ["set", "clique", "group"]


def at(level: str, strategy: Any, replicas: int = 3) -> Object:
    """A set that says `strategy` on that level, where there are `replicas`."""
    if level == "set":
        whole = {"type": "ReplicaRecreate", "rollingUpdate": strategy}
        return sets.item(sets.clique("worker"), replicas=replicas, strategy=whole)
    if level == "clique":
        return sets.item(sets.clique("worker", replicas=replicas, updateStrategy=strategy))
    group = sets.group("sg", "worker", replicas=replicas, updateStrategy=strategy)
    return sets.item(sets.clique("worker"), groups=(group,))


def path(level: str, field: str) -> str:
    return f"{ {'set': PCS, 'clique': CLIQUE, 'group': GROUP}[level] }.{field}"


@pytest.mark.parametrize("level", AT_EVERY_LEVEL)
@pytest.mark.parametrize(
    "strategy",
    [
        {},
        None,
        {"maxUnavailable": 1},
        {"maxUnavailable": 3},
        {"maxSurge": 0},
        {"maxSurge": 5},
        {"maxUnavailable": 0, "maxSurge": 1},
        {"maxUnavailable": "0%", "maxSurge": "1%"},
        {"maxUnavailable": "100%", "maxSurge": "0%"},
        {"maxSurge": "150%"},
        {"maxUnavailable": 2, "maxSurge": 2},
    ],
)
def test_these_are_fine_on_every_level(level: str, strategy: Any) -> None:
    assert sets.problems(at(level, strategy)) == []


@pytest.mark.parametrize("level", AT_EVERY_LEVEL)
@pytest.mark.parametrize("field", ["maxUnavailable", "maxSurge"])
@pytest.mark.parametrize("value", [-1, "-1%", "5 %", "abc%", "%", "5", 1.5, True, "", "5%%", [1]])
def test_a_value_that_is_no_quantity_is_refused_on_every_level(level: str, field: str, value: Any) -> None:
    [problem] = validate.check(at(level, {field: value})).problems
    assert problem.path == path(level, field)
    assert "allowed is a whole number" in problem.message


@pytest.mark.parametrize("level", AT_EVERY_LEVEL)
def test_more_than_all_may_be_added_but_not_be_down(level: str) -> None:
    assert sets.paths(at(level, {"maxUnavailable": "101%"})) == [path(level, "maxUnavailable")]
    assert sets.paths(at(level, {"maxSurge": "101%"})) == []


@pytest.mark.parametrize("level", AT_EVERY_LEVEL)
@pytest.mark.parametrize(
    "strategy",
    [
        {"maxUnavailable": 0, "maxSurge": 0},
        {"maxUnavailable": "0%", "maxSurge": "0%"},
        {"maxUnavailable": 0, "maxSurge": "0%"},
        {"maxUnavailable": 0},
        {"maxUnavailable": "0%"},
    ],
)
def test_nothing_down_and_nothing_added_is_no_way_to_update(level: str, strategy: Any) -> None:
    [problem] = validate.check(at(level, strategy)).problems
    assert problem.path == path(level, "maxUnavailable")
    assert "maxSurge is 0" in problem.message
    assert ("by default" in problem.message) == ("maxSurge" not in strategy)


@pytest.mark.parametrize("level", AT_EVERY_LEVEL)
def test_no_more_may_be_down_than_there_are(level: str) -> None:
    assert sets.problems(at(level, {"maxUnavailable": 4})) == [
        f"{path(level, 'maxUnavailable')}: is 4; must not be greater than replicas, 3"
    ]


def test_a_set_scaled_to_zero_keeps_any_limit() -> None:
    assert sets.problems(at("set", {"maxUnavailable": 4}, replicas=0)) == []


@pytest.mark.parametrize("level", AT_EVERY_LEVEL)
def test_a_share_of_less_than_one_is_used_as_one_and_warned_of(level: str) -> None:
    subject = at(level, {"maxUnavailable": "10%"})
    assert sets.problems(subject) == []
    assert sets.warnings(subject) == [
        f"{path(level, 'maxUnavailable')}: 10% of 3 replicas is less than one, and there is no surge: 1 is used"
    ]
    assert sets.warnings(at(level, {"maxUnavailable": "10%", "maxSurge": "10%"})) == []


@pytest.mark.parametrize("level", ["clique", "group"])
@pytest.mark.parametrize(
    "strategy", [{"maxSurge": 1}, {"maxUnavailable": 1}, {"maxUnavailable": 1, "maxSurge": 0}]
)
def test_replica_recreate_refuses_strategies_of_components(level: str, strategy: Any) -> None:
    subject = at(level, strategy)
    subject.spec["updateStrategy"] = {"type": "ReplicaRecreate"}
    [problem] = validate.check(subject).problems
    assert problem.path == {"clique": CLIQUE, "group": GROUP}[level]
    assert "not allowed with type ReplicaRecreate" in problem.message


@pytest.mark.parametrize("level", ["clique", "group"])
@pytest.mark.parametrize("strategy", [{}, None, {"maxSurge": None}])
def test_an_empty_strategy_counts_as_absent(level: str, strategy: Any) -> None:
    subject = at(level, strategy)
    subject.spec["updateStrategy"] = {"type": "ReplicaRecreate"}
    assert sets.problems(subject) == []


@pytest.mark.parametrize("kind", ["RollingUpdate", "RollingRecreate", "OnDelete", None])
@pytest.mark.parametrize(
    ("values", "refused"),
    [
        ({"maxUnavailable": 2}, ["maxUnavailable"]),
        ({"maxSurge": 1}, ["maxSurge"]),
        ({"maxUnavailable": 0, "maxSurge": 1}, ["maxUnavailable", "maxSurge"]),
        ({"maxUnavailable": "100%"}, ["maxUnavailable"]),
        ({"maxUnavailable": 1, "maxSurge": "0%"}, ["maxSurge"]),
    ],
)
def test_only_replica_recreate_has_limits_for_the_whole_set(
    kind: str | None, values: dict[str, Any], refused: list[str]
) -> None:
    strategy = {"rollingUpdate": values} if kind is None else {"type": kind, "rollingUpdate": values}
    assert sets.paths(sets.item(strategy=strategy)) == [f"{PCS}.{field}" for field in refused]


@pytest.mark.parametrize(
    "values", [{"maxUnavailable": 1, "maxSurge": 0}, {"maxUnavailable": 1}, {"maxSurge": 0}]
)
def test_the_exact_defaults_pass_with_a_warning(values: dict[str, Any]) -> None:
    subject = sets.item(strategy={"type": "RollingUpdate", "rollingUpdate": values})
    assert sets.problems(subject) == []
    assert sets.warnings(subject) == [f"{PCS}: has no effect with type RollingUpdate; leave it out"]


def test_an_empty_block_is_no_strategy() -> None:
    subject = sets.item(strategy={"type": "RollingUpdate", "rollingUpdate": {}})
    assert (sets.problems(subject), sets.warnings(subject)) == ([], [])


def test_a_clique_in_a_group_has_no_strategy_of_its_own() -> None:
    subject = sets.item(
        sets.clique("worker", updateStrategy={"maxSurge": 1}), groups=(sets.group("sg", "worker"),)
    )
    [problem] = validate.check(subject).problems
    assert problem.path == CLIQUE
    assert 'is in scaling group "sg"' in problem.message


def test_a_clique_in_a_group_may_have_an_empty_one() -> None:
    assert (
        sets.problems(sets.item(sets.clique("w", updateStrategy={}), groups=(sets.group("sg", "w"),))) == []
    )


@pytest.mark.parametrize(
    ("strategy", "place"),
    [
        ({"type": "Sometimes"}, "type"),
        ({"type": 3}, "type"),
        ({"paused": "yes"}, "paused"),
        ({"partition": -1}, "partition"),
        ({"partition": "1"}, "partition"),
        ({"progressDeadlineSeconds": 0}, "progressDeadlineSeconds"),
        ({"progressDeadlineSeconds": 60, "onDeadline": "panic"}, "onDeadline"),
        ({"maxSurge": 1}, "maxSurge"),
        ({"type": "ReplicaRecreate", "rollingUpdate": {"surge": 1}}, "rollingUpdate.surge"),
        ({"type": "ReplicaRecreate", "rollingUpdate": 1}, "rollingUpdate"),
    ],
)
def test_a_wrong_word_in_a_strategy_is_refused(strategy: dict[str, Any], place: str) -> None:
    assert sets.paths(sets.item(strategy=strategy)) == [f"spec.updateStrategy.{place}"]


def test_strategies_that_delete_nothing_are_warned_of_limits() -> None:
    subject = sets.item(
        sets.clique("a", replicas=3, updateStrategy={"maxSurge": 1}), strategy={"type": "OnDelete"}
    )
    assert sets.problems(subject) == []
    assert sets.warnings(subject) == [f"{CLIQUE}: has no effect with type OnDelete"]


def test_what_to_do_at_a_deadline_needs_a_deadline() -> None:
    assert sets.warnings(sets.item(strategy={"onDeadline": "rollback"})) == [
        "spec.updateStrategy.onDeadline: has no effect without progressDeadlineSeconds"
    ]


def test_strategies_are_read_as_written_and_defaults_are_answered_not_stored() -> None:
    pcs = sets.read(
        sets.clique("a", replicas=4, updateStrategy={"maxUnavailable": "25%", "maxSurge": 1}),
        strategy={
            "type": "RollingRecreate",
            "paused": True,
            "partition": 2,
            "progressDeadlineSeconds": 600,
            "onDeadline": "rollback",
        },
    )
    assert pcs.update_strategy == model.UpdateStrategy(
        type="RollingUpdate", paused=True, partition=2, progress_deadline_seconds=600, on_deadline="rollback"
    )
    said = pcs.template.clique("a").update_strategy
    assert said == model.ComponentStrategy(Quantity(25, is_percentage=True), model.Surge(1))
    unsaid = pcs.update_strategy.budget
    assert (unsaid.max_unavailable, unsaid.max_surge) == (None, None)
    assert (unsaid.unavailable, unsaid.surge) == (Quantity(1), Quantity(0))
