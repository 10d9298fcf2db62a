"""Random expressions come to the same value, or to an error, in this evaluator and in the C++ engine."""

from __future__ import annotations

import math
import random
from typing import Any

from cel_expr_python import cel as oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import cel
from headgate.cel import frontend

from . import grammar

VARIABLES = {
    "record": (cel.map_of(cel.STRING, cel.DYN), oracle.Type.Map(oracle.Type.STRING, oracle.Type.DYN)),
    "items": (cel.list_of(cel.DYN), oracle.Type.List(oracle.Type.DYN)),
    "number": (cel.INT, oracle.Type.INT),
    "text": (cel.STRING, oracle.Type.STRING),
    "flag": (cel.BOOL, oracle.Type.BOOL),
    "anything": (cel.DYN, oracle.Type.DYN),
    "x": (cel.DYN, oracle.Type.DYN),
    "y": (cel.DYN, oracle.Type.DYN),
}

ENVIRONMENT = cel.CelEnvironment({name: ours for name, (ours, _) in VARIABLES.items()})
ORACLE = oracle.NewEnv(
    config=oracle.NewEnvConfigFromYaml(frontend.CONFIGURATION),
    variables={name: theirs for name, (_, theirs) in VARIABLES.items()},
)

ERROR = "an error"


def by_oracle(text: str, bindings: dict[str, Any]) -> object:
    return oracle_description(ORACLE.compile(text).eval(data=bindings))


def oracle_description(value: Any) -> object:
    kind = value.type()
    if kind == oracle.Type.ERROR:
        return ERROR
    if kind == oracle.Type.NULL:  # value() of a null gives away a reference to None, in the end the last one
        return "null"
    content = value.value()
    if isinstance(content, list):
        return [oracle_description(each) for each in content]
    if isinstance(content, dict):
        return {key: oracle_description(each) for key, each in content.items()}
    if isinstance(content, oracle.Type):
        return "type", str(content).split("<")[0].lower()
    return plain_description("uint" if kind == oracle.Type.UINT else type(content).__name__, content)


def by_us(evaluate: Any, bindings: dict[str, Any]) -> object:
    try:
        return our_description(evaluate(bindings))
    except cel.EvaluationError:
        return ERROR


def our_description(value: Any) -> object:
    if value is None:
        return "null"
    if isinstance(value, list):
        return [our_description(each) for each in value]
    if isinstance(value, dict):
        return {key: our_description(each) for key, each in value.items()}
    if isinstance(value, cel.TypeValue):
        short = {"null_type": "null", "google.protobuf.Duration": "duration"}
        return "type", short.get(value.name, value.name)
    return plain_description("uint" if isinstance(value, cel.Uint) else type(value).__name__, value)


def plain_description(kind: str, value: Any) -> object:
    if isinstance(value, float) and math.isnan(value):
        return kind, "NaN"
    return ("bytes", bytes(value)) if isinstance(value, bytes | bytearray) else (kind, value)


@settings(max_examples=1200, deadline=None, database=None)
@given(st.integers(min_value=0, max_value=2**40))
def test_both_engines_agree(seed: int) -> None:
    chance = random.Random(seed)
    text = grammar.expression(chance, chance.choice(["bool", "bool", "any"]), chance.randrange(1, 4))
    bindings = grammar.bindings(chance)
    try:
        program = ENVIRONMENT.compile(text)
    except cel.CompileError:
        return
    expected = by_oracle(text, bindings)
    assert by_us(program.evaluate, bindings) == expected, (text, bindings)
    assert by_us(lambda given: program.evaluate_counted(given)[0], bindings) == expected, (text, bindings)
    if program.result_type in ("bool", "dyn"):
        matches = ENVIRONMENT.selector(text).matches(bindings)
        assert matches is (expected == ("bool", True)), (text, bindings)
