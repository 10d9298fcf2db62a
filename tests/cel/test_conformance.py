"""The public CEL conformance cases that need no protobuf messages, each through both evaluators."""

from __future__ import annotations

import base64
import json
import math
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from headgate import cel
from headgate.cel import types
from headgate.cel.core import values

CASES = Path(__file__).parents[2] / ".." / "shared" / "data" / "cel-conformance.jsonl"

# Cases that do not pass, with the reason; docs/cel-conformance.md lists the same. A case that starts to pass must go.
KNOWN_FAILURES: dict[str, str] = {
    "parse/bytes_literals/triple_single_quoted_unescaped_punctuation#573": "expects a backslash that is not written",
    "parse/bytes_literals/triple_double_quoted_unescaped_punctuation#574": "expects a backslash that is not written",
}


def cases() -> list[Any]:
    if not CASES.exists():
        return []
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    return [pytest.param(row, id=identity(row, place)) for place, row in enumerate(rows)]


def identity(row: dict[str, Any], place: int) -> str:
    return f"{row['file']}/{row['section']}/{row['name']}#{place}"


def python_value(encoded: dict[str, Any]) -> object:
    ((kind, value),) = encoded.items()
    match kind:
        case "int":
            return int(value)
        case "uint":
            return cel.Uint(int(value))
        case "double":
            return float(value)
        case "bytes":
            return base64.b64decode(value)
        case "timestamp":
            return values.timestamp(value[0] * values.NANOSECONDS + value[1])
        case "duration":
            return values.duration(value[0] * values.NANOSECONDS + value[1])
        case "list":
            return [python_value(each) for each in value]
        case "map":
            return {python_value(key): python_value(each) for key, each in value}
        case "type":
            return cel.TypeValue(value)
    return value


def declared_type(encoded: dict[str, Any]) -> types.Type:
    ((kind, _),) = encoded.items()
    match kind:
        case "list":
            return types.list_of(types.DYN)
        case "map":
            return types.map_of(types.DYN, types.DYN)
        case "type":
            return types.DYN
    return types.Type(kind)


def same(actual: object, expected: object) -> bool:
    """Equal, and of the same type all the way down; NaN is taken as equal to itself."""
    if isinstance(expected, float) and isinstance(actual, float) and math.isnan(expected):
        return math.isnan(actual)
    if isinstance(expected, datetime | timedelta):
        return actual == expected
    if type(actual) is not type(expected):
        return False
    if isinstance(expected, list) and isinstance(actual, list):
        return len(actual) == len(expected) and all(map(same, actual, expected))
    if isinstance(expected, dict) and isinstance(actual, dict):
        return actual.keys() == expected.keys() and all(same(actual[key], expected[key]) for key in expected)
    return actual == expected


def outcomes(row: dict[str, Any]) -> list[object]:
    """What the expression comes to by `evaluate` and by the exact evaluator; an error is its exception."""
    declared = {name: declared_type(value) for name, value in row["bindings"].items()}
    bindings = {name: python_value(value) for name, value in row["bindings"].items()}
    environment = cel.CelEnvironment(declared, boolean_words=False, container=row["container"])
    try:
        program = environment.compile(row["expr"], check=row["checked"])
    except cel.CompileError as error:
        return [error]
    found: list[object] = []
    for evaluate in (program.evaluate, lambda given: program.evaluate_counted(given)[0]):
        try:
            found.append(evaluate(bindings))
        except cel.EvaluationError as error:
            found.append(error)
    return found


@pytest.mark.parametrize("row", cases())
def test_the_expression_comes_to_what_the_suite_says(
    row: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.id
    if "error" in row:
        passed = all(isinstance(outcome, Exception) for outcome in outcomes(row))
    else:
        expected = python_value(row["value"])
        passed = all(same(outcome, expected) for outcome in outcomes(row))
    assert passed is (name not in KNOWN_FAILURES), (row["expr"], outcomes(row), row.get("value", "an error"))


@pytest.mark.skipif(not CASES.exists(), reason="the conformance cases are not here")
def test_at_least_98_percent_of_the_cases_pass() -> None:
    assert len(KNOWN_FAILURES) <= 0.02 * len(cases())
    assert KNOWN_FAILURES.keys() <= {case.id for case in cases()}
