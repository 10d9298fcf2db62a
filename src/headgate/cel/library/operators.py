"""The operators that are strict, and reading by index and by optional field."""

from __future__ import annotations

import operator

from headgate.cel.core import access, arithmetic, equality, values
from headgate.cel.core.meter import Meter
from headgate.cel.core.values import Optional
from headgate.cel.library.registry import Library

library = Library()
mixed_library = Library()

library.metered("_+_", 2)(arithmetic.add)
library.function("_-_", 2)(arithmetic.subtract)
library.function("_*_", 2)(arithmetic.multiply)
library.function("_/_", 2)(arithmetic.divide)
library.function("_%_", 2)(arithmetic.modulo)
library.function("-_", 1)(arithmetic.negate)

mixed_library.metered("_+_", 2)(arithmetic.mixing_metered(arithmetic.add))
mixed_library.function("_-_", 2)(arithmetic.mixing(arithmetic.subtract))
mixed_library.function("_*_", 2)(arithmetic.mixing(arithmetic.multiply))
mixed_library.function("_/_", 2)(arithmetic.mixing(arithmetic.divide))

library.function("_<_", 2)(arithmetic.ordered("_<_", operator.lt))
library.function("_<=_", 2)(arithmetic.ordered("_<=_", operator.le))
library.function("_>_", 2)(arithmetic.ordered("_>_", operator.gt))
library.function("_>=_", 2)(arithmetic.ordered("_>=_", operator.ge))

library.metered("_==_", 2)(equality.equal)
library.metered("@in", 2)(access.contains_element)
library.function("_[_]", 2)(access.index)
library.function("_?._", 2)(access.optional_field)
library.function("_[?_]", 2)(access.optional_index)
library.function("size", 1)(access.size)


@library.metered("_!=_", 2)
def _unequal(meter: Meter, left: object, right: object) -> bool:
    return not equality.equal(meter, left, right)


@library.function("!_", 1)
def _not(operand: object) -> bool:
    return not access.truth(operand)


@library.function("dyn", 1)
def _dyn(value: object) -> object:
    return value


@library.function("type", 1)
def _type(value: object) -> values.TypeValue:
    return values.TypeValue(values.kind(value))


@library.function("optional.of", 1)
def _optional_of(value: object) -> Optional:
    return Optional(value)


@library.function("optional.none", 0)
def _optional_none() -> Optional:
    return values.NONE


@library.function("optional.ofNonZeroValue", 1)
def _optional_of_non_zero(value: object) -> Optional:
    zero = value is None or value is False or (values.kind(value) != values.TIMESTAMP and not value)
    if values.kind(value) == values.TIMESTAMP:
        zero = values.timestamp_nanoseconds(value) == 0  # type: ignore[arg-type]
    return values.NONE if zero else Optional(value)


def _optional(function: str, value: object) -> Optional:
    if isinstance(value, Optional):
        return value
    raise values.no_overload(function, value)


@library.function("hasValue", 1)
def _has_value(value: object) -> bool:
    return _optional("hasValue", value).present


@library.function("value", 1)
def _value(value: object) -> object:
    return _optional("value", value).content
