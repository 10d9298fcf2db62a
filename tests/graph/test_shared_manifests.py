"""Definitions from the field, with what must come of them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from headgate.graph.compile import validate
from headgate.graph.compile.compiler import CompiledGraph, compile_definition

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "manifests" / "kro"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the shared manifests are not here")


def folders() -> list[Path]:
    return sorted({file.parent for file in FOLDER.rglob("*.yaml")}) if FOLDER.is_dir() else []


def documents(folder: Path) -> list[dict[str, Any]]:
    """All documents of a folder that are applied; what is asserted of them stands in files of its own."""
    found: list[dict[str, Any]] = []
    for file in sorted(folder.glob("*.yaml")):
        if "assert" not in file.name and file.name != "chainsaw-test.yaml":
            found.extend(item for item in yaml.safe_load_all(file.read_text()) if item)
    return found


def compiled(folder: Path) -> CompiledGraph:
    (definition,) = [item for item in documents(folder) if validate.is_definition(item)]
    return compile_definition(validate.as_object(definition))


def unmet(expected: Any, found: Any, path: str = "") -> list[str]:
    """Where what was found lacks something expected; it may have more."""
    if isinstance(expected, dict):
        if not isinstance(found, dict):
            return [f"{path}: {found!r} is no map"]
        return [
            line
            for key, value in expected.items()
            for line in (
                unmet(value, found[key], f"{path}.{key}") if key in found else [f"{path}.{key}: missing"]
            )
        ]
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            return [f"{path}: {found!r} is not a list of {len(expected)}"]
        return [
            line
            for index, value in enumerate(expected)
            for line in unmet(value, found[index], f"{path}[{index}]")
        ]
    return [] if expected == found else [f"{path}: {found!r}, not {expected!r}"]


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_a_definition_compiles_and_its_instances_are_accepted(folder: Path) -> None:
    assert [str(problem) for problem in validate.check(documents(folder))] == []
    assert compiled(folder).nodes is not None


def asserted(pattern: str) -> list[Path]:
    return sorted(FOLDER.glob(f"cases/*/{pattern}")) if FOLDER.is_dir() else []


@pytest.mark.parametrize("file", asserted("instancecrd-assert.yaml"), ids=lambda file: file.parent.name)
def test_the_crd_is_what_it_must_be(file: Path) -> None:
    expected = yaml.safe_load(file.read_text())
    expected.pop("status", None)
    expected["metadata"].pop("generation", None)
    assert unmet(expected, compiled(file.parent).crd) == []


@pytest.mark.parametrize("file", asserted("rgd-assert.yaml"), ids=lambda file: file.parent.name)
def test_the_order_is_what_it_must_be(file: Path) -> None:
    expected = yaml.safe_load(file.read_text())["status"].get("topologicalOrder")
    found = list(compiled(file.parent).topological_order)
    assert found == (expected or found)


INSTANCES = [
    *asserted("instance-create-assert.yaml"),
    *asserted("instance-assert*.yaml"),
    *asserted("valid-instance-assert.yaml"),
]


@pytest.mark.parametrize("file", INSTANCES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_an_accepted_instance_is_what_it_must_be(file: Path) -> None:
    expected = yaml.safe_load(file.read_text())["spec"]
    graph = compiled(file.parent)
    instances = [item for item in documents(file.parent) if item["kind"] == graph.kind]
    assert any(unmet(expected, graph.schema.accept(item)["spec"]) == [] for item in instances)


def test_a_deployment_is_rendered_as_it_must_be() -> None:
    folder = FOLDER / "cases" / "check-instance-creation"
    graph = compiled(folder)
    instance = graph.schema.accept(yaml.safe_load((folder / "instance.yaml").read_text()))
    template = graph.node("deployment").template
    assert template is not None
    expected = yaml.safe_load((folder / "deployment-assert.yaml").read_text())
    assert unmet(expected, template.render({"schema": instance})) == []
