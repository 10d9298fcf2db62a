"""math.*"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from headgate.cel.core import values
from headgate.cel.core.errors import EvaluationError
from headgate.cel.core.meter import Meter
from headgate.cel.library import checks
from headgate.cel.library.registry import Library

library = Library()


def _extreme(name: str, better: Callable[[Any, Any], bool]) -> None:
    def extreme(meter: Meter, *arguments: object) -> object:
        candidates = arguments
        if len(arguments) == 1 and values.kind(arguments[0]) == "list":
            candidates = tuple(checks.sequence(name, arguments[0]))
        meter.charge(len(candidates))
        if not candidates:
            raise EvaluationError(f"{name}: the list is empty")
        for candidate in candidates:
            if values.kind(candidate) not in values.NUMBERS:
                raise values.no_overload(name, *arguments)
        best = candidates[0]
        for candidate in candidates[1:]:
            if better(candidate, best):
                best = candidate
        return best

    library.metered(name, 1, 2)(extreme)


_extreme("math.@max", lambda a, b: a > b)
_extreme("math.@min", lambda a, b: a < b)


def _of_double(name: str, compute: Callable[[float], object]) -> None:
    def computed(value: object) -> object:
        return compute(checks.double(name, value))

    library.function(name, 1)(computed)


def _unless_special(compute: Callable[[float], int]) -> Callable[[float], float]:
    """Infinities, NaN and the sign of zero stay as they are."""

    def computed(value: float) -> float:
        return math.copysign(compute(value), value) if math.isfinite(value) else value

    return computed


def _round_half_away(value: float) -> int:
    whole = math.trunc(value)
    return whole + (1 if value > 0 else -1) if abs(value - whole) >= 0.5 else whole


_of_double("math.ceil", _unless_special(math.ceil))
_of_double("math.floor", _unless_special(math.floor))
_of_double("math.trunc", _unless_special(math.trunc))
_of_double("math.round", _unless_special(_round_half_away))
_of_double("math.isNaN", math.isnan)
_of_double("math.isInf", math.isinf)
_of_double("math.isFinite", math.isfinite)


@library.function("math.abs", 1)
def _abs(value: Any) -> object:
    match values.kind(value):
        case "int":
            return values.checked_int(abs(value))
        case "uint":
            return value
        case "double":
            return abs(value)
    raise values.no_overload("math.abs", value)


@library.function("math.sign", 1)
def _sign(value: Any) -> object:
    sign = 0 if value != value or value == 0 else (1 if value > 0 else -1)
    match values.kind(value):
        case "int":
            return sign
        case "uint":
            return values.Uint(sign)
        case "double":
            return value if value != value else float(sign)
    raise values.no_overload("math.sign", value)


@library.function("math.sqrt", 1)
def _sqrt(value: Any) -> float:
    if values.kind(value) not in values.NUMBERS:
        raise values.no_overload("math.sqrt", value)
    return math.sqrt(value) if value >= 0 else math.nan


def _bits(name: str, combine: Callable[[int, int], int]) -> None:
    def combined(left: Any, right: Any) -> object:
        match values.kind(left), values.kind(right):
            case "int", "int":
                return combine(left, right)
            case "uint", "uint":
                return values.Uint(combine(int(left), int(right)))
        raise values.no_overload(name, left, right)

    library.function(name, 2)(combined)


_bits("math.bitAnd", lambda a, b: a & b)
_bits("math.bitOr", lambda a, b: a | b)
_bits("math.bitXor", lambda a, b: a ^ b)


@library.function("math.bitNot", 1)
def _bit_not(value: Any) -> object:
    match values.kind(value):
        case "int":
            return ~value
        case "uint":
            return values.Uint(~int(value) & values.UINT_MAXIMUM)
    raise values.no_overload("math.bitNot", value)


def _shift(name: str, shift: Callable[[int, int], int]) -> None:
    """Bits are shifted in a word of 64; what comes in from the left is zero also for a negative int."""

    def shifted(value: Any, places: object) -> object:
        distance = checks.integer(name, places)
        if values.kind(value) not in ("int", "uint"):
            raise values.no_overload(name, value, places)
        if distance < 0:
            raise EvaluationError(f"{name}: {distance} places; 0 or more are allowed")
        word = shift(int(value) & values.UINT_MAXIMUM, distance) & values.UINT_MAXIMUM if distance < 64 else 0
        if values.kind(value) == "uint":
            return values.Uint(word)
        return word - (1 << 64) if word > values.INT_MAXIMUM else word

    library.function(name, 2)(shifted)


_shift("math.bitShiftLeft", lambda word, distance: word << distance)
_shift("math.bitShiftRight", lambda word, distance: word >> distance)
