"""Numbers as text."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal


def special(value: float) -> str | None:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return None


def shortest(value: float) -> str:
    """The shortest text that reads back as the same double; from a million on with an exponent."""
    named = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}.get(special(value) or "")
    if named is not None:
        return named
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    written = "".join(map(str, digits)).rstrip("0") or "0"
    power = len(digits) + exponent - 1 if value else 0
    prefix = "-" if sign else ""
    if not -4 <= power < 6:
        mantissa = written[0] + ("." + written[1:] if len(written) > 1 else "")
        return f"{prefix}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"
    return prefix + f"{Decimal(repr(abs(value))):f}".removesuffix(".0")


_EXACT = Context(prec=2000, rounding=ROUND_HALF_EVEN)


def fixed(value: float | int, precision: int) -> str:
    named = special(value) if isinstance(value, float) else None
    return named or f"{_EXACT.create_decimal(value):.{precision}f}"


def scientific(value: float | int, precision: int) -> str:
    named = special(value) if isinstance(value, float) else None
    if named:
        return named
    mantissa, _, exponent = f"{Decimal(value):.{precision}e}".partition("e")
    sign, digits = exponent[0], exponent[1:]
    return f"{mantissa}e{sign}{digits.zfill(2)}"
