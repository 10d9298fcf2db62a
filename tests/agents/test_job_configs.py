"""The config of a job: layers merged, expressions computed, and every problem named by its path."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from headgate.fleet.model import agent_configs
from headgate.kernel.problems import Rejected

BINDINGS = {
    "version": {"tag": "v2", "config": {"image": {"name": "shop", "ports": [80, 443]}}},
    "resource": {"name": "node-1", "createdAt": datetime(2026, 3, 1, tzinfo=UTC)},
    "environment": {"name": "prod"},
    "deployment": {"name": "api"},
    "variables": {"replicas": 3, "ratio": 0.5, "debug": True},
    "job": {"id": "job-1"},
}


@pytest.mark.parametrize(
    ("layers", "merged"),
    [
        ([], {}),
        ([{"a": 1}, {"b": 2}], {"a": 1, "b": 2}),
        ([{"a": 1}, {"a": 2}], {"a": 2}),
        ([{"a": {"x": 1, "y": 1}}, {"a": {"y": 2}}], {"a": {"x": 1, "y": 2}}),
        ([{"a": [1, 2]}, {"a": [3]}], {"a": [3]}),
        ([{"a": {"x": 1}}, {"a": 2}, {"a": {"y": 3}}], {"a": {"y": 3}}),
        ([{"a": 1, "b": {"x": 1, "y": 2}}, {"a": None, "b": {"x": None}}], {"b": {"y": 2}}),
        ([{"a": None}], {}),
    ],
)
def test_later_layers_win_key_by_key(layers: list[dict[str, Any]], merged: dict[str, Any]) -> None:
    assert agent_configs.merge(*layers) == merged


def test_merging_changes_none_of_the_layers() -> None:
    lower, upper = {"a": {"x": 1}}, {"a": {"y": 2}}
    agent_configs.merge(lower, upper)
    assert (lower, upper) == ({"a": {"x": 1}}, {"a": {"y": 2}})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("${version.tag}", "v2"),
        ("shop:${version.tag}", "shop:v2"),
        ("${variables.replicas}", 3),
        ("${variables.ratio}", 0.5),
        ("${variables.debug}", True),
        ("n=${variables.replicas} r=${variables.ratio} d=${variables.debug}", "n=3 r=0.5 d=true"),
        ("${version.config.image}", {"name": "shop", "ports": [80, 443]}),
        ("${version.config.image.ports[1]}", 443),
        ("${resource.createdAt}", "2026-03-01T00:00:00Z"),
        ("${resource.name == 'node-1' ? 'yes' : 'no'}", "yes"),
        ("echo $HOME ${'${HOME}'}", "echo $HOME ${HOME}"),
        ("${never closed", "${never closed"),
    ],
)
def test_expressions_are_computed_and_one_alone_keeps_its_type(text: str, value: object) -> None:
    assert agent_configs.resolve("pull", {"a": [{"b": text}]}, BINDINGS) == {"a": [{"b": value}]}


def test_an_optional_value_that_is_not_there_leaves_its_key_out() -> None:
    config = {"zone": "${resource.?zone}", "kept": 1}
    assert agent_configs.resolve("pull", config, BINDINGS) == {"kept": 1}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("${resource.zone}", "${resource.zone}: "),
        ("${}", "${}: "),
        ("${1 +}", "${1 +}: "),
        ("${nothing.here}", "${nothing.here}: "),
        ("${a(${b})}", "an expression holds another ${"),
        ("x ${version.config.image}", "gives a map; in a text a string, a number or a bool is needed"),
        ("x ${null}", "gives null; in a text"),
        ("x ${resource.?zone}", "gives nothing; in a text"),
    ],
)
def test_a_problem_names_the_path(text: str, problem: str) -> None:
    with pytest.raises(Rejected) as caught:
        agent_configs.resolve("pull", {"env": {"ZONE": text}}, BINDINGS)
    assert all(each.path == "config.env.ZONE" for each in caught.value.problems)
    assert problem in caught.value.problems[0].message


def test_all_problems_are_named_at_once() -> None:
    with pytest.raises(Rejected) as caught:
        agent_configs.resolve("pull", {"a": "${x}", "b": ["${y}"]}, BINDINGS)
    assert [each.path for each in caught.value.problems] == ["config.a", "config.b[0]"]
