"""`${}` in text: what is an expression, what is text, and what a rendered document holds."""

from typing import Any

import pytest

from headgate import cel
from headgate.cel import interpolation
from headgate.graph.compile import templates
from headgate.graph.compile.expressions import compile_in
from headgate.graph.compile.templates import CompiledTemplate

NAMES = ("schema", "a", "b")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("plain", ["plain"]),
        ("${a}", [("a",)]),
        ("${ a }", [(" a ",)]),
        ("x-${a}", ["x-", ("a",)]),
        ("${a}${b}", [("a",), ("b",)]),
        ("${a}-${b}/c", [("a",), "-", ("b",), "/c"]),
        ("${{'k': {'n': 1}}}", [("{'k': {'n': 1}}",)]),
        ('${a["}"]}', [('a["}"]',)]),
        ("${a['}']}", [("a['}']",)]),
        ("${'${X}'}", [("'${X}'",)]),
        ('${"${X}"}', [('"${X}"',)]),
        (r'${"\"}"}', [(r'"\"}"',)]),
        (r"${r'\'}", [(r"r'\'",)]),
        ('${"""}"""}', [('"""}"""',)]),
        ("${a.map(x, {'v': x})}", [("a.map(x, {'v': x})",)]),
        ("$", ["$"]),
        ("$ {a}", ["$ {a}"]),
        ("$${a}", ["$", ("a",)]),
        ("{a}", ["{a}"]),
        ("${a", ["${a"]),
        ("${a ${b}", ["${a ", ("b",)]),
        ("a\n${a\n}\n", ["a\n", ("a\n",), "\n"]),
        ("${}", [("",)]),
    ],
)
def test_a_text_comes_apart_into_literals_and_expressions(text: str, expected: list[Any]) -> None:
    parts = [(part.text,) if part.is_expression else part.text for part in interpolation.parts_of(text)]
    assert parts == expected


@pytest.mark.parametrize("text", ["${a(${b})}", "${${a}}", "x ${a + ${b}} y"])
def test_an_expression_within_an_expression_is_refused(text: str) -> None:
    with pytest.raises(interpolation.InterpolationError, match="in its string literals only"):
        interpolation.parts_of(text)


def test_positions_count_from_the_start_of_the_text() -> None:
    assert [part.position for part in interpolation.parts_of("ab${c}d${e}")] == [0, 4, 6, 9]


@pytest.mark.parametrize("text", ["${a.b}", "a.b", " ${a.b}\n", "  a.b  "])
def test_one_expression_may_be_written_with_and_without_braces(text: str) -> None:
    part = interpolation.single_expression(text)
    assert part.text == "a.b"
    assert text[part.position :].startswith("a.b")


@pytest.mark.parametrize("text", ["x${a}", "${a} && ${b}", "${a}${b}"])
def test_where_one_expression_is_expected_a_mixture_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="only one expression"):
        interpolation.single_expression(text)


def render(document: dict[str, Any], **bindings: object) -> dict[str, Any]:
    template = CompiledTemplate(document, lambda found, part: compile_in(NAMES, part.text))
    return template.render(bindings)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3),
        (True, True),
        (None, None),
        ("s", "s"),
        (1.5, 1.5),
        ([1, {"x": [2]}], [1, {"x": [2]}]),
        ({"k": (1, 2)}, {"k": [1, 2]}),
        (cel.Uint(7), 7),
    ],
)
def test_a_standalone_expression_keeps_its_type(value: object, expected: object) -> None:
    assert render({"field": "${a}"}, a=value) == {"field": expected}


def test_a_text_with_expressions_is_put_together() -> None:
    assert render({"n": "${a}-x-${b}"}, a="1", b="2") == {"n": "1-x-2"}


def test_constants_and_the_order_of_fields_stay() -> None:
    document = {"z": 1, "a": {"y": [True, None, "${a}"], "b": "plain"}}
    assert list(render(document, a=2)) == ["z", "a"]
    assert render(document, a=2) == {"z": 1, "a": {"y": [True, None, 2], "b": "plain"}}


def test_a_rendered_document_shares_nothing_with_what_it_was_made_from() -> None:
    shared: dict[str, Any] = {"inner": []}
    made = render({"field": "${a}", "fixed": {"list": [1]}}, a=shared)
    made["field"]["inner"].append(1)
    assert shared == {"inner": []}


def test_what_an_instance_holds_is_data_and_never_evaluated() -> None:
    assert render({"field": "${a}", "text": "x${a}"}, a="${b}") == {"field": "${b}", "text": "x${b}"}


def test_an_absent_optional_and_omit_leave_the_field_out() -> None:
    document = {"x": "${a.?missing}", "y": "${a.?there}", "z": "${omit()}", "l": ["${omit()}", "${a.there}"]}
    assert render(document, a={"there": 1}) == {"y": 1, "l": [1]}


def test_omit_within_a_value_leaves_that_part_out() -> None:
    assert render({"x": "${{'k': omit(), 'l': [omit(), 1]}}"}) == {"x": {"l": [1]}}


def test_times_become_text() -> None:
    document = {"t": "${timestamp('2026-01-02T03:04:05Z')}", "d": "${duration('90s')}"}
    assert render(document) == {"t": "2026-01-02T03:04:05Z", "d": "90s"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("${b'raw'}", "base64.encode"),
        ("${{1: 'a'}}", "keys of a document are strings"),
        ("${18446744073709551615u}", "more than a 64-bit integer"),
        ("${1.0 / 0.0}", "gives inf"),
        ("${quantity('1')}", "no place in a document"),
        ("x-${1}", "a string is needed"),
    ],
)
def test_what_cannot_be_in_a_document_is_an_error(text: str, reason: str) -> None:
    with pytest.raises(templates.FieldError) as caught:
        render({"spec": {"list": [text]}})
    assert reason in str(caught.value)
    assert caught.value.path == "spec.list[0]"


def test_a_missing_key_is_told_with_field_and_expression() -> None:
    with pytest.raises(templates.FieldMissing) as caught:
        render({"spec": {"x": "${a.status.ip}"}}, a={})
    assert str(caught.value) == "spec.x: ${a.status.ip}: no such key: 'status'"
    assert isinstance(caught.value, cel.MissingKey)
