"""The functions of strings."""

from __future__ import annotations

from typing import cast

from headgate.cel.core import arithmetic
from headgate.cel.core.errors import EvaluationError
from headgate.cel.core.meter import Meter
from headgate.cel.library import checks, formatting
from headgate.cel.library.registry import Library

library = Library()

_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_ASCII_UPPER = {lower: lower - 32 for lower in range(ord("a"), ord("z") + 1)}
_WHITESPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_QUOTED = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_QUOTED_CHARACTERS = str.maketrans(_QUOTED)

library.metered("format", 2)(formatting.formatted)


@library.function("startsWith", 2)
def _starts_with(value: object, prefix: object) -> bool:
    return checks.text("startsWith", value).startswith(checks.text("startsWith", prefix))


@library.function("endsWith", 2)
def _ends_with(value: object, suffix: object) -> bool:
    return checks.text("endsWith", value).endswith(checks.text("endsWith", suffix))


@library.metered("contains", 2)
def _contains(meter: Meter, value: object, part: object) -> bool:
    text, sought = checks.text("contains", value), checks.text("contains", part)
    meter.charge_characters(len(text) + len(sought))
    return sought in text


@library.function("charAt", 2)
def _char_at(value: object, place: object) -> str:
    text, position = checks.text("charAt", value), checks.integer("charAt", place)
    return text[_within(position, len(text)) : position + 1]


def _within(position: int, length: int) -> int:
    if 0 <= position <= length:
        return position
    raise EvaluationError(f"index out of range: {position}; 0 to {length} is allowed")


@library.metered("indexOf", 2, 3)
def _index_of(meter: Meter, value: object, part: object, start: object = 0) -> int:
    text, sought = checks.text("indexOf", value), checks.text("indexOf", part)
    meter.charge_characters(len(text))
    return text.find(sought, _within(checks.integer("indexOf", start), len(text)))


@library.metered("lastIndexOf", 2, 3)
def _last_index_of(meter: Meter, value: object, part: object, end: object = None) -> int:
    text, sought = checks.text("lastIndexOf", value), checks.text("lastIndexOf", part)
    meter.charge_characters(len(text))
    last = len(text) if end is None else _within(checks.integer("lastIndexOf", end), len(text))
    return text.rfind(sought, 0, last + len(sought))


@library.metered("lowerAscii", 1)
def _lower_ascii(meter: Meter, value: object) -> str:
    text = checks.text("lowerAscii", value)
    arithmetic.produced_text(meter, len(text))
    return text.translate(_ASCII_LOWER)


@library.metered("upperAscii", 1)
def _upper_ascii(meter: Meter, value: object) -> str:
    text = checks.text("upperAscii", value)
    arithmetic.produced_text(meter, len(text))
    return text.translate(_ASCII_UPPER)


@library.metered("trim", 1)
def _trim(meter: Meter, value: object) -> str:
    text = checks.text("trim", value)
    arithmetic.produced_text(meter, len(text))
    return text.strip(_WHITESPACE)


@library.metered("reverse", 1)
def _reverse(meter: Meter, value: object) -> object:
    if isinstance(value, str):
        arithmetic.produced_text(meter, len(value))
        return value[::-1]
    sequence = checks.sequence("reverse", value)
    arithmetic.produced_list(meter, len(sequence))
    return list(reversed(sequence))


@library.metered("substring", 2, 3)
def _substring(meter: Meter, value: object, start: object, end: object = None) -> str:
    text = checks.text("substring", value)
    first = _within(checks.integer("substring", start), len(text))
    last = len(text) if end is None else _within(checks.integer("substring", end), len(text))
    if first > last:
        raise EvaluationError(f"substring ends before it starts: {first} to {last}")
    arithmetic.produced_text(meter, last - first)
    return text[first:last]


@library.metered("replace", 3, 4)
def _replace(meter: Meter, value: object, old: object, new: object, limit: object = -1) -> str:
    text, sought, by = (checks.text("replace", each) for each in (value, old, new))
    count = checks.integer("replace", limit)
    meter.charge_characters(len(text))
    times = text.count(sought) if count < 0 else min(text.count(sought), count)
    arithmetic.produced_text(meter, len(text) + times * (len(by) - len(sought)))
    return text.replace(sought, by, times)


@library.metered("split", 2, 3)
def _split(meter: Meter, value: object, separator: object, limit: object = -1) -> list[object]:
    text, by = checks.text("split", value), checks.text("split", separator)
    count = checks.integer("split", limit)
    if count == 0:
        return []
    pieces = text.count(by) + 1 if count < 0 else min(count, text.count(by) + 1)
    arithmetic.produced_list(meter, pieces)
    arithmetic.produced_text(meter, len(text))
    if by:
        return cast(list[object], text.split(by, -1 if count < 0 else count - 1))
    if count < 0 or count >= len(text):
        return list(text) or [""]
    return [*text[: count - 1], text[count - 1 :]]


@library.metered("join", 1, 2)
def _join(meter: Meter, value: object, separator: object = "") -> str:
    between = checks.text("join", separator)
    pieces = [checks.text("join", each) for each in checks.sequence("join", value)]
    meter.charge(len(pieces))
    arithmetic.produced_text(meter, sum(map(len, pieces)) + len(between) * max(0, len(pieces) - 1))
    return between.join(pieces)


@library.metered("strings.quote", 1)
def _quote(meter: Meter, value: object) -> str:
    text = checks.text("strings.quote", value)
    arithmetic.produced_text(meter, 2 * len(text))
    meter.charge(len(text) // 4)
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return f'"{whole.translate(_QUOTED_CHARACTERS)}"'
