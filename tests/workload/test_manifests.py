"""Manifests written for the API elsewhere, and those of the source document, are accepted as they are."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from headgate.workload import model
from headgate.workload.checks import validate
from headgate.workload.expand import expansion as expand
from headgate.workload.expand import manifests, revisions

from .world import World

SHARED = Path(__file__).parents[3] / "shared"
MANIFESTS = SHARED / "data" / "manifests" / "grove"
DOCUMENT = SHARED / "seeds" / "update-strategy.txt"


def shared_manifests() -> list[Path]:
    return sorted(MANIFESTS.glob("*.yaml")) or [MANIFESTS / "absent.yaml"]


def load(path: Path) -> dict[str, Any]:
    if not path.exists():
        pytest.skip("the shared manifests are not here")
    [document] = [item for item in yaml.safe_load_all(path.read_text("utf-8")) if item]
    return dict(document)


@pytest.mark.parametrize("path", shared_manifests(), ids=lambda path: path.stem)
def test_a_manifest_of_the_api_is_accepted_unchanged(path: Path) -> None:
    checked = validate.check(manifests.read(load(path)))
    assert (checked.problems, checked.warnings) == ((), ())
    assert validate.check(manifests.read(load(path)), checked.object).problems == ()


@pytest.mark.parametrize("path", shared_manifests(), ids=lambda path: path.stem)
def test_every_clique_of_an_accepted_manifest_has_a_place_in_a_gang(path: Path) -> None:
    world = World(load(path))
    pcs = model.read(world.set)
    revision = revisions.of(pcs, ())
    world.settle()
    groups = [group for gang in world.gangs().values() for group in gang]
    standalone = [
        expand.standalone_clique(pcs, revision, 0, clique).name for clique in pcs.template.standalone_cliques
    ]
    count = len(pcs.template.standalone_cliques) + sum(
        group.replicas * len(group.clique_names) for group in pcs.template.scaling_groups
    )
    assert set(standalone) <= set(groups)
    assert len(set(groups)) == len(groups) == count


def use_cases() -> list[Any]:
    """The four manifests of the document, which are all its fenced blocks that begin with a spec."""
    if not DOCUMENT.exists():
        pytest.skip("the source document is not here")
    blocks = re.findall(r"```yaml\n(spec:\n.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    return [yaml.safe_load(block)["spec"] for block in blocks]


def completed(spec: dict[str, Any]) -> dict[str, Any]:
    """The document leaves out names and the cliques of its groups; nothing that it says is changed."""
    template = spec["template"]
    for group in template.get("podCliqueScalingGroups", ()):
        group["cliqueNames"] = [f"{group['name']}-worker"]
        template.setdefault("cliques", []).append({"name": f"{group['name']}-worker", "replicas": 2})
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "llm"},
        "spec": spec,
    }


@pytest.mark.parametrize("number", range(4))
def test_a_use_case_of_the_document_is_accepted_and_told_what_has_no_effect(number: int) -> None:
    spec = use_cases()[number]
    checked = validate.check(manifests.read(completed(spec)))
    assert checked.problems == ()
    is_rolling = spec["updateStrategy"]["type"] == "RollingUpdate"
    assert checked.warnings == (
        ("spec.updateStrategy.rollingUpdate: has no effect with type RollingUpdate; leave it out",)
        if is_rolling
        else ()
    )


def test_the_document_has_four_use_cases() -> None:
    assert len(use_cases()) == 4


def test_the_shorthand_of_the_document_gives_the_replicas() -> None:
    pcs = model.read(manifests.read(completed(use_cases()[0])))
    assert {clique.name: (clique.replicas, clique.min_available) for clique in pcs.template.cliques} == {
        "frontend": (2, 2),
        "agg-worker": (3, 3),
    }
