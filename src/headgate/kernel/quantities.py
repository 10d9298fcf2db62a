"""A number of things, or a share of however many there are: `3` or `"10%"`."""

import re
from typing import Literal

import msgspec

_PERCENT = re.compile(r"(\d{1,3})%", re.ASCII)
ALLOWED = 'a whole number such as 3, or a percentage from "0%" to "100%"'


class Quantity(msgspec.Struct, frozen=True):
    value: int
    is_percentage: bool = False

    def resolve(self, total: int, rounding: Literal["up", "down"]) -> int:
        if not self.is_percentage:
            return self.value
        share = total * self.value
        return -(-share // 100) if rounding == "up" else share // 100

    def __str__(self) -> str:
        return f"{self.value}%" if self.is_percentage else str(self.value)

    def to_document(self) -> int | str:
        return str(self) if self.is_percentage else self.value

    @classmethod
    def from_document(cls, value: object) -> "Quantity":
        return parse(value)


def parse(value: object) -> Quantity:
    """JSON has one kind of numbers: 3.0 is a whole one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 <= value < 2**31:
            raise ValueError(f"{value} is out of range; allowed is {ALLOWED}")
        return Quantity(value)
    if isinstance(value, str):
        match = _PERCENT.fullmatch(value)
        if match is not None and int(match.group(1)) <= 100:
            return Quantity(int(match.group(1)), is_percentage=True)
    raise ValueError(f"{value!r} is not a quantity; allowed is {ALLOWED}")
