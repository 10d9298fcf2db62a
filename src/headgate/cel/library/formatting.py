"""`'...'.format([...])`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from headgate.cel.core import arithmetic, equality, values
from headgate.cel.core.errors import EvaluationError
from headgate.cel.core.meter import Meter
from headgate.cel.library import checks, numerals, times

PRECISION_LIMIT = 1000
_CLAUSE = re.compile(r"%(?:(%)|(?:\.([0-9]{1,9}))?(.)|)", re.DOTALL)


def formatted(meter: Meter, template: object, arguments: object) -> str:
    text, given = checks.text("format", template), checks.sequence("format", arguments)
    meter.charge_characters(len(text))
    pieces: list[str] = []
    end = used = 0
    for clause in _CLAUSE.finditer(text):
        pieces.append(text[end : clause.start()])
        end = clause.end()
        percent, precision, verb = clause.groups()
        if percent:
            pieces.append("%")
            continue
        if not verb:
            raise EvaluationError("format: the text ends in a lone %; write %% for a percent sign")
        if used >= len(given):
            raise EvaluationError(
                f"format: there are {len(given)} arguments, but {used + 1} or more are used"
            )
        pieces.append(_clause(meter, verb, precision, given[used]))
        used += 1
    pieces.append(text[end:])
    arithmetic.produced_text(meter, sum(map(len, pieces)))
    return "".join(pieces)


def _clause(meter: Meter, verb: str, precision: str | None, value: Any) -> str:
    meter.charge(1)
    digits = 6 if precision is None else int(precision)
    if digits > PRECISION_LIMIT:
        raise EvaluationError(
            f"format: precision {digits} is too large; at most {PRECISION_LIMIT} is allowed"
        )
    arithmetic.produced_text(meter, digits)
    name = values.kind(value)
    match verb:
        case "s":
            return _text(meter, value)
        case "d" if name in ("int", "uint"):
            return str(int(value))
        case "d" if name == "double" and numerals.special(value):
            return cast(str, numerals.special(value))
        case "f" if name in values.NUMBERS:
            return numerals.fixed(value, digits)
        case "e" if name in values.NUMBERS:
            return numerals.scientific(value, digits)
        case "b" if name in ("int", "uint"):
            return format(int(value), "b")
        case "b" if name == "bool":
            return "1" if value else "0"
        case "o" if name in ("int", "uint"):
            return format(int(value), "o")
        case "x" | "X" if name in ("int", "uint"):
            return format(int(value), verb)
        case "x" | "X" if name in ("string", "bytes"):
            octets = value.encode("utf-8", "replace") if name == "string" else value
            arithmetic.produced_text(meter, 2 * len(octets))
            return cast(str, octets.hex() if verb == "x" else octets.hex().upper())
    if verb not in "sdfebxXo":
        raise EvaluationError(f"format: %{verb} is not known; %s %d %f %e %b %x %X %o are")
    raise EvaluationError(f"format: %{verb} does not take a value of type {name}")


def _text(meter: Meter, value: Any) -> str:
    """What %s makes of a value."""
    meter.charge(equality.ELEMENT_STEPS)
    match values.kind(value):
        case "string":
            arithmetic.produced_text(meter, len(value))
            return str(value)
        case "bool":
            return "true" if value else "false"
        case "null_type":
            return "null"
        case "int" | "uint":
            return str(int(value))
        case "double":
            return numerals.special(value) or numerals.shortest(value)
        case "bytes":
            arithmetic.produced_text(meter, len(value))
            return str(value, "utf-8", "replace")
        case values.TIMESTAMP:
            return times.timestamp_text(value)
        case values.DURATION:
            return times.duration_text(value)
        case "type":
            return str(value)
        case "list":
            return f"[{', '.join(_text(meter, each) for each in cast(Sequence[object], value))}]"
        case "map":
            return _map_text(meter, value)
    raise EvaluationError(f"format: %s does not take a value of type {values.kind(value)}")


def _map_text(meter: Meter, value: Mapping[object, object]) -> str:
    pairs = sorted((_text(meter, key), _text(meter, each)) for key, each in value.items())
    return f"{{{', '.join(f'{key}: {each}' for key, each in pairs)}}}"
