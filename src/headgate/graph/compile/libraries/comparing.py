"""Methods that several kinds of values share, sent to the value that was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headgate import cel


def method(name: str, *, arguments: int = 0, result: cel.Type = cel.DYN) -> cel.Function:
    """A CEL method that is the Python method of the same name in snake case."""
    attribute = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    attribute = attribute.replace("_i_p", "_ip").replace("_c_i_d_r", "_cidr")
    return cel.Function(name, (cel.DYN,) * (1 + arguments), result, _sent(name, attribute), member=True)


def is_read_by(parse: Callable[[str], object]) -> Callable[[str], bool]:
    """Whether a text can be parsed, for the `is...` beside every type."""

    def is_read(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return is_read


def _sent(name: str, attribute: str) -> Callable[..., object]:
    def call(receiver: Any, *arguments: Any) -> object:
        implementation = getattr(receiver, f"cel_{attribute}", None)
        if implementation is None:
            raise cel.EvaluationError(
                f"no such overload: {name}() of a value of type {type(receiver).__name__}"
            )
        return implementation(*arguments)

    return call


class Comparable:
    """Gives isLessThan, isGreaterThan and compareTo to what has an order and an `order` of its own."""

    __slots__ = ()

    @property
    def order(self) -> Any:
        raise NotImplementedError

    def cel_is_less_than(self, other: Any) -> bool:
        return bool(self.order < self._order_of(other))

    def cel_is_greater_than(self, other: Any) -> bool:
        return bool(self.order > self._order_of(other))

    def cel_compare_to(self, other: Any) -> int:
        theirs = self._order_of(other)
        return int(self.order > theirs) - int(self.order < theirs)

    def _order_of(self, other: Any) -> Any:
        if type(other) is not type(self):
            raise cel.EvaluationError(f"{type(self).__name__} and {type(other).__name__} cannot be compared")
        return other.order

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and bool(self.order == other.order)

    def __hash__(self) -> int:
        return hash(self.order)


FUNCTIONS = (
    method("isLessThan", arguments=1, result=cel.BOOL),
    method("isGreaterThan", arguments=1, result=cel.BOOL),
    method("compareTo", arguments=1, result=cel.INT),
)
