"""Amounts of resources as Kubernetes writes them, such as 500m, 1.5Gi or 3e2, exact."""

from __future__ import annotations

import re
from fractions import Fraction

_NOTATION = re.compile(
    r"(?P<sign>[+-]?)(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
    r"(?:(?P<binary>[KMGTPE]i)|(?P<decimal>[numkMGTPE])|[eE](?P<exponent>[+-]?[0-9]{1,3}))?"
)
_BINARY = {suffix: 1024**power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)}
_DECIMAL = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
}
_NANO = 10**9
_LONGEST = 100


def parse(text: str) -> Fraction | None:
    """None for what is no amount."""
    match = _NOTATION.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    amount = Fraction(match["number"])
    if match["binary"]:
        amount *= _BINARY[match["binary"]]
    elif match["decimal"]:
        amount *= _DECIMAL[match["decimal"]]
    elif match["exponent"]:
        amount *= Fraction(10) ** int(match["exponent"])
    # Kubernetes keeps no less than a nano and rounds up, away from zero.
    if amount * _NANO != int(amount * _NANO):
        amount = Fraction(int(amount * _NANO) + 1, _NANO)
    return -amount if match["sign"] == "-" else amount


def is_same(value: object, other: object) -> bool:
    """Whether an API server may have rewritten the one as the other: 1000m comes back as 1, the number 1 as the text."""
    amounts = [
        parse(str(each))
        for each in (value, other)
        if isinstance(each, str | int | float) and not isinstance(each, bool)
    ]
    return len(amounts) == 2 and amounts[0] is not None and amounts[0] == amounts[1]
