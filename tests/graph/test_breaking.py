"""Changes of a definition that instances which exist may not survive."""

import pytest

from .written import compiled, only_problem, problems_of

ALLOWED = {"kro.run/allow-breaking-changes": "true"}


def schema(fields: str) -> str:
    return f"schema: {{spec: {{{fields}}}}}"


@pytest.mark.parametrize(
    ("old", "new", "path", "kind"),
    [
        ("a: string, b: string", "a: string", "b", "PROPERTY_REMOVED"),
        ("a: string", "a: integer", "a", "TYPE_CHANGED"),
        ("a: '[]string'", "a: '[]integer'", "a[]", "TYPE_CHANGED"),
        ("a: 'map[string]string'", "a: {b: string}", "a", "TYPE_CHANGED"),
        ("a: object", "a: {b: string}", "a", "TYPE_CHANGED"),
        ("a: string", "a: 'string | required=true'", "a", "REQUIRED_ADDED"),
        ("a: string", "a: string, b: 'string | required=true'", "b", "REQUIRED_ADDED"),
        (
            "a: 'string | required=true default=x'",
            "a: 'string | required=true'",
            "a",
            "REQUIRED_DEFAULT_REMOVED",
        ),
        ("a: 'string | enum=\"x,y\"'", "a: 'string | enum=\"x\"'", "a", "ENUM_RESTRICTED"),
        ("a: string", "a: 'string | enum=\"x\"'", "a", "ENUM_RESTRICTED"),
        ("a: string", "a: 'string | pattern=x'", "a", "PATTERN_ADDED"),
        ("a: 'string | pattern=x'", "a: 'string | pattern=y'", "a", "PATTERN_CHANGED"),
        ("a: integer", "a: 'integer | minimum=1'", "a", "MINIMUM_TIGHTENED"),
        ("a: 'integer | maximum=9'", "a: 'integer | maximum=8'", "a", "MAXIMUM_TIGHTENED"),
        ("a: 'string | minLength=1'", "a: 'string | minLength=2'", "a", "MIN_LENGTH_TIGHTENED"),
        ("a: '[]string'", "a: '[]string | maxItems=3'", "a", "MAX_ITEMS_TIGHTENED"),
        ("o: {i: {a: string}}", "o: {i: {b: string}}", "o.i.a", "PROPERTY_REMOVED"),
    ],
)
def test_a_breaking_change_is_refused_unless_the_annotation_allows_it(
    old: str, new: str, path: str, kind: str
) -> None:
    previous = compiled(schema(old))
    problem = only_problem(schema(new), previous=previous)
    assert problem.path == f"spec.schema.spec.{path}"
    assert f"({kind})" in problem.message
    (change,) = compiled(schema(new), previous=previous, annotations=ALLOWED).breaking_changes
    assert kind in change


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a: string", "a: string, b: string"),
        ("a: string", "a: string, b: 'string | required=true default=x'"),
        ("a: string", "a: 'string | required=true default=x'"),
        ("a: 'string | required=true'", "a: string"),
        ("a: 'string | enum=\"x\"'", "a: 'string | enum=\"x,y\"'"),
        ("a: 'string | enum=\"x\"'", "a: string"),
        ("a: 'string | pattern=x'", "a: string"),
        ("a: 'integer | minimum=2 maximum=5'", "a: 'integer | minimum=1 maximum=6'"),
        ("a: 'integer | minimum=2 maximum=5'", "a: integer"),
        ("a: 'integer | default=1'", "a: 'integer | default=2'"),
    ],
)
def test_what_every_instance_survives_is_taken(old: str, new: str) -> None:
    assert problems_of(schema(new), previous=compiled(schema(old))) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ("kind: Other", "kind"),
        ("apiVersion: v2", "apiVersion"),
        ("group: example.com", "group"),
        ("scope: Cluster", "scope"),
    ],
)
def test_names_and_scope_never_change(change: str, path: str) -> None:
    problem = only_problem(f"schema: {{{change}}}", previous=compiled(""), annotations=ALLOWED)
    assert problem.path == f"spec.schema.{path}"
    assert "it cannot be changed" in problem.message
