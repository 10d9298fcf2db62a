"""Random expressions and data: mostly well typed, with missing keys, wrong types and overflow mixed in.

No list is made of a map's keys, since engines walk these in orders of their own.
"""

from __future__ import annotations

import random
from typing import Any

BOOL_LEAVES = ["true", "false", "flag", "x", "record.a", "anything.b", "has(record.a)", "has(anything.b)"]
INT_LEAVES = ["0", "1", "2", "-1", "3", "number", "x", "record.b", "anything", "9223372036854775807"]
STRING_LEAVES = ["''", "'a'", "'ab'", "'é'", "text", "record.c"]
LIST_LEAVES = [
    "items",
    "[]",
    "[1, 2, 3]",
    "['a', 'b']",
    "[true, false]",
    "[1, 'a', 2.0, 3u, null]",
]
MAP_LEAVES = [
    "record",
    "{}",
    "{'a': 1, 'b': 'x'}",
    "anything",
    "{1: true, 2u: false}",
    "x",
    "{'a': {'b': 2}}",
]
OTHER_LEAVES = ["null", "1.5", "2u", "2.0", "0.0", "b'a'", "duration('1s')", "type(1)"]

# In braces: the kind of expression that stands there, or one of the choices below.
CHOICES = {
    "field": ["a", "b", "c"],
    "order": ["<", "<=", ">", ">="],
    "equality": ["==", "!="],
    "arithmetic": ["+", "-", "*", "/", "%"],
    "quantifier": ["all", "exists", "exists_one"],
    "wide_quantifier": ["all", "exists", "existsOne"],
    "test": ["startsWith", "endsWith", "contains", "matches"],
}
SHAPES = {
    "bool": [
        "({bool} && {bool})",
        "({bool} && {bool})",
        "({bool} || {bool})",
        "({bool} || {bool})",
        "!{bool}",
        "!dyn({any})",
        "({bool} ? {bool} : {bool})",
        "(dyn({any}) {equality} dyn({any}))",
        "(dyn({int}) {order} dyn({int}))",
        "(dyn({any}) {order} dyn({any}))",
        "(dyn({any}) in dyn({list}))",
        "(dyn({string}) in dyn({map}))",
        "{list}.{quantifier}(x, {bool})",
        "{map}.{wide_quantifier}(x, y, {bool})",
        "dyn({string}).{test}('a')",
        "has(dyn({map}).{field})",
    ],
    "int": [
        "(dyn({int}) {arithmetic} dyn({int}))",
        "size(dyn({list}))",
        "size(dyn({string}))",
        "-dyn({int})",
        "dyn({list})[{int}]",
        "math.greatest(dyn({int}), dyn({int}))",
        "dyn({map}).?{field}.orValue({int})",
    ],
    "string": [
        "(dyn({string}) + dyn({string}))",
        "string(dyn({any}))",
        "dyn({string}).replace('a', 'bb')",
        "dyn({string}).substring({int})",
        "'%s'.format([{any}])",
    ],
    "list": [
        "[{any}, {any}]",
        "{list}.filter(x, {bool})",
        "{list}.map(x, {any})",
        "{list}.map(x, {bool}, {any})",
        "(dyn({list}) + dyn({list}))",
        "{list}.transformList(x, y, {bool}, {any})",
        "{list}.distinct()",
        "dyn({string}).split('b')",
        "[{int}, {int}, {int}].sort()",
        "dyn({list}).slice(0, {int})",
    ],
    "map": [
        "{{'a': {any}, 'b': {any}}}",
        "{{{string}: {any}}}",
        "dyn({map}).{field}",
        "{{dyn({any}): {any}}}",
    ],
    "other": [
        "cel.bind(x, {any}, {any})",
        "({bool} ? dyn({any}) : dyn({any}))",
        "optional.of({any}).optMap(x, {any}).orValue(dyn({any}))",
        "type({any})",
        "dyn({map})[?{string}].orValue(dyn({any}))",
        "dyn({any})[dyn({any})]",
    ],
}
LEAVES = {
    "bool": BOOL_LEAVES,
    "int": INT_LEAVES,
    "string": STRING_LEAVES,
    "list": LIST_LEAVES,
    "map": MAP_LEAVES,
    "other": OTHER_LEAVES,
}
KINDS = ["bool", "int", "string", "list", "map", "other"]


def expression(chance: random.Random, kind: str, depth: int) -> str:
    if kind in CHOICES:
        return chance.choice(CHOICES[kind])
    if kind == "any":
        kind = chance.choice(KINDS)
    if depth == 0:
        return chance.choice(LEAVES[kind])
    return _filled(chance, chance.choice(SHAPES[kind]), depth - 1)


class _Parts(dict[str, str]):
    """Makes a new part for each place of a template."""

    def __init__(self, chance: random.Random, depth: int) -> None:
        super().__init__()
        self._chance, self._depth = chance, depth

    def __missing__(self, kind: str) -> str:
        return expression(self._chance, kind, self._depth)


def _filled(chance: random.Random, template: str, depth: int) -> str:
    return template.format_map(_Parts(chance, depth))


def value(chance: random.Random, depth: int = 2) -> Any:
    match chance.randrange(9 if depth else 6):
        case 0:
            return chance.choice([True, False])
        case 1 | 2:
            return chance.choice([0, 1, 2, 3, -1, 7, 2**63 - 1, -(2**63)])
        case 3 | 4:
            return chance.choice(["", "a", "b", "ab", "é"])
        case 5:
            return chance.choice([0.0, 1.0, 0.5])
        case 6:
            return [value(chance, depth - 1) for _ in range(chance.randrange(4))]
    return record(chance, depth)


def record(chance: random.Random, depth: int = 2) -> dict[str, Any]:
    return {name: value(chance, depth - 1) for name in "abc" if chance.randrange(3)}


def bindings(chance: random.Random) -> dict[str, Any]:
    return {
        "record": record(chance, 3),
        "items": [value(chance) for _ in range(chance.randrange(4))],
        "number": chance.choice([0, 1, 3, -2]),
        "text": chance.choice(["", "a", "ab", "a,b"]),
        "flag": chance.choice([True, False]),
        "anything": value(chance),
        "x": value(chance),
    }
