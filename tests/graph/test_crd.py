"""The generated CustomResourceDefinition."""

from typing import Any

import pytest

from headgate.graph.compile import names

from .written import compiled, config_map


def version(text: str) -> dict[str, Any]:
    (only,) = compiled(text).crd["spec"]["versions"]
    found: dict[str, Any] = only
    return found


def status_of(text: str) -> dict[str, Any]:
    resources = (
        "resources: [{id: deployment, template: {apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}}, "
        "{id: job, template: {apiVersion: batch/v1, kind: Job, metadata: {name: j}}}, "
        f"{{id: maps, forEach: [{{x: '${{schema.spec.zones}}'}}], template: {config_map('${x}')}}}]\n"
    )
    schema = f"schema: {{spec: {{zones: '[]string', level: integer}}, status: {text}}}\n"
    found: dict[str, Any] = version(schema + resources)["schema"]["openAPIV3Schema"]["properties"]["status"]
    return {
        key: value
        for key, value in found["properties"].items()
        if key not in ("state", "conditions", "headgate")
    }


def test_names_scope_and_labels_come_from_the_definition() -> None:
    crd = compiled(
        "schema: {kind: WebPolicy, group: example.com, scope: Cluster, shortNames: [wp], categories: [all], "
        "metadata: {labels: {team: web}, annotations: {note: x}}}"
    ).crd
    assert crd["metadata"] == {
        "name": "webpolicies.example.com",
        "labels": {"team": "web", "kro.run/owned": "true", "kro.run/resource-graph-definition-name": "app"},
        "annotations": {"note": "x"},
    }
    assert crd["spec"]["scope"] == "Cluster"
    assert crd["spec"]["names"] == {
        "kind": "WebPolicy",
        "listKind": "WebPolicyList",
        "plural": "webpolicies",
        "singular": "webpolicy",
        "shortNames": ["wp"],
        "categories": ["all"],
    }


def test_columns_are_state_ready_and_age_unless_the_author_gives_others() -> None:
    assert [column["name"] for column in version("")["additionalPrinterColumns"]] == ["State", "Ready", "Age"]
    own = version("schema: {additionalPrinterColumns: [{name: Image, type: string, jsonPath: .spec.image}]}")
    assert own["additionalPrinterColumns"] == [{"name": "Image", "type": "string", "jsonPath": ".spec.image"}]


def test_the_spec_is_the_simple_schema_and_the_status_keeps_what_planners_write() -> None:
    properties = version("schema: {spec: {a: 'integer | default=1'}}")["schema"]["openAPIV3Schema"][
        "properties"
    ]
    assert properties["spec"] == {
        "type": "object",
        "properties": {"a": {"type": "integer", "default": 1}},
        "default": {},
    }
    assert set(properties["status"]["properties"]) == {"state", "conditions", "headgate"}


ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("${deployment.status.availableReplicas}", {"type": "integer"}),
        ("${deployment.metadata.name}", {"type": "string"}),
        ("v${deployment.metadata.name}", {"type": "string"}),
        ("${deployment.status.availableReplicas > 1}", {"type": "boolean"}),
        ("${deployment.ready()}", {"type": "boolean"}),
        ("${job.status.completionTime}", {"type": "string", "format": "date-time"}),
        ("${maps.size()}", {"type": "integer"}),
        ("${maps.map(m, m.metadata.name)}", {"type": "array", "items": {"type": "string"}}),
        ("${schema.spec.level * 2}", {"type": "integer"}),
        ("${schema.spec.level * 0.5}", {"type": "number"}),
        ("${deployment.metadata.labels}", {"type": "object", "additionalProperties": {"type": "string"}}),
        ("${deployment.metadata.?labels.x.orValue('')}", {"type": "string"}),
        ("${json.unmarshal(deployment.metadata.name)}", ANYTHING),
    ],
)
def test_the_type_of_a_status_field_is_that_of_its_expression(expression: str, expected: Any) -> None:
    assert status_of(f'{{field: "{expression}"}}') == {"field": expected}


def test_status_fields_may_be_nested_and_in_lists() -> None:
    text = (
        "{a: {b: '${deployment.metadata.name}'}, l: ['${deployment.spec.replicas}', '${schema.spec.level}']}"
    )
    assert status_of(text) == {
        "a": {"type": "object", "properties": {"b": {"type": "string"}}},
        "l": {"type": "array", "items": {"type": "integer"}},
    }


def test_a_list_of_objects_of_a_kind_keeps_its_fields() -> None:
    found = status_of("{field: '${deployment.status.conditions}'}")["field"]
    assert found["type"] == "array"
    assert found["items"]["properties"]["lastTransitionTime"] == {"type": "string", "format": "date-time"}


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Application", "applications"),
        ("WebApp", "webapps"),
        ("Policy", "policies"),
        ("Gateway", "gateways"),
        ("Ingress", "ingresses"),
        ("Box", "boxes"),
        ("Branch", "branches"),
        ("CoreDNSDeployment", "corednsdeployments"),
        ("Status", "statuses"),
        ("Index", "indices"),
        ("NetworkStatus", "networkstatuses"),
        ("Person", "people"),
        ("Fish", "fish"),
        ("Database", "databases"),
        ("Cache", "caches"),
    ],
)
def test_the_plural_of_a_kind_is_english(kind: str, plural: str) -> None:
    assert names.plural_of(kind) == plural


def test_instances_have_names_that_fit_into_the_labels_of_their_objects() -> None:
    metadata = version("")["schema"]["openAPIV3Schema"]["properties"]["metadata"]
    assert metadata["properties"]["name"]["maxLength"] == 63
