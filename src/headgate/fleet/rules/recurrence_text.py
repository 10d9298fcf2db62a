"""The text of a recurrence: `FREQ=WEEKLY;BYDAY=MO`, with or without DTSTART, RDATE and EXDATE lines around it."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, get_args
from zoneinfo import ZoneInfo

import msgspec

from headgate.fleet.rules.recurrence_calendar import Frequency, RecurrenceRule

EARLIEST = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall time
LATEST = datetime(2199, 12, 31)  # noqa: DTZ001 - a wall time
"""Stands for everything after it, such as an UNTIL in the year 9999."""

ANCHOR = datetime(2024, 1, 1)  # noqa: DTZ001 - a wall time
"""Where a recurrence without DTSTART begins. A Monday, at midnight, on the first day of a year and of a month: what the
rule leaves open is then minute 0, hour 0, Monday, the first; and INTERVAL counts alike at every restart."""

LONGEST_TEXT = 4_000
MOST_OCCURRENCES = 10_000
MOST_STARTS_PER_DAY = 1_440

_FREQUENCIES: tuple[Frequency, ...] = get_args(Frequency)
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_NUMBER_LISTS: dict[str, tuple[str, int, int, bool]] = {
    "BYSECOND": ("seconds", 0, 59, False),
    "BYMINUTE": ("minutes", 0, 59, False),
    "BYHOUR": ("hours", 0, 23, False),
    "BYMONTHDAY": ("month_days", 1, 31, True),
    "BYYEARDAY": ("year_days", 1, 366, True),
    "BYWEEKNO": ("week_numbers", 1, 53, True),
    "BYMONTH": ("months", 1, 12, False),
    "BYSETPOS": ("set_positions", 1, 366, True),
}
_KEYS = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", "WKST", *_NUMBER_LISTS)
_DATE_PARTS = ("month_days", "year_days", "week_numbers", "weekdays")
_WEEKDAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)", re.ASCII)
_MOMENT = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z)?)?", re.ASCII)


class RecurrenceText(msgspec.Struct, frozen=True):
    """All times are wall times of the zone."""

    zone_name: str
    rule: RecurrenceRule
    added: tuple[datetime, ...] = ()
    excluded: tuple[datetime, ...] = ()


def parse(text: str, zone_name: str) -> RecurrenceText:
    """Raises ValueError with a sentence that names the part, its value and what is allowed."""
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"is {len(text)} characters long; allowed are {LONGEST_TEXT}")
    lines = _Lines(zone_name)
    for line in text.replace("\\n", "\n").split():
        lines.take(line)
    if lines.rule is None:
        raise ValueError("has no rule; allowed is RFC 5545, such as FREQ=WEEKLY;BYDAY=MO;BYHOUR=9")
    return _assemble(lines)


def zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise ValueError(
            f'"{name[:80]}" is not a known time zone; allowed are IANA names, such as Europe/Berlin or UTC'
        ) from None


class _Lines:
    """The lines of the text as they come in; the zone of DTSTART, if it has one, is the zone of the rule."""

    def __init__(self, zone_name: str) -> None:
        self.zone_name = zone_name
        self.rule: dict[str, str] | None = None
        self.start: str | None = None
        self.added: list[tuple[str, str | None]] = []
        self.excluded: list[tuple[str, str | None]] = []

    def take(self, line: str) -> None:
        name, separator, value = line.partition(":")
        if not separator:
            name, value = "RRULE", line
        name, *parameters = name.upper().split(";") if name.upper().startswith("RRULE") else name.split(";")
        name = name.upper()
        if name == "RRULE":
            self._take_rule(value)
        elif name == "DTSTART":
            self._take_start(value, parameters)
        elif name in ("EXDATE", "RDATE"):
            target = self.excluded if name == "EXDATE" else self.added
            target.extend((moment, _zone_parameter(parameters)) for moment in value.split(","))
        else:
            raise ValueError(f'has the line "{name[:40]}"; allowed are DTSTART, RRULE, RDATE, EXDATE')

    def _take_rule(self, value: str) -> None:
        if self.rule is not None:
            raise ValueError("has more than one RRULE; write one rule for each")
        self.rule = {}
        for part in value.upper().rstrip(";").split(";"):
            key, separator, setting = part.partition("=")
            if not separator or not setting:
                raise ValueError(
                    f'"{part[:40]}" is not KEY=VALUE; allowed is RFC 5545, such as FREQ=DAILY;BYHOUR=9'
                )
            if key not in _KEYS:
                raise ValueError(f"has the key {key[:40]}; allowed are {', '.join(_KEYS)}")
            if key in self.rule:
                raise ValueError(f"has {key} twice")
            self.rule[key] = setting

    def _take_start(self, value: str, parameters: Sequence[str]) -> None:
        if self.start is not None:
            raise ValueError("has more than one DTSTART")
        self.start = value
        own_zone = _zone_parameter(parameters)
        if own_zone is not None:
            self.zone_name = own_zone
        elif value.upper().endswith("Z"):
            self.zone_name = "UTC"


def _zone_parameter(parameters: Sequence[str]) -> str | None:
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.upper() == "TZID":
            return value.strip('"')
    return None


def _assemble(lines: _Lines) -> RecurrenceText:
    own_zone = zone(lines.zone_name)
    given = lines.rule or {}
    start = ANCHOR if lines.start is None else _wall("DTSTART", lines.start, own_zone)
    if not EARLIEST.year < start.year < LATEST.year - 100:
        raise ValueError(
            f"DTSTART is in the year {start.year}; allowed are {EARLIEST.year + 1} to {LATEST.year - 101}"
        )
    if "COUNT" in given and "UNTIL" in given:
        raise ValueError("has COUNT and UNTIL; RFC 5545 allows one of them")
    frequency = _frequency(given)
    interval = _whole("INTERVAL", given.get("INTERVAL", "1"), 1, 10_000)
    rule = RecurrenceRule(
        frequency=frequency,
        start=start,
        interval=interval,
        count=_whole("COUNT", given["COUNT"], 1, MOST_OCCURRENCES) if "COUNT" in given else None,
        until=_until(given["UNTIL"], own_zone) if "UNTIL" in given else None,
        week_start=_week_start(given.get("WKST", "MO")),
        **_parts(given, frequency, start),
    )
    _refuse_unreachable(rule)
    return RecurrenceText(
        zone_name=lines.zone_name,
        rule=rule,
        added=tuple(_all_walls("RDATE", lines.added, own_zone)),
        excluded=tuple(_all_walls("EXDATE", lines.excluded, own_zone)),
    )


def _frequency(given: dict[str, str]) -> Frequency:
    for frequency in _FREQUENCIES:
        if given.get("FREQ") == frequency:
            return frequency
    what = f"FREQ is {given['FREQ'][:40]}" if "FREQ" in given else "has no FREQ"
    raise ValueError(f"{what}; allowed are {', '.join(_FREQUENCIES)}")


def _parts(given: dict[str, str], frequency: Frequency, start: datetime) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for key, (name, low, high, signed) in _NUMBER_LISTS.items():
        if key in given:
            parts[name] = _numbers(key, given[key], low, high, signed)
    if "BYDAY" in given:
        parts["weekdays"] = _weekdays(given["BYDAY"], frequency)
    if list(parts) == ["set_positions"]:
        raise ValueError("has BYSETPOS alone; RFC 5545 allows it together with another BY rule only")
    if "week_numbers" in parts and frequency != "YEARLY":
        raise ValueError("has BYWEEKNO; RFC 5545 allows it with FREQ=YEARLY only")
    _fill_from_start(parts, frequency, start)
    _refuse_crowded_days(parts)
    return parts


def _fill_from_start(parts: dict[str, Any], frequency: Frequency, start: datetime) -> None:
    if not any(part in parts for part in _DATE_PARTS):
        if frequency == "YEARLY":
            parts.setdefault("months", frozenset({start.month}))
        if frequency in ("YEARLY", "MONTHLY"):
            parts["month_days"] = frozenset({start.day})
        elif frequency == "WEEKLY":
            parts["weekdays"] = frozenset({(0, start.weekday())})
    if frequency not in ("HOURLY", "MINUTELY"):
        parts.setdefault("hours", frozenset({start.hour}))
    if frequency != "MINUTELY":
        parts.setdefault("minutes", frozenset({start.minute}))
    parts.setdefault("seconds", frozenset({start.second}))


def _refuse_crowded_days(parts: dict[str, Any]) -> None:
    starts = len(parts.get("hours", range(24))) * len(parts.get("minutes", range(60))) * len(parts["seconds"])
    if starts > MOST_STARTS_PER_DAY:
        raise ValueError(f"starts up to {starts} times a day; allowed are {MOST_STARTS_PER_DAY}")


def _refuse_unreachable(rule: RecurrenceRule) -> None:
    """Rules without occurrences that a search would take long to find out."""
    per_hour = len(rule.minutes) * len(rule.seconds)
    largest = {"MINUTELY": len(rule.seconds), "HOURLY": per_hour}.get(
        rule.frequency, 366 * len(rule.hours) * per_hour
    )
    if rule.set_positions and min(map(abs, rule.set_positions)) > largest:
        raise ValueError(
            f"BYSETPOS is beyond the {largest} that FREQ={rule.frequency} has in each step: it never happens"
        )
    if rule.frequency not in ("HOURLY", "MINUTELY"):
        return
    unit = 60 if rule.frequency == "HOURLY" else 1
    anchor = (rule.start.hour * 60 + rule.start.minute) // unit
    stride = math.gcd(rule.interval, 1_440 // unit)
    minutes = (rule.minutes or range(60)) if unit == 1 else (0,)
    if all(
        (hour * 60 + minute) // unit % stride != anchor % stride
        for hour in rule.hours or range(24)
        for minute in minutes
    ):
        raise ValueError(f"INTERVAL={rule.interval} steps over every BYHOUR and BYMINUTE: it never happens")


def _whole(key: str, text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
        raise ValueError(f"{key} is {text[:40]}; allowed are whole numbers from {low} to {high}")
    return int(text)


def _numbers(key: str, text: str, low: int, high: int, signed: bool) -> frozenset[int]:
    allowed = f"{low} to {high}" + (f" and -{high} to -{low}" if signed else "")
    numbers: list[int] = []
    for item in text.split(","):
        digits = item.lstrip("+-") if signed else item
        if not (digits.isascii() and digits.isdigit() and len(item) <= 4 and low <= int(digits) <= high):
            raise ValueError(f"{key} has {item[:40] or 'an empty item'}; allowed are {allowed}")
        numbers.append(int(item))
    return frozenset(numbers)


def _week_start(text: str) -> int:
    if text not in _WEEKDAYS:
        raise ValueError(f"WKST is {text[:40]}; allowed are {', '.join(_WEEKDAYS)}")
    return _WEEKDAYS.index(text)


def _weekdays(text: str, frequency: Frequency) -> frozenset[tuple[int, int]]:
    weekdays: set[tuple[int, int]] = set()
    for item in text.split(","):
        match = _WEEKDAY.fullmatch(item)
        if match is None:
            allowed = f"{', '.join(_WEEKDAYS)}, and such as 1MO or -1FR"
            raise ValueError(f"BYDAY has {item[:40] or 'an empty item'}; allowed are {allowed}")
        place = int(match.group(1) or 0)
        if match.group(1) is not None and not 1 <= abs(place) <= 53:
            raise ValueError(f"BYDAY has {item}; allowed are 1 to 53 and -53 to -1 before the day")
        if place and frequency not in ("MONTHLY", "YEARLY"):
            raise ValueError(
                f"BYDAY has {item}; RFC 5545 allows a number with FREQ=MONTHLY and FREQ=YEARLY only"
            )
        weekdays.add((place, _WEEKDAYS.index(match.group(2))))
    return frozenset(weekdays)


def _wall(
    key: str, text: str, own_zone: ZoneInfo, of_date: Callable[[datetime], datetime] | None = None
) -> datetime:
    match = _MOMENT.fullmatch(text.upper())
    if match is None:
        raise ValueError(f"{key} is {text[:40]}; allowed is such as 20260301T090000 or 20260301T090000Z")
    *numbers, utc = match.groups()
    try:
        wall = datetime(*(int(number or 0) for number in numbers))  # type: ignore[arg-type]  # noqa: DTZ001
    except ValueError:
        raise ValueError(f"{key} is {text[:40]}, which is not a date that exists") from None
    if wall.year <= EARLIEST.year:
        raise ValueError(f"{key} is {text[:40]}; allowed are years after {EARLIEST.year}")
    if wall >= LATEST:
        return LATEST
    if utc:
        return wall.replace(tzinfo=UTC).astimezone(own_zone).replace(tzinfo=None)
    return of_date(wall) if of_date is not None and match.group(4) is None else wall


def _until(text: str, own_zone: ZoneInfo) -> datetime:
    """A bare date means the whole day."""
    return _wall("UNTIL", text, own_zone, lambda day: day.replace(hour=23, minute=59, second=59))


def _all_walls(key: str, moments: Sequence[tuple[str, str | None]], own_zone: ZoneInfo) -> Iterator[datetime]:
    for text, zone_name in moments:
        if zone_name is None:
            yield _wall(key, text, own_zone)
            continue
        other = zone(zone_name)
        wall = _wall(key, text, other)
        yield wall.replace(tzinfo=other).astimezone(own_zone).replace(tzinfo=None)
