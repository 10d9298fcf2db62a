"""What a call in an expression calls: a custom function, or one of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headgate.cel.core import values
from headgate.cel.core.errors import EvaluationError
from headgate.cel.core.meter import Meter
from headgate.cel.functions import Function
from headgate.cel.library.registry import Implementation


@dataclass(frozen=True, slots=True)
class Callees:
    """Every function that an environment offers."""

    standard: Mapping[str, Implementation]
    custom: Mapping[tuple[str, bool, int], tuple[Function, ...]]

    def is_custom(self, name: str, member: bool, arity: int) -> bool:
        return (name, member, arity) in self.custom

    def implementation(self, name: str, member: bool, arity: int) -> Implementation:
        """What answers a call; where nothing does, an implementation that says so when it is reached."""
        overloads = self.custom.get((name, member, arity), ())
        standard = self.standard.get(name)
        if standard is not None and arity not in standard.arities:
            standard = None
        if overloads:
            return Implementation(_overloaded(overloads, standard), True, frozenset((arity,)))
        return standard or Implementation(_unknown(name), False, frozenset((arity,)))


def custom_by_shape(functions: Sequence[Function]) -> dict[tuple[str, bool, int], tuple[Function, ...]]:
    by_shape: dict[tuple[str, bool, int], tuple[Function, ...]] = {}
    for function in functions:
        shape = (function.name, function.member, len(function.parameters))
        by_shape[shape] = (*by_shape.get(shape, ()), function)
    return by_shape


def _overloaded(overloads: tuple[Function, ...], standard: Implementation | None) -> Callable[..., Any]:
    def call(meter: Meter, *arguments: object) -> object:
        meter.charge(1)
        for function in overloads:
            if function.accepts(arguments):
                return _guarded(function, arguments)
        if standard is None:
            raise values.no_overload(overloads[0].name, *arguments)
        return standard.call(meter, *arguments) if standard.metered else standard.call(*arguments)

    return call


def _guarded(function: Function, arguments: tuple[object, ...]) -> object:
    try:
        return function.call(*arguments)
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise EvaluationError(f"{function.name}: {error}") from error


def _unknown(name: str) -> Callable[..., Any]:
    def call(*arguments: object) -> object:
        raise EvaluationError(f"no such function: {name} of {len(arguments)} arguments")

    return call
