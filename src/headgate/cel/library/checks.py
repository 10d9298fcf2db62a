"""Arguments of an expected type, or a run-time error that names the function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from headgate.cel.core import values


def text(function: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise values.no_overload(function, value)


def integer(function: str, value: object) -> int:
    if values.kind(value) == "int":
        return cast(int, value)
    raise values.no_overload(function, value)


def sequence(function: str, value: object) -> Sequence[object]:
    if values.kind(value) == "list":
        return cast(Sequence[object], value)
    raise values.no_overload(function, value)


def double(function: str, value: object) -> float:
    if isinstance(value, float):
        return value
    raise values.no_overload(function, value)
