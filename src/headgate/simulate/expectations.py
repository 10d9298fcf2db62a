"""Judges what a scenario expects of its result, and says which part of an expression was not met."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headgate import cel
from headgate.simulate.expectation_functions import EXPECT
from headgate.simulate.model.result import ExpectationResult
from headgate.simulate.scenario import Expectation

LONGEST_VALUE = 160
MOST_STEPS = 50_000_000
"""A result is large and known, unlike what selectors read: expressions over it may take longer."""
_COMPARISONS = ("==", "!=", "<=", ">=", "<", ">", " in ")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def judge(expected: Sequence[Expectation], document: Mapping[str, Any]) -> list[ExpectationResult]:
    bindings = {"result": document}
    return [_judge(expectation, bindings) for expectation in expected]


def _judge(expectation: Expectation, bindings: Mapping[str, object]) -> ExpectationResult:
    try:
        value = EXPECT.compile(expectation.that).evaluate(bindings, steps=MOST_STEPS)
    except cel.EvaluationError as error:
        return ExpectationResult(expectation.name, False, f"{expectation.that}\nfails to evaluate: {error}")
    if value is True:
        return ExpectationResult(expectation.name, True)
    if value is not False:
        return ExpectationResult(
            expectation.name, False, f"{expectation.that}\nis {_rendered(value)}, not true or false"
        )
    facts = "".join(f"\n{fact}" for fact in _facts(expectation.that, bindings))
    return ExpectationResult(expectation.name, False, f"{expectation.that}\nis false{facts}")


def _facts(text: str, bindings: Mapping[str, object]) -> Iterator[str]:
    """Of a disjunction every part; of a conjunction the parts that are not true; of a comparison both sides."""
    alternatives = split_outside(text, "||")
    if len(alternatives) > 1:
        for alternative in alternatives:
            yield f"  {alternative} is {_rendered(_value(alternative, bindings))}"
            yield from (f"  {fact}" for fact in _facts(alternative, bindings))
        return
    conjuncts = split_outside(text, "&&")
    if len(conjuncts) > 1:
        for conjunct in conjuncts:
            value = _value(conjunct, bindings)
            if value is not True:
                yield f"  {conjunct} is {_rendered(value)}"
                yield from (f"  {fact}" for fact in _sides(conjunct, bindings))
        return
    yield from _sides(text, bindings)


def _sides(text: str, bindings: Mapping[str, object]) -> Iterator[str]:
    for operator in _COMPARISONS:
        sides = split_outside(text, operator)
        if len(sides) == 2:
            for side in sides:
                value = _value(side, bindings)
                if not _is_literal(side):
                    yield f"  {side} is {_rendered(value)}"
            return
    collection = _collection(text)
    if collection is not None:
        yield f"  {collection} is {_rendered(_value(collection, bindings))}"


def _collection(text: str) -> str | None:
    """`result.jobs` of `result.jobs.all(j, ...)`, where showing what was walked helps."""
    for walk in (".all(", ".exists(", ".exists_one(", ".withinLimits("):
        before, has_walk, _ = text.partition(walk)
        if has_walk and before and before.count("(") == before.count(")"):
            return before.strip().removeprefix("!")
    return None


def _is_literal(text: str) -> bool:
    try:
        return not EXPECT.compile(text).roots
    except cel.CompileError:
        return False


def _value(text: str, bindings: Mapping[str, object]) -> object:
    try:
        return EXPECT.compile(text).evaluate(bindings, steps=MOST_STEPS)
    except (cel.CompileError, cel.EvaluationError) as error:
        return error


def _rendered(value: object) -> str:
    if isinstance(value, Exception):
        return f"an error: {str(value).splitlines()[0]}"
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = str(value)
    if len(text) <= LONGEST_VALUE:
        return text
    size = f" ({len(value)} items)" if isinstance(value, list | dict) else ""
    return f"{text[:LONGEST_VALUE]}...{size}"


def split_outside(text: str, separator: str) -> list[str]:
    """Splits where the separator stands outside brackets and string literals."""
    parts: list[str] = []
    closers: list[str] = []
    quote = ""
    start = index = 0
    while index < len(text):
        character = text[index]
        if quote:
            index += character == "\\"
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in _CLOSING:
            closers.append(_CLOSING[character])
        elif closers and character == closers[-1]:
            closers.pop()
        elif not closers and text.startswith(separator, index):
            parts.append(text[start:index].strip())
            index += len(separator) - 1
            start = index + 1
        index += 1
    parts.append(text[start:].strip())
    return parts
