"""The examples of docs/cel.md give what the page says."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from headgate import cel
from headgate.cel import decode, frontend, library, words
from headgate.cel.core import meter
from headgate.cel.core.arithmetic import SIZE_LIMIT
from headgate.cel.library import formatting, regex

from . import test_conformance

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "cel.md").read_text(encoding="utf-8")

RECORD = cel.map_of(cel.STRING, cel.DYN)
ENVIRONMENT = cel.CelEnvironment(
    {"resource": RECORD, "deployment": RECORD, "version": RECORD, "now": cel.TIMESTAMP}
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def examples() -> list[tuple[str, str]]:
    lines = [line for block in blocks("cel") for line in block.splitlines()]
    return [
        (text.strip(), expected.strip()) for text, _, expected in (line.rpartition("//") for line in lines)
    ]


def bindings() -> dict[str, Any]:
    (given,) = map(json.loads, blocks("json"))
    return {**given, "now": datetime(2030, 1, 31, 8, 30, tzinfo=UTC)}


@pytest.mark.parametrize(("text", "expected"), examples())
def test_an_example_gives_what_stands_after_it(text: str, expected: str) -> None:
    match expected:
        case "refused":
            with pytest.raises(cel.CompileError):
                ENVIRONMENT.compile(text)
        case "an error":
            with pytest.raises(cel.EvaluationError):
                ENVIRONMENT.compile(text).evaluate(bindings())
        case _:
            value = ENVIRONMENT.compile(text).evaluate(bindings())
            assert json.dumps(value) == json.dumps(json.loads(expected))


def test_the_refusal_shown_is_the_refusal_given() -> None:
    (shown,) = blocks("text")
    with pytest.raises(cel.CompileError) as raised:
        ENVIRONMENT.compile("cluster == 'prod-east'")
    assert str(raised.value) == shown.rstrip("\n")


def test_every_function_has_its_place_in_the_table() -> None:
    table = PAGE.partition("## All functions")[2].partition("## Limits")[0]
    written = {
        "math.@max": "math.greatest",
        "math.@min": "math.least",
        "@sortByAssociatedKeys": "sortBy",
        "@in": "in",
    }
    for name in library.STANDARD:
        is_operator = name[0] in "_!-"
        if not is_operator:
            assert f"`{written.get(name, name)}`" in table


def test_the_limits_are_the_limits_of_the_code() -> None:
    table = PAGE.partition("## Limits")[2]
    for limit in (
        words.LENGTH_LIMIT,
        meter.DEFAULT_STEPS,
        SIZE_LIMIT,
        regex.PATTERN_LIMIT,
        formatting.PRECISION_LIMIT,
    ):
        assert f"{limit:,}" in table
    assert f"| levels of nesting | {frontend.NESTING_LIMIT};" in table
    assert f"| macros over lists and maps within each other | {decode.LOOPS_LIMIT} |" in table


def test_the_known_failures_are_listed_with_their_reasons() -> None:
    page = (DOCS / "cel-conformance.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([^`]+)` \| (.+) \|$", page, re.MULTILINE)
    assert [name for name, _ in listed] == list(test_conformance.KNOWN_FAILURES)
    cases = test_conformance.cases()
    if cases:
        assert f"Of the {len(cases)} cases {len(cases) - len(listed)} pass." in page
