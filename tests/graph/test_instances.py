"""Which instances a schema accepts, what it fills in, and what it refuses."""

from typing import Any

import pytest

from headgate.graph.compile.compiler import CompiledSchema
from headgate.kernel.problems import Rejected

from .written import compiled


def schema_of(fields: str, types: str = "{}") -> CompiledSchema:
    return compiled(f"schema: {{spec: {fields}, types: {types}}}").schema


def accept(fields: str, spec: Any, **given: Any) -> dict[str, Any]:
    accepted: dict[str, Any] = schema_of(fields).accept({"metadata": {"name": "a"}, "spec": spec}, **given)[
        "spec"
    ]
    return accepted


def refusals(fields: str, spec: Any, **given: Any) -> list[str]:
    with pytest.raises(Rejected) as caught:
        accept(fields, spec, **given)
    return [str(problem) for problem in caught.value.problems]


def test_defaults_are_filled_in_at_every_depth() -> None:
    fields = "{a: 'integer | default=1', b: {c: {d: 'string | default=x'}}, l: '[]object', m: 'boolean'}"
    assert accept(fields, {}) == {"a": 1, "b": {"c": {"d": "x"}}}


def test_an_instance_without_a_spec_gets_one() -> None:
    schema = schema_of("{name: 'string | default=foobar'}")
    assert schema.accept({"metadata": {"name": "a"}})["spec"] == {"name": "foobar"}


def test_defaults_reach_into_lists_and_maps_of_custom_types() -> None:
    schema = schema_of("{l: '[]T', m: 'map[string]T'}", "{T: {a: 'integer | default=1', b: string}}")
    accepted = schema.accept({"spec": {"l": [{"b": "x"}], "m": {"k": {}}}})
    assert accepted["spec"] == {"l": [{"b": "x", "a": 1}], "m": {"k": {"a": 1}}}


def test_what_is_given_is_kept_and_the_document_is_not_touched() -> None:
    given: dict[str, Any] = {"metadata": {"name": "a"}, "spec": {"a": 2}, "status": {"x": 1}}
    accepted = schema_of("{a: 'integer | default=1', b: 'integer | default=3'}").accept(given)
    assert accepted == {"metadata": {"name": "a"}, "spec": {"a": 2, "b": 3}, "status": {"x": 1}}
    assert given["spec"] == {"a": 2}


def test_null_is_as_if_the_field_were_not_there() -> None:
    assert accept("{a: 'integer | default=1', b: string}", {"a": None, "b": None}) == {"a": 1}


def test_an_object_of_any_fields_keeps_them() -> None:
    assert accept("{o: object}", {"o": {"x": [1, {"y": None}]}}) == {"o": {"x": [1, {"y": None}]}}


def test_fields_that_are_not_known_are_refused_or_pruned() -> None:
    assert refusals("{replicas: integer}", {"replica": 1}) == [
        "spec.replica: is not a known field; did you mean 'replicas'?"
    ]
    assert accept("{replicas: integer}", {"replica": 1}, unknown="prune") == {}


