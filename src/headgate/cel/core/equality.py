"""When CEL takes two values for the same: as keys of a map, by `==`, and in sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from headgate.cel.core import values
from headgate.cel.core.errors import EvaluationError
from headgate.cel.core.meter import Meter
from headgate.cel.core.values import Optional

ELEMENT_STEPS: Final = 5
"""What it costs to compare one element of a list, and twice that for the list itself."""


class _Missing:
    __slots__ = ()


MISSING: Final = _Missing()


def find(mapping: Mapping[object, object], key: object) -> object:
    """The value under a key by CEL equality, or MISSING.

    Python takes True and 1 for the same key and CEL does not, hence the second look.
    """
    if type(key) is str:
        return mapping.get(key, MISSING)
    if not is_key(key):
        raise EvaluationError(f"unsupported key type: {values.kind(key)}")
    mapped = mapping.get(key, MISSING)
    if mapped is MISSING or key not in (0, 1):
        return mapped
    of_bool = type(key) is bool
    return next(
        (value for each, value in mapping.items() if each == key and (type(each) is bool) is of_bool), MISSING
    )


def is_key(value: object) -> bool:
    """Whether a map can be asked for it."""
    return values.kind(value) in values.NUMBERS or values.kind(value) in ("bool", "string")


def as_compared(left: Any, right: Any) -> tuple[Any, Any]:
    """Two numbers as CEL compares them: as doubles if one is a double, so that large integers lose digits."""
    if type(left) is float or type(right) is float:
        return float(left), float(right)
    return left, right


def equal(meter: Meter, left: Any, right: Any) -> bool:
    """CEL equality: numbers compare across their types, values of different types are unequal, NaN equals nothing."""
    left_kind, right_kind = values.kind(left), values.kind(right)
    if left_kind in values.NUMBERS and right_kind in values.NUMBERS:
        compared_left, compared_right = as_compared(left, right)
        return bool(compared_left == compared_right)
    if left_kind != right_kind:
        return False
    if left_kind == "list":
        return _equal_lists(meter, left, right)
    if left_kind == "map":
        return _equal_maps(meter, left, right)
    if left_kind == values.TIMESTAMP:
        return values.timestamp_nanoseconds(left) == values.timestamp_nanoseconds(right)
    if left_kind == "optional_type":
        return _equal_optionals(meter, left, right)
    if left_kind in ("string", "bytes"):
        meter.charge_characters(min(len(left), len(right)))
    return left is right or bool(left == right)


def _equal_lists(meter: Meter, left: list[object], right: list[object]) -> bool:
    if len(left) != len(right):
        return False
    meter.charge(ELEMENT_STEPS * (2 + len(left)))
    return all(equal(meter, a, b) for a, b in zip(left, right))


def _equal_maps(meter: Meter, left: Mapping[object, object], right: Mapping[object, object]) -> bool:
    if len(left) != len(right):
        return False
    meter.charge(ELEMENT_STEPS * (2 + 2 * len(left)))
    for key, value in left.items():
        other = find(right, key)
        if other is MISSING or not equal(meter, value, other):
            return False
    return True


def _equal_optionals(meter: Meter, left: Optional, right: Optional) -> bool:
    if not (left.present and right.present):
        return left.present is right.present
    return equal(meter, left.content, right.content)


def canonical(meter: Meter, value: Any) -> object:
    """A hashable stand-in: two values are CEL-equal if and only if their stand-ins are equal."""
    name = values.kind(value)
    if name in ("string", "bytes", "null_type"):
        return value
    if name in values.NUMBERS:
        return value if value == value else object()
    if name == "list":
        meter.charge(ELEMENT_STEPS * (2 + len(value)))
        return ("list", tuple(canonical(meter, each) for each in value))
    if name == "map":
        meter.charge(ELEMENT_STEPS * (2 + 2 * len(value)))
        pairs = value.items()
        return ("map", frozenset((canonical(meter, key), canonical(meter, each)) for key, each in pairs))
    if name == values.TIMESTAMP:
        return (name, values.timestamp_nanoseconds(value))
    if name == "optional_type":
        return (name, value.present and (canonical(meter, value.content),))
    if name == values.OBJECT:
        return (name, value if type(value).__hash__ is not None else id(value))
    return (name, value)
