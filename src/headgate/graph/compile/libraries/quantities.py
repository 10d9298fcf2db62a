"""quantity: amounts such as 500m, 1.5Gi or 3e2, exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from headgate import cel
from headgate.cel.core import values
from headgate.graph.compile.libraries.comparing import Comparable, is_read_by, method
from headgate.kernel import amounts


class ResourceQuantity(Comparable):
    __slots__ = ("amount",)

    def __init__(self, amount: Fraction) -> None:
        self.amount = amount

    @property
    def order(self) -> Fraction:
        return self.amount

    def cel_is_integer(self) -> bool:
        return self.amount.denominator == 1 and values.INT_MINIMUM <= self.amount <= values.INT_MAXIMUM

    def cel_as_integer(self) -> int:
        if not self.cel_is_integer():
            raise cel.EvaluationError("the quantity is not a 64-bit integer")
        return int(self.amount)

    def cel_as_approximate_float(self) -> float:
        return float(self.amount)

    def cel_sign(self) -> int:
        return (self.amount > 0) - (self.amount < 0)

    def cel_add(self, other: Any) -> ResourceQuantity:
        return ResourceQuantity(self.amount + _amount(other))

    def cel_sub(self, other: Any) -> ResourceQuantity:
        return ResourceQuantity(self.amount - _amount(other))


def _amount(value: Any) -> Fraction | int:
    if isinstance(value, ResourceQuantity):
        return value.amount
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise cel.EvaluationError(f"a quantity or an integer is needed, not {values.kind(value)}")


def parse(text: str) -> ResourceQuantity:
    amount = amounts.parse(text)
    if amount is None:
        raise ValueError(f"{values.render_key(text)} is not a quantity such as 500m, 1.5Gi or 3e2")
    return ResourceQuantity(amount)


FUNCTIONS = (
    cel.Function("quantity", (cel.STRING,), cel.DYN, parse),
    cel.Function("isQuantity", (cel.STRING,), cel.BOOL, is_read_by(parse)),
    method("isInteger", result=cel.BOOL),
    method("asInteger", result=cel.INT),
    method("asApproximateFloat", result=cel.DOUBLE),
    method("sign", result=cel.INT),
    method("add", arguments=1),
    method("sub", arguments=1),
)