@pytest.mark.parametrize(
    ("fields", "spec", "problem"),
    [
        ("{a: string}", {"a": 1}, "spec.a: must be a string, not the number 1"),
        ("{a: integer}", {"a": "1"}, 'spec.a: must be an integer, not "1"'),
        ("{a: integer}", {"a": True}, "spec.a: must be an integer, not true"),
        ("{a: integer}", {"a": 1.5}, "spec.a: must be an integer, not the number 1.5"),
        ("{a: float}", {"a": "x"}, 'spec.a: must be a number, not "x"'),
        ("{a: boolean}", {"a": "true"}, 'spec.a: must be a boolean, not "true"'),
        ("{a: '[]string'}", {"a": "x"}, 'spec.a: must be a list, not "x"'),
        ("{a: '[]string'}", {"a": ["x", 1]}, "spec.a[1]: must be a string, not the number 1"),
        ("{a: 'map[string]integer'}", {"a": {"k": "v"}}, 'spec.a.k: must be an integer, not "v"'),
        ("{a: {b: string}}", {"a": []}, "spec.a: must be an object, not a list"),
        ("{a: 'string | required=true'}", {}, "spec.a: is required"),
        ("{a: 'integer | minimum=1'}", {"a": 0}, "spec.a: must be at least 1, not 0"),
        ("{a: 'float | maximum=1.5'}", {"a": 2}, "spec.a: must be at most 1.5, not 2"),
        ("{a: 'string | enum=\"x,y\"'}", {"a": "z"}, 'spec.a: is "z"; allowed are x, y'),
        ("{a: 'integer | enum=1,2'}", {"a": 3}, "spec.a: is the number 3; allowed are 1, 2"),
        ("{a: 'string | minLength=2'}", {"a": "x"}, "spec.a: has 1 characters; needed are at least 2"),
        ("{a: 'string | maxLength=1'}", {"a": "xy"}, "spec.a: has 2 characters; allowed are at most 1"),
        ("{a: 'string | pattern=\"^[a-z]+$\"'}", {"a": "A"}, 'spec.a: is "A", which does not match ^[a-z]+$'),
        ("{a: '[]string | minItems=1'}", {"a": []}, "spec.a: has 0 items; needed are at least 1"),
        ("{a: '[]string | maxItems=1'}", {"a": ["x", "y"]}, "spec.a: has 2 items; allowed are at most 1"),
        (
            "{a: '[]string | uniqueItems=true'}",
            {"a": ["x", "x"]},
            "spec.a: must not hold the same item twice",
        ),
        (
            "{a: '[]object | listType=map listMapKey=n'}",
            {"a": [{"n": 1}, {"n": 1}]},
            "spec.a: must not hold two items with the same n",
        ),
        (
            "{a: 'integer | validation=\"self % 2 == 0\"'}",
            {"a": 3},
            "spec.a: validation failed: self % 2 == 0 (the value is the number 3)",
        ),
        (
            "{a: 'object | validation=\"self.x > 1\"'}",
            {"a": {}},
            "spec.a: validation failed: self.x > 1: no such key: 'x'",
        ),
    ],
)
def test_what_does_not_fit_is_refused(fields: str, spec: Any, problem: str) -> None:
    assert refusals(fields, spec) == [problem]


def test_a_whole_number_fits_where_a_number_is_wanted() -> None:
    assert accept("{a: float}", {"a": 2}) == {"a": 2}


def test_an_immutable_field_may_be_set_once() -> None:
    fields = "{id: 'string | immutable=true'}"
    assert accept(fields, {"id": "a"}) == {"id": "a"}
    assert accept(fields, {"id": "a"}, old={"spec": {}}) == {"id": "a"}
    assert accept(fields, {"id": "a"}, old={"spec": {"id": "a"}}) == {"id": "a"}
    assert "field is immutable" in refusals(fields, {"id": "b"}, old={"spec": {"id": "a"}})[0]


def test_all_that_does_not_fit_is_told_at_once() -> None:
    fields = "{a: 'string | required=true', b: {c: integer}, d: '[]integer'}"
    assert [
        line.partition(":")[0] for line in refusals(fields, {"b": {"c": "x", "e": 1}, "d": [1, "y"]})
    ] == [
        "spec.b.c",
        "spec.b.e",
        "spec.d[1]",
        "spec.a",
    ]


@pytest.mark.parametrize(
    ("instance", "path"),
    [({"kind": "Other"}, "kind"), ({"apiVersion": "kro.run/v9"}, "apiVersion"), ({"data": {}}, "data")],
)
def test_a_document_of_another_shape_is_refused(instance: dict[str, Any], path: str) -> None:
    with pytest.raises(Rejected) as caught:
        schema_of("{a: string}").accept(instance)
    assert [problem.path for problem in caught.value.problems] == [path]
