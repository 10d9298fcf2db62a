"""int, uint, double, string, bytes, bool, timestamp and duration as functions."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from headgate.cel.core import arithmetic, values
from headgate.cel.core.errors import EvaluationError
from headgate.cel.core.meter import Meter
from headgate.cel.library import numerals, times
from headgate.cel.library.registry import Library

library = Library()

_INTEGER = re.compile(r"\s{0,9}[+-]?[0-9]{1,30}\s{0,9}\Z", re.ASCII)
_UNSIGNED = re.compile(r"\s{0,9}\+?[0-9]{1,30}\s{0,9}\Z", re.ASCII)
_DOUBLE = re.compile(
    r"\s{0,9}[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|(?i:inf|infinity|nan))\s{0,9}\Z",
    re.ASCII,
)
_TRUE = frozenset(("1", "t", "true", "TRUE", "True"))
_FALSE = frozenset(("0", "f", "false", "FALSE", "False"))


def _unconvertible(target: str, value: object) -> EvaluationError:
    return EvaluationError(f"{values.render_key(value)} cannot be converted to {target}")


@library.function("int", 1)
def _int(value: Any) -> int:
    match values.kind(value):
        case "int":
            return int(value)
        case "uint":
            return values.checked_int(int(value))
        case "double":
            if -(2.0**63) < value < 2.0**63:
                return int(value)
            raise _unconvertible("int", value)
        case "string":
            if _INTEGER.match(value):
                return values.checked_int(int(value))
            raise _unconvertible("int", value)
        case values.TIMESTAMP:
            return values.timestamp_nanoseconds(value) // values.NANOSECONDS
    raise values.no_overload("int", value)


@library.function("uint", 1)
def _uint(value: Any) -> values.Uint:
    match values.kind(value):
        case "int" | "uint":
            return values.checked_uint(int(value))
        case "double":
            if 0.0 <= value < 2.0**64:
                return values.Uint(int(value))
            raise _unconvertible("uint", value)
        case "string":
            if _UNSIGNED.match(value):
                return values.checked_uint(int(value))
            raise _unconvertible("uint", value)
    raise values.no_overload("uint", value)


@library.function("double", 1)
def _double(value: Any) -> float:
    match values.kind(value):
        case "int" | "uint" | "double":
            return float(value)
        case "string":
            if _DOUBLE.match(value):
                return float(value)
            raise _unconvertible("double", value)
    raise values.no_overload("double", value)


@library.metered("string", 1)
def _string(meter: Meter, value: Any) -> str:
    match values.kind(value):
        case "string":
            return str(value)
        case "bool":
            return "true" if value else "false"
        case "int" | "uint":
            return str(int(value))
        case "double":
            return numerals.shortest(value)
        case "bytes":
            arithmetic.produced_text(meter, len(value))
            try:
                return str(value, "utf-8")
            except UnicodeDecodeError:
                raise EvaluationError(
                    "the bytes are not UTF-8, so they cannot be converted to string"
                ) from None
        case values.TIMESTAMP:
            return times.timestamp_text(value)
        case values.DURATION:
            return times.duration_text(value)
        case values.OBJECT if hasattr(value, "__cel_string__"):
            return str(value.__cel_string__())
    raise values.no_overload("string", value)


@library.metered("bytes", 1)
def _bytes(meter: Meter, value: Any) -> bytes:
    match values.kind(value):
        case "bytes":
            return bytes(value)
        case "string":
            arithmetic.produced_text(meter, len(value))
            return str(value).encode("utf-8", "replace")
    raise values.no_overload("bytes", value)


@library.function("bool", 1)
def _bool(value: Any) -> bool:
    match values.kind(value):
        case "bool":
            return bool(value)
        case "string":
            if value in _TRUE or value in _FALSE:
                return value in _TRUE
            raise _unconvertible("bool", value)
    raise values.no_overload("bool", value)


@library.function("timestamp", 1)
def _timestamp(value: Any) -> datetime:
    match values.kind(value):
        case values.TIMESTAMP:
            return value  # type: ignore[no-any-return]
        case "int":
            return values.timestamp(value * values.NANOSECONDS)
        case "string":
            return times.parsed_timestamp(value)
    raise values.no_overload("timestamp", value)


@library.function("duration", 1)
def _duration(value: Any) -> timedelta:
    match values.kind(value):
        case values.DURATION:
            return value  # type: ignore[no-any-return]
        case "string":
            return times.parsed_duration(value)
    raise values.no_overload("duration", value)
