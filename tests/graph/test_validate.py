"""Checking documents of the graph level together."""

from typing import Any

from headgate.graph.compile import validate

from .written import config_map, document

INSTANCE = {"apiVersion": "kro.run/v1alpha1", "kind": "App", "metadata": {"name": "one"}}


def lines(*documents: Any) -> list[str]:
    return [str(problem) for problem in validate.check(documents)]


def test_documents_that_are_right_have_no_problems() -> None:
    definition = document("schema: {spec: {a: integer}}")
    assert lines(definition, {**INSTANCE, "spec": {"a": 1}}) == []


def test_documents_of_other_levels_are_not_looked_at() -> None:
    assert lines({"kind": "Policy"}, {"apiVersion": "v1", "kind": "ConfigMap"}, ["x"]) == []


def test_a_problem_names_the_document_it_is_in() -> None:
    definition = document(f"resources: [{{id: A, template: {config_map('a')}}}]")
    (line,) = lines(definition)
    assert line.startswith("ResourceGraphDefinition app: spec.resources[0].id: 'A' is not a valid id")


def test_instances_are_checked_by_the_definition_beside_them() -> None:
    definition = document("schema: {spec: {a: integer}}")
    assert lines({**INSTANCE, "spec": {"a": "x"}}, definition) == [
        'App one: spec.a: must be an integer, not "x"'
    ]


def test_two_definitions_of_one_kind_are_a_problem() -> None:
    assert lines(document(""), document("", name="other")) == [
        "ResourceGraphDefinition other: defines App of kro.run/v1alpha1, as app does already"
    ]


def test_another_version_of_the_api_is_refused() -> None:
    (line,) = lines({**document(""), "apiVersion": "kro.run/v9"})
    assert line.endswith("apiVersion: is 'kro.run/v9'; allowed is kro.run/v1alpha1")


def test_a_definition_without_a_spec_is_refused() -> None:
    (line,) = lines({"apiVersion": "kro.run/v1alpha1", "kind": "ResourceGraphDefinition", "metadata": None})
    assert line == "ResourceGraphDefinition: spec: is required and must be a map"


def test_definitions_that_make_instances_of_each_other_in_a_ring_are_a_problem() -> None:
    made = "{apiVersion: kro.run/v1alpha1, kind: %s, metadata: {name: a}}"
    app = document(f"resources: [{{id: one, template: {made % 'Part'}}}]")
    part = document(
        f"schema: {{kind: Part}}\nresources: [{{id: one, template: {made % 'App'}}}]", name="part"
    )
    assert lines(app) == []
    assert lines(app, part) == [
        "ResourceGraphDefinition app: spec.resources[0].template.kind: is Part; App makes Part makes App, "
        "which would never end",
        "ResourceGraphDefinition part: spec.resources[0].template.kind: is App; Part makes App makes Part, "
        "which would never end",
    ]
