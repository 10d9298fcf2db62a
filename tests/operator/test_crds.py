"""The CustomResourceDefinitions: structural, complete, and content with everything that people have written."""

from collections.abc import Iterator
from typing import Any

import pytest
import written_kinds as written

from headgate.graph.compile import openapi
from headgate.kernel import documents as reading
from headgate.kernel.problems import Problem
from headgate.operator import crds
from headgate.operator.crds import structural
from headgate.operator.crds.kinds import CustomKind
from headgate.workload import model
from headgate.workload.plan import conditions

KINDS = {kind.kind: kind for kind in crds.ALL}


def problems_of(document: dict[str, Any]) -> list[Problem]:
    problems: list[Problem] = []
    openapi.accept(document["spec"], KINDS[document["kind"]].spec, "spec", problems)
    return problems


def nodes(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from nodes(schema[key], f"{path}[]")


@pytest.mark.parametrize("file", written.files(), ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_what_people_have_written_fits(file: Any) -> None:
    for document in written.documents(file):
        assert problems_of(document) == []


def test_there_are_documents_of_sets_and_of_definitions_to_look_at() -> None:
    found = {document["kind"] for file in written.files() for document in written.documents(file)}
    assert {model.KIND, "ResourceGraphDefinition"} <= found


@pytest.mark.parametrize("kind", crds.ALL, ids=lambda kind: kind.kind)
def test_a_schema_is_structural(kind: CustomKind) -> None:
    for path, schema in nodes(kind.schema(), kind.kind):
        is_open = schema.get("x-kubernetes-preserve-unknown-fields") or schema.get(
            "x-kubernetes-int-or-string"
        )
        assert "type" in schema or is_open, path
        if schema.get("type") == "array":
            assert "items" in schema, path
        assert not ("properties" in schema and "additionalProperties" in schema), path


@pytest.mark.parametrize("kind", crds.ALL, ids=lambda kind: kind.kind)
def test_every_field_is_explained(kind: CustomKind) -> None:
    def check(schema: dict[str, Any], path: str) -> None:
        for name, child in schema.get("properties", {}).items():
            assert child.get("description", "").endswith("."), f"{path}.{name}"
            check(child.get("items", child), f"{path}.{name}")

    check(kind.spec, "spec")
    for name, schema in kind.schema()["properties"]["status"]["properties"].items():
        assert schema["description"].endswith("."), name


@pytest.mark.parametrize("kind", crds.ALL, ids=lambda kind: kind.kind)
def test_nothing_of_a_spec_or_a_status_is_dropped_before_admission_sees_it(kind: CustomKind) -> None:
    for path, schema in nodes(kind.spec, "spec"):
        if schema.get("type") == "object" and "additionalProperties" not in schema:
            assert schema.get("x-kubernetes-preserve-unknown-fields") is True, path
    assert kind.schema()["properties"]["status"]["x-kubernetes-preserve-unknown-fields"] is True


def test_a_schema_has_the_fields_of_the_model_and_no_others() -> None:
    schema = structural.of(model.Spec)
    assert set(schema["properties"]) == set(reading.fields_of(model.Spec))
    template = schema["properties"]["template"]["properties"]
    assert set(template) == set(reading.fields_of(model.Template))
    assert set(template["cliques"]["items"]["properties"]) == set(reading.fields_of(model.Clique))


def test_values_with_a_notation_of_their_own_bounds_and_other_spellings_are_in_the_schema() -> None:
    strategy = structural.of(model.UpdateStrategy)["properties"]
    surge = strategy["rollingUpdate"]["properties"]["maxSurge"]
    assert (surge["x-kubernetes-int-or-string"], surge["nullable"], "type" in surge) == (True, True, False)
    assert strategy["type"]["enum"] == [
        "RollingUpdate",
        "ReplicaRecreate",
        "OnDelete",
        "RollingRecreate",
    ]
    assert strategy["partition"]["minimum"] == 0
    assert structural.of(model.Template)["properties"]["terminationDelay"]["type"] == "string"


def test_a_wrong_type_is_refused_and_a_null_is_an_absent_field() -> None:
    [document] = [
        each for file in written.files() if file.stem == "simple1" for each in written.documents(file)
    ] or [{"kind": model.KIND, "spec": {"template": {}}}]
    document["spec"] |= {"replicas": None, "updateStrategy": None}
    assert problems_of(document) == []
    document["spec"] |= {"replicas": "three"}
    assert [problem.path for problem in problems_of(document)] == ["spec.replicas"]


def test_sets_cliques_and_groups_can_be_scaled() -> None:
    scaled = {
        document["spec"]["names"]["shortNames"][0]: version["subresources"]["scale"]
        for document in crds.documents()
        for version in document["spec"]["versions"]
        if "scale" in version["subresources"]
    }
    assert set(scaled) == {"pcs", "pcsg", "pclq"}
    for scale in scaled.values():
        assert scale["specReplicasPath"] == ".spec.replicas"
        assert scale["statusReplicasPath"] == ".status.replicas"


def test_a_list_of_sets_shows_how_far_they_are_and_why_they_wait() -> None:
    [version] = KINDS[model.KIND].document()["spec"]["versions"]
    columns = {column["name"]: column["jsonPath"] for column in version["additionalPrinterColumns"]}
    assert list(columns) == ["Desired", "Updated", "Available", "Reason", "Message", "Age"]
    assert conditions.PROGRESSING in columns["Reason"]
