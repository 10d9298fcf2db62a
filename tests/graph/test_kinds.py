"""The schemas of built-in kinds."""

import pkgutil
from typing import Any

import pytest

from headgate.graph.compile import kinds
from headgate.kernel.object_kinds import ANYTHING, ObjectKind


def at(kind: ObjectKind, path: str) -> Any:
    schema: Any = kind.schema
    for name in path.split("."):
        schema = schema["items"] if name == "[]" else schema["properties"][name]
    return schema


def known(api_version: str, name: str) -> ObjectKind:
    found = kinds.find(api_version, name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("api_version", "name", "plural", "is_namespaced"),
    [
        ("v1", "ConfigMap", "configmaps", True),
        ("v1", "Namespace", "namespaces", False),
        ("apps/v1", "StatefulSet", "statefulsets", True),
        ("networking.k8s.io/v1", "Ingress", "ingresses", True),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", False),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", False),
    ],
)
def test_a_built_in_kind_has_a_plural_and_a_scope(
    api_version: str, name: str, plural: str, is_namespaced: bool
) -> None:
    kind = known(api_version, name)
    assert (kind.plural, kind.is_namespaced) == (plural, is_namespaced)


def test_another_kind_is_not_known() -> None:
    assert kinds.find("example.com/v1", "Deployment") is None
    assert kinds.find("v1", "Deployment") is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("spec.replicas", {"type": "integer"}),
        ("spec.template.spec.containers.[].image", {"type": "string"}),
        ("metadata.labels", {"type": "object", "additionalProperties": {"type": "string"}}),
        ("metadata.creationTimestamp", {"type": "string", "format": "date-time"}),
        ("spec.strategy.rollingUpdate.maxSurge", ANYTHING),
        ("status.conditions.[].status", {"type": "string"}),
    ],
)
def test_a_field_has_its_type(path: str, expected: object) -> None:
    assert at(known("apps/v1", "Deployment"), path) == expected


def test_a_type_that_holds_itself_can_be_walked_to_any_depth() -> None:
    kind = known("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    versions = at(kind, "spec.versions.[].schema.openAPIV3Schema")
    assert versions["properties"]["not"]["properties"]["not"]["properties"]["type"] == {"type": "string"}


def test_fields_that_python_cannot_name_are_there() -> None:
    assert "from" in at(known("networking.k8s.io/v1", "NetworkPolicy"), "spec.ingress.[]")["properties"]


def test_kinds_that_report_the_generation_they_have_seen_are_known() -> None:
    assert known("apps/v1", "Deployment").has_observed_generation
    assert not known("v1", "ConfigMap").has_observed_generation
    assert not known("batch/v1", "Job").has_observed_generation


def test_the_data_that_is_shipped_is_small() -> None:
    content = pkgutil.get_data("headgate.graph", "kinds.json")
    assert content is not None
    assert len(content) < 150_000
