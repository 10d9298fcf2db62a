"""Moments and spans of time as whole microseconds, so that equal inputs give equal decisions to the last bit."""

import functools
import re
from datetime import UTC, datetime, timedelta, timezone

Instant = int

MICROSECONDS_PER_SECOND = 1_000_000
_SECONDS_PER_DAY = 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_DURATION_SECONDS = 100 * 366 * 86_400

_RFC3339 = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:([Zz])|([+-])(\d{2}):(\d{2}))",
    re.ASCII,
)
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|m|h|d|w)", re.ASCII)
_UNIT_MICROSECONDS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
    "w": 7 * 86_400_000_000,
}


def parse(text: str) -> Instant:
    """Digits beyond microseconds are cut off, never rounded up into the future."""
    match = _RFC3339.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a time in RFC 3339, such as 2026-03-01T09:00:00Z")
    year, month, day, hour, minute, second = (int(group) for group in match.groups()[:6])
    fraction, _, sign, offset_hours, offset_minutes = match.groups()[6:]
    microsecond = int((fraction or "0").ljust(6, "0")[:6])
    offset = timedelta()
    if sign is not None:
        offset = timedelta(hours=int(offset_hours), minutes=int(offset_minutes))
        offset = -offset if sign == "-" else offset
    try:
        moment = datetime(year, month, day, hour, minute, second, microsecond, tzinfo=timezone(offset))
        return from_datetime(moment.astimezone(UTC))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text!r} is not a time that exists: {error}") from None


@functools.lru_cache(maxsize=1024)
def show(instant: Instant) -> str:
    """Remembered: all that is written in one pass carries the same few moments."""
    moment = to_datetime(instant)
    text = moment.replace(microsecond=0, tzinfo=None).isoformat()
    if moment.microsecond:
        text += f".{moment.microsecond:06d}".rstrip("0")
    return text + "Z"


def show_to_the_second(instant: Instant) -> str:
    """For sentences, where nobody wants the microseconds of a real clock."""
    return show(instant - instant % MICROSECONDS_PER_SECOND)


def show_clock(instant: Instant, *, near: Instant | None = None) -> str:
    """The short form for sentences; `near` adds the date when that moment is on another day."""
    second_of_day = instant // MICROSECONDS_PER_SECOND % _SECONDS_PER_DAY
    minute_of_day, second = divmod(second_of_day, 60)
    text = f"{minute_of_day // 60:02}:{minute_of_day % 60:02}" + (f":{second:02}" if second else "")
    is_far = near is not None and _day(near) != _day(instant)
    return f"{to_datetime(instant).date().isoformat()} {text}" if is_far else text


def _day(instant: Instant) -> int:
    return instant // (MICROSECONDS_PER_SECOND * _SECONDS_PER_DAY)


def to_datetime(instant: Instant) -> datetime:
    return _EPOCH + timedelta(microseconds=instant)


def from_datetime(moment: datetime) -> Instant:
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no zone")
    return (moment - _EPOCH) // timedelta(microseconds=1)


def seconds(count: int | float) -> int:
    if isinstance(count, int):
        return count * MICROSECONDS_PER_SECOND
    return round(count * MICROSECONDS_PER_SECOND)


def minutes(count: int | float) -> int:
    return seconds(count * 60)


def hours(count: int | float) -> int:
    return seconds(count * 3_600)


def parse_duration(text: str) -> int:
    stripped = text.strip()
    total = 0
    end = 0
    for match in _DURATION_PART.finditer(stripped):
        if match.start() != end:
            break
        number, unit = match.groups()
        total += _in_microseconds(number, unit)
        end = match.end()
    if not stripped or end != len(stripped):
        raise ValueError(f"{text!r} is not a duration such as 45s, 8m, 1h30m, 72h, 1d or 500ms")
    if total > seconds(_LONGEST_DURATION_SECONDS):
        raise ValueError(f"{text!r} is longer than 100 years")
    return total


def _in_microseconds(number: str, unit: str) -> int:
    whole, _, fraction = number.partition(".")
    scale = _UNIT_MICROSECONDS[unit]
    if len(whole) > 18 or len(fraction) > 18:
        raise ValueError(f"{number[:20]}{unit} has too many digits for a duration")
    return int(whole) * scale + (int(fraction) * scale // 10 ** len(fraction) if fraction else 0)


def show_duration(span: int) -> str:
    if span < 0:
        return "-" + show_duration(-span)
    parts: list[str] = []
    for unit in ("d", "h", "m", "s", "ms", "us"):
        count, span = divmod(span, _UNIT_MICROSECONDS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
