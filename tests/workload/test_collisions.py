"""Two sets whose children would have the same names."""

from typing import Any

import msgspec
import pytest

from headgate.kernel.identifiers import NamedIds
from headgate.workload.checks import validate
from headgate.workload.expand import manifests
from headgate.workload.plan import planner as plan

from .world import START

ONE_CLIQUE = {"cliques": [{"name": "w", "spec": {"replicas": 1}}]}
WITH_GROUP = {**ONE_CLIQUE, "podCliqueScalingGroups": [{"name": "g", "cliqueNames": ["w"]}]}


def document(name: str, template: dict[str, Any], namespace: str = "default") -> dict[str, Any]:
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 1, "template": template},
    }


@pytest.mark.parametrize(
    ("name", "template", "namespace", "is_refused"),
    [
        ("llm-0-g", ONE_CLIQUE, "default", True),
        ("llm-7-g", ONE_CLIQUE, "default", True),
        ("llm-0-g", ONE_CLIQUE, "elsewhere", False),
        ("llm-0-h", ONE_CLIQUE, "default", False),
        ("llm-x", WITH_GROUP, "default", False),
    ],
)
def test_the_second_set_is_refused_if_any_size_of_both_could_meet(
    name: str, template: dict[str, Any], namespace: str, is_refused: bool
) -> None:
    first = manifests.read(document("llm", WITH_GROUP))
    second = validate.check(manifests.read(document(name, template, namespace)), others=[first])
    assert bool(second.problems) is is_refused


def test_one_that_got_past_the_webhook_builds_nothing_and_says_why() -> None:
    older = msgspec.structs.replace(manifests.read(document("llm", WITH_GROUP)), uid="a", created_at=START)
    younger = msgspec.structs.replace(
        manifests.read(document("llm-0-g", ONE_CLIQUE)), uid="b", created_at=START + 1
    )
    found = plan.plan(younger, (), START + 2, NamedIds(), sets=(older, younger))
    assert [stuck.reason for stuck in found.stuck] == ["NameTaken"]
    assert [type(action).__name__ for action in found.actions] == ["UpdateStatus"]
    assert found.status["conditions"][0]["reason"] == "NameTaken"
    assert not plan.plan(older, (), START + 2, NamedIds(), sets=(older, younger)).stuck
