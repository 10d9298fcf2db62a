"""SimpleSchema: types, markers, custom types and defaults."""

from typing import Any

import pytest

from headgate.graph.compile import markers, schema
from headgate.kernel.problems import Problem, Rejected


def openapi(fields: dict[str, Any], types: dict[str, Any] | None = None) -> dict[str, Any]:
    problems: list[Problem] = []
    found = schema.openapi_into(problems, fields, types)
    if problems:
        raise Rejected(problems)
    return found


def field(text: Any, types: dict[str, Any] | None = None) -> dict[str, Any]:
    properties: dict[str, Any] = openapi({"field": text}, types)["properties"]
    found: dict[str, Any] = properties["field"]
    return found


def refusal(text: Any, types: dict[str, Any] | None = None) -> str:
    with pytest.raises(Rejected) as caught:
        openapi({"field": text}, types)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("string", {"type": "string"}),
        ("integer", {"type": "integer"}),
        ("boolean", {"type": "boolean"}),
        ("float", {"type": "number"}),
        ("object", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
        ("[]string", {"type": "array", "items": {"type": "string"}}),
        ("[][]integer", {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}),
        ("map[string]float", {"type": "object", "additionalProperties": {"type": "number"}}),
        (
            "map[string][]string",
            {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
        ),
        (
            "[]map[string]boolean",
            {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "boolean"}}},
        ),
        ("  string  ", {"type": "string"}),
        ({"a": "string"}, {"type": "object", "properties": {"a": {"type": "string"}}}),
        ({}, {"type": "object", "properties": {}}),
    ],
)
def test_a_type_becomes_its_openapi_schema(text: Any, expected: dict[str, Any]) -> None:
    assert field(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("string | default=plain", {"default": "plain"}),
        ('string | default="two words"', {"default": "two words"}),
        (r'string | default="say \"hi\" \\ bye"', {"default": 'say "hi" \\ bye'}),
        ('string | default=""', {"default": ""}),
        ("string | default=a|b", {"default": "a|b"}),
        ("string | default={}", {"default": "{}"}),
        ("integer | default=-3", {"default": -3}),
        ("float | default=0.5", {"default": 0.5}),
        ("boolean | default=false", {"default": False}),
        ('[]string | default=["a", "b c"]', {"default": ["a", "b c"]}),
        ('map[string]string | default={"k 1": "v", "q": "\\"x\\""}', {"default": {"k 1": "v", "q": '"x"'}}),
        ('object | default={"a": [1, {"b": null}]}', {"default": {"a": [1, {"b": None}]}}),
        ('string | description="what it is"', {"description": "what it is"}),
        ("integer | minimum=0 maximum=10", {"minimum": 0, "maximum": 10}),
        ("float | minimum=0.5", {"minimum": 0.5}),
        ('string | enum="a, b,c"', {"enum": ["a", "b", "c"]}),
        ("integer | enum=1,2", {"enum": [1, 2]}),
        ("string | minLength=1 maxLength=63", {"minLength": 1, "maxLength": 63}),
        ('string | pattern="^[a-z]+( [a-z]+)?$"', {"pattern": "^[a-z]+( [a-z]+)?$"}),
        ("[]string | minItems=1 maxItems=3", {"minItems": 1, "maxItems": 3}),
        ("[]string | uniqueItems=true", {"x-kubernetes-list-type": "set"}),
        ("[]string | uniqueItems=false", {}),
        ("[]string | listType=atomic", {"x-kubernetes-list-type": "atomic"}),
        (
            "[]object | listType=map listMapKey=name",
            {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        ),
        (
            "string | immutable=true",
            {"x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "field is immutable"}]},
        ),
        ("string | immutable=false", {}),
        (
            'integer | validation="self % 2 == 0"',
            {"x-kubernetes-validations": [{"rule": "self % 2 == 0", "message": "validation failed"}]},
        ),
    ],
)
def test_a_marker_becomes_a_part_of_the_schema(text: str, expected: dict[str, Any]) -> None:
    found = field(text)
    shape = {key: found[key] for key in found if key not in ("type", "items", "additionalProperties")}
    shape.pop("x-kubernetes-preserve-unknown-fields", None)
    assert shape == expected


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("sting", "unknown type 'sting'; allowed are string, integer, boolean, float, object"),
        ("", "has no type"),
        (["a", "b"], "not a list"),
        (7, "not the number 7"),
        (None, "not null"),
        ("map[integer]string", "the keys of a map are of type string, not 'integer'"),
        ("map[string", "a bracket that is not closed"),
        ("[]" * 17 + "string", "more than 16 levels deep"),
        ("string | required", "has no value"),
        ("string | =3", "no name before '='"),
        ("string | requird=true", "unknown marker 'requird'"),
        ("string | default=a | description=b", "unknown marker '| description'"),
        ('string | default="a', "a quote that is not closed"),
        ("object | default={", "a bracket that is not closed"),
        ("object | default=}", "a bracket that was never opened"),
        ("string | required=yes", "required is 'yes'; allowed are true and false"),
        ("boolean | default=T", "default is 'T'; allowed are true and false"),
        ("integer | default=1.5", "allowed is a whole number"),
        ("float | default=nan", "allowed is a finite number"),
        ("[]string | default={}", "allowed is a JSON list"),
        ("[]string | default=a", "is not JSON for the type array"),
        ("integer | default=11 maximum=10", "must be at most 10, not 11"),
        ('string | default="c" enum="a,b"', "allowed are a, b"),
        ("string | minimum=1", "minimum is for integer and float only, not for string"),
        ("integer | minimum=9 maximum=1", "minimum 9 is more than maximum 1"),
        ("integer | minimum=low", "allowed is a number"),
        ('string | enum="a,,b"', "must not be empty"),
        ("boolean | enum=true", "enum is for string and integer only"),
        ("integer | enum=1,b", "allowed is a whole number"),
        ("integer | pattern=a", "pattern is for string only"),
        ('string | pattern="("', "missing )"),
        ('string | pattern=""', "pattern is empty"),
        ("integer | minLength=1", "minLength is for string only"),
        ("string | minLength=-1", "allowed is 0 or more"),
        ("string | minItems=1", "minItems is for array only"),
        ("string | uniqueItems=true", "uniqueItems is for array only"),
        ("[]string | listType=bag", "allowed are atomic, set and map"),
        ("[]object | listMapKey=name", "needs listType=map beside it"),
        ("[]object | listType=map", "needs listMapKey beside it"),
        ('string | validation=""', "validation is empty"),
        ('string | validation="self +"', "not a condition over self"),
        ('string | validation="other == 1"', "undeclared reference to 'other'"),
        ('string | validation="1"', "bool is needed here"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_allowed(text: Any, part: str) -> None:
    assert part in refusal(text)
    assert refusal(text).startswith("spec.field: ")


def test_required_fields_are_listed_in_order_of_name() -> None:
    found = openapi({"b": "string | required=true", "a": "string | required=true", "c": "string"})
    assert found["required"] == ["a", "b"]
    assert "default" not in found


def test_an_object_with_defaults_and_nothing_required_is_there_by_default() -> None:
    found = openapi({"outer": {"inner": {"a": "string | default=x"}}})
    assert found["default"] == {}
    assert found["properties"]["outer"]["default"] == {}
    assert found["properties"]["outer"]["properties"]["inner"]["default"] == {}


def test_an_object_with_a_required_field_is_not_there_by_default() -> None:
    found = field({"a": "string | default=x", "b": "string | required=true"})
    assert "default" not in found


def test_an_object_without_defaults_inside_is_not_there_by_default() -> None:
    assert "default" not in field({"a": "string"})


def test_a_custom_type_is_an_alias_or_a_structure_and_may_use_others() -> None:
    types = {
        "Server": {"port": "Port", "name": "Name"},
        "Port": "integer | default=8080 minimum=1",
        "Name": "string | required=true",
    }
    assert field("[]Server", types)["items"] == {
        "type": "object",
        "properties": {
            "port": {"type": "integer", "default": 8080, "minimum": 1},
            "name": {"type": "string"},
        },
        "required": ["name"],
    }
    assert field("map[string]Port", types)["additionalProperties"]["default"] == 8080


def test_a_field_takes_whether_it_is_required_from_its_custom_type_and_may_say_otherwise() -> None:
    types = {"Name": "string | required=true"}
    found = openapi({"a": "Name", "b": "Name | required=false"}, types)
    assert found["required"] == ["a"]


def test_markers_of_a_field_come_after_those_of_its_custom_type_and_leave_the_type_alone() -> None:
    types = {"Port": "integer | default=8080"}
    found = openapi({"a": "Port | default=9", "b": "Port"}, types)["properties"]
    assert (found["a"]["default"], found["b"]["default"]) == (9, 8080)


def test_custom_types_that_contain_themselves_are_refused_with_the_ring() -> None:
    types = {"A": {"b": "B"}, "B": "[]C", "C": {"a": "A"}}
    assert "contains itself: A -> B -> C -> A" in refusal("A", types)


def test_a_custom_type_cannot_take_the_name_of_a_type() -> None:
    assert "cannot name a custom type" in refusal("string", {"integer": "string"})


def test_every_problem_of_fields_and_types_is_told_at_once() -> None:
    with pytest.raises(Rejected) as caught:
        openapi({"a": "sting", "b": {"c": "integer | minimum=x"}}, {"T": "strong"})
    assert [problem.path for problem in caught.value.problems] == ["spec.a", "spec.b.c", "types.T"]


def test_markers_keep_their_order_and_their_values() -> None:
    found = markers.parse(' required=true  default="a b"\tenum="a b,c" ')
    assert [(marker.name, marker.value) for marker in found] == [
        ("required", "true"),
        ("default", "a b"),
        ("enum", "a b,c"),
    ]
