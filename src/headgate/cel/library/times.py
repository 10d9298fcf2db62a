"""Timestamps and durations: their texts, and the parts of a timestamp in a time zone."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from headgate.cel.core import values
from headgate.cel.core.errors import EvaluationError
from headgate.cel.core.values import NANOSECONDS
from headgate.cel.library.registry import Library

library = Library()

_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))\Z",
    re.ASCII,
)
_DURATION = re.compile(r"([+-]?)((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:h|ms|us|µs|μs|ns|m|s))+\Z", re.ASCII)
_DURATION_PART = re.compile(r"([0-9]*)\.?([0-9]*)(h|ms|us|µs|μs|ns|m|s)", re.ASCII)
_OFFSET = re.compile(r"([+-]?)(\d\d?):(\d\d)\Z", re.ASCII)
_UNITS = {
    "h": 3600 * NANOSECONDS,
    "m": 60 * NANOSECONDS,
    "s": NANOSECONDS,
    "ms": 1_000_000,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ns": 1,
}
_TEXT_LIMIT = 200


def parsed_timestamp(text: str) -> datetime:
    match = _TIMESTAMP.match(text) if len(text) <= _TEXT_LIMIT else None
    if match is None:
        raise EvaluationError(f"{values.render_key(text)} is not a timestamp such as 2030-01-31T08:00:00Z")
    fraction, sign, hours, minutes = match.group(7, 8, 9, 10)
    year, month, day, hour, minute, second = map(int, match.group(1, 2, 3, 4, 5, 6))
    leap = second == 60
    try:
        moment = datetime(year, month, day, hour, minute, second - leap, tzinfo=UTC)
    except ValueError as error:
        raise EvaluationError(f"{values.render_key(text)} is not a timestamp: {error}") from None
    nanoseconds = (
        values.timestamp_nanoseconds(moment) + int((fraction or "").ljust(9, "0")) + leap * NANOSECONDS
    )
    if sign:
        offset = (int(hours) * 60 + int(minutes)) * 60 * NANOSECONDS
        nanoseconds -= offset if sign == "+" else -offset
    return values.timestamp(nanoseconds)


def parsed_duration(text: str) -> timedelta:
    if text in ("0", "+0", "-0"):
        return timedelta()
    match = _DURATION.match(text) if len(text) <= _TEXT_LIMIT else None
    if match is None:
        raise EvaluationError(f"{values.render_key(text)} is not a duration such as 1h30m, 90s or 250ms")
    total = 0
    for whole, fraction, unit in _DURATION_PART.findall(text):
        total += int(whole or "0") * _UNITS[unit]
        if fraction:
            total += int(fraction) * _UNITS[unit] // 10 ** len(fraction)
    return values.duration(-total if match.group(1) == "-" else total)


def _fraction(nanoseconds: int) -> str:
    """Three, six or nine digits, as many as are needed; nothing for none."""
    digits = f"{nanoseconds:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}" if digits else ""


def timestamp_text(value: datetime) -> str:
    seconds, nanoseconds = divmod(values.timestamp_nanoseconds(value), NANOSECONDS)
    moment = (values.EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None)
    return f"{moment.isoformat()}{_fraction(nanoseconds)}Z"


def duration_text(value: timedelta) -> str:
    total = values.duration_nanoseconds(value)
    seconds, nanoseconds = divmod(abs(total), NANOSECONDS)
    return f"{'-' if total < 0 else ''}{seconds}{_fraction(nanoseconds)}s"


def zone(name: str) -> tzinfo:
    """An IANA zone, or an offset such as -09:30."""
    offset = _OFFSET.match(name)
    if offset is not None:
        sign, hours, minutes = offset.groups()
        distance = timedelta(hours=int(hours), minutes=int(minutes))
        if distance < timedelta(hours=24):
            return timezone(-distance if sign == "-" else distance)
    elif name in ("UTC", ""):
        return UTC
    elif len(name) <= _TEXT_LIMIT:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass
    raise EvaluationError(f"{values.render_key(name)} is not a time zone; Europe/Berlin or +02:00 would be")


def _local(value: datetime, name: str) -> datetime:
    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    try:
        return aware.astimezone(zone(name))
    except OverflowError:
        raise EvaluationError("timestamp out of range in that time zone") from None


def _part(
    name: str, of_timestamp: Callable[[datetime], int], of_duration: Callable[[int], int] | None
) -> None:
    def part(value: object, zone_name: object = "UTC") -> int:
        if isinstance(value, datetime) and isinstance(zone_name, str):
            return of_timestamp(_local(value, zone_name))
        if isinstance(value, timedelta) and of_duration is not None:
            nanoseconds = values.duration_nanoseconds(value)
            return of_duration(abs(nanoseconds)) * (-1 if nanoseconds < 0 else 1)
        raise values.no_overload(name, value, zone_name)

    library.function(name, 1, 2)(part)


def _milliseconds(moment: datetime) -> int:
    return moment.microsecond // 1000


_part("getFullYear", lambda moment: moment.year, None)
_part("getMonth", lambda moment: moment.month - 1, None)
_part("getDate", lambda moment: moment.day, None)
_part("getDayOfMonth", lambda moment: moment.day - 1, None)
_part("getDayOfWeek", lambda moment: moment.isoweekday() % 7, None)
_part("getDayOfYear", lambda moment: moment.timetuple().tm_yday - 1, None)
_part("getHours", lambda moment: moment.hour, lambda nanoseconds: nanoseconds // (3600 * NANOSECONDS))
_part("getMinutes", lambda moment: moment.minute, lambda nanoseconds: nanoseconds // (60 * NANOSECONDS))
_part("getSeconds", lambda moment: moment.second, lambda nanoseconds: nanoseconds // NANOSECONDS)
_part("getMilliseconds", _milliseconds, lambda nanoseconds: nanoseconds % NANOSECONDS // 1_000_000)
