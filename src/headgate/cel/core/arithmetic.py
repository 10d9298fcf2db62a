"""+ - * / % and the order of values, by the rules of CEL: checked integers, no mixing of number types."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from headgate.cel.core import equality, values
from headgate.cel.core.errors import BudgetExceeded, EvaluationError
from headgate.cel.core.meter import Meter
from headgate.cel.core.values import Uint

SIZE_LIMIT = 10_000_000
"""Characters or elements of one value, whatever the budget."""


def sized(meter: Meter, size: int, steps: int) -> None:
    """Charges for a value before it is made."""
    if size > SIZE_LIMIT:
        raise BudgetExceeded(f"a value of size {size} would be made; at most {SIZE_LIMIT} is allowed")
    meter.charge(steps)


def produced_text(meter: Meter, characters: int) -> None:
    sized(meter, characters, characters // 16)


def produced_list(meter: Meter, length: int) -> None:
    sized(meter, length, length)


def add(meter: Meter, left: Any, right: Any) -> object:
    if type(left) is int and type(right) is int:
        return values.checked_int(left + right)
    match values.kind(left), values.kind(right):
        case "int", "int":
            return values.checked_int(left + right)
        case "uint", "uint":
            return values.checked_uint(int(left) + int(right))
        case "double", "double":
            return left + right
        case ("string", "string") | ("bytes", "bytes"):
            produced_text(meter, len(left) + len(right))
            return left + right
        case "list", "list":
            produced_list(meter, len(left) + len(right))
            return [*left, *right]
        case values.TIMESTAMP, values.DURATION:
            return values.timestamp(values.timestamp_nanoseconds(left) + values.duration_nanoseconds(right))
        case values.DURATION, values.TIMESTAMP:
            return values.timestamp(values.duration_nanoseconds(left) + values.timestamp_nanoseconds(right))
        case values.DURATION, values.DURATION:
            return values.duration_difference(
                values.duration_nanoseconds(left) + values.duration_nanoseconds(right)
            )
    raise values.no_overload("_+_", left, right)


def subtract(left: Any, right: Any) -> object:
    match values.kind(left), values.kind(right):
        case "int", "int":
            return values.checked_int(left - right)
        case "uint", "uint":
            return values.checked_uint(int(left) - int(right))
        case "double", "double":
            return left - right
        case values.TIMESTAMP, values.TIMESTAMP:
            return values.duration_difference(
                values.timestamp_nanoseconds(left) - values.timestamp_nanoseconds(right)
            )
        case values.TIMESTAMP, values.DURATION:
            return values.timestamp(values.timestamp_nanoseconds(left) - values.duration_nanoseconds(right))
        case values.DURATION, values.DURATION:
            return values.duration_difference(
                values.duration_nanoseconds(left) - values.duration_nanoseconds(right)
            )
    raise values.no_overload("_-_", left, right)


def multiply(left: Any, right: Any) -> object:
    match values.kind(left), values.kind(right):
        case "int", "int":
            return values.checked_int(left * right)
        case "uint", "uint":
            return values.checked_uint(int(left) * int(right))
        case "double", "double":
            return left * right
    raise values.no_overload("_*_", left, right)


def divide(left: Any, right: Any) -> object:
    match values.kind(left), values.kind(right):
        case "int", "int":
            return values.checked_int(_truncated(left, right))
        case "uint", "uint":
            return Uint(_truncated(int(left), int(right)))
        case "double", "double":
            return _double_quotient(left, right)
    raise values.no_overload("_/_", left, right)


def modulo(left: Any, right: Any) -> object:
    match values.kind(left), values.kind(right):
        case "int", "int":
            return values.checked_int(left - right * values.checked_int(_truncated(left, right, "modulus")))
        case "uint", "uint":
            return Uint(int(left) - int(right) * _truncated(int(left), int(right), "modulus"))
    raise values.no_overload("_%_", left, right)


def negate(operand: Any) -> object:
    match values.kind(operand):
        case "int":
            return values.checked_int(-operand)
        case "double":
            return -operand
    raise values.no_overload("-_", operand)


def _truncated(left: int, right: int, operation: str = "divide") -> int:
    if right == 0:
        raise EvaluationError(f"{operation} by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) is (right < 0) else -quotient


def _double_quotient(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def mixing(operation: Callable[[Any, Any], object]) -> Callable[[Any, Any], object]:
    """The operation, with an integer taken as a double where the other operand is one."""

    def mixed(left: Any, right: Any) -> object:
        kinds = {values.kind(left), values.kind(right)}
        if "double" in kinds and kinds <= values.NUMBERS:
            return operation(float(left), float(right))
        return operation(left, right)

    return mixed


def mixing_metered(operation: Callable[[Meter, Any, Any], object]) -> Callable[[Meter, Any, Any], object]:
    def mixed(meter: Meter, left: Any, right: Any) -> object:
        return mixing(lambda a, b: operation(meter, a, b))(left, right)

    return mixed


_ORDERED = frozenset(("bool", "string", "bytes"))


def ordered(operator: str, compare: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    """One of < <= > >= over every type that has an order."""

    def compared(left: Any, right: Any) -> bool:
        if type(left) is int and type(right) is int:
            return compare(left, right)
        left_kind, right_kind = values.kind(left), values.kind(right)
        if left_kind in values.NUMBERS and right_kind in values.NUMBERS:
            return compare(*equality.as_compared(left, right))
        if left_kind != right_kind:
            raise values.no_overload(operator, left, right)
        if left_kind in _ORDERED:
            return compare(left, right)
        return compare(_instant(operator, left, right), _instant(operator, right, left))

    return compared


def _instant(operator: str, value: object, other: object) -> int:
    match values.kind(value):
        case values.TIMESTAMP if isinstance(value, datetime):
            return values.timestamp_nanoseconds(value)
        case values.DURATION if isinstance(value, timedelta):
            return values.duration_nanoseconds(value)
    raise values.no_overload(operator, value, other)


def sort_key(value: object) -> object:
    """What to sort values of one ordered type by."""
    match values.kind(value):
        case kind if kind in _ORDERED or kind in values.NUMBERS:
            return value
    return _instant("sort", value, value)
