"""The text of a recurrence: `FREQ=WEEKLY;BYDAY=MO`, with or without DTSTART, RDATE and EXDATE lines around it."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from dateutil import rrule as dateutil_rrule

EARLIEST = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall time
LATEST = datetime(2199, 12, 31)  # noqa: DTZ001 - a wall time

ANCHOR = datetime(2024, 1, 1)  # noqa: DTZ001 - a wall time
"""Where a recurrence without DTSTART begins. A Monday, at midnight, on the first day of a year and of a month: what the
rule leaves open is then minute 0, hour 0, Monday, the first; and INTERVAL counts alike at every restart."""

LONGEST_TEXT = 4_000
MOST_OCCURRENCES = 10_000
MOST_STARTS_PER_DAY = 1_440

_FREQUENCIES: dict[str, Any] = {
    "YEARLY": dateutil_rrule.YEARLY,
    "MONTHLY": dateutil_rrule.MONTHLY,
    "WEEKLY": dateutil_rrule.WEEKLY,
    "DAILY": dateutil_rrule.DAILY,
    "HOURLY": dateutil_rrule.HOURLY,
    "MINUTELY": dateutil_rrule.MINUTELY,
}
_WEEKDAYS = {
    "MO": dateutil_rrule.MO,
    "TU": dateutil_rrule.TU,
    "WE": dateutil_rrule.WE,
    "TH": dateutil_rrule.TH,
    "FR": dateutil_rrule.FR,
    "SA": dateutil_rrule.SA,
    "SU": dateutil_rrule.SU,
}
_NUMBER_LISTS: dict[str, tuple[str, int, int, bool]] = {
    "BYSECOND": ("bysecond", 0, 59, False),
    "BYMINUTE": ("byminute", 0, 59, False),
    "BYHOUR": ("byhour", 0, 23, False),
    "BYMONTHDAY": ("bymonthday", 1, 31, True),
    "BYYEARDAY": ("byyearday", 1, 366, True),
    "BYWEEKNO": ("byweekno", 1, 53, True),
    "BYMONTH": ("bymonth", 1, 12, False),
    "BYSETPOS": ("bysetpos", 1, 366, True),
}
_KEYS = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", "WKST", *_NUMBER_LISTS)
_DATE_KEYS = ("bymonthday", "byyearday", "byweekno", "byweekday", "byeaster")
_WEEKDAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)", re.ASCII)
_MOMENT = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z)?)?", re.ASCII)


class RecurrenceText(msgspec.Struct, frozen=True):
    """All times are wall times of the zone. `parts` has no open choice left: what RFC 5545 takes from DTSTART is in it,
    so that the rule can be started anywhere along its own steps and gives the same occurrences."""

    zone_name: str
    start: datetime
    frequency: Any
    interval: int
    count: int | None
    until: datetime | None
    parts: dict[str, Any]
    added: tuple[datetime, ...] = ()
    excluded: tuple[datetime, ...] = ()

    def occurrences(self, low: datetime, high: datetime) -> list[datetime]:
        """At or after `low`, before `high`."""
        first = max(low, self.start)
        last = high - timedelta(seconds=1)
        if self.until is not None:
            last = min(last, self.until)
        if first > last:
            return []
        return [wall for wall in self._made(self._step_at_or_before(first), last, None) if wall >= first]

    def counted_occurrences(self, horizon_years: int) -> list[datetime]:
        end = min(self.start + timedelta(days=366 * horizon_years), LATEST)
        return self._made(self.start, end, self.count)

    def _made(self, start: datetime, last: datetime, count: int | None) -> list[datetime]:
        try:
            rule = dateutil_rrule.rrule(
                self.frequency, dtstart=start, until=last, interval=self.interval, count=count, **self.parts
            )
        except ValueError:
            # An INTERVAL that steps over every BYHOUR or BYMINUTE: a rule without occurrences.
            return []
        return list(rule)

    def _step_at_or_before(self, wall: datetime) -> datetime:
        """A place on the rule's own grid of steps from DTSTART, at the beginning of a period."""
        interval, start = self.interval, self.start
        if self.frequency == dateutil_rrule.YEARLY:
            year = start.year + (wall.year - start.year) // interval * interval
            return datetime(year, 1, 1)  # noqa: DTZ001 - a wall time
        if self.frequency == dateutil_rrule.MONTHLY:
            first_month = start.year * 12 + start.month - 1
            month = wall.year * 12 + wall.month - 1
            month = first_month + (month - first_month) // interval * interval
            return datetime(month // 12, month % 12 + 1, 1)  # noqa: DTZ001 - a wall time
        step, period_start = self._fixed_step()
        return period_start + (wall - period_start) // (step * interval) * (step * interval)

    def _fixed_step(self) -> tuple[timedelta, datetime]:
        start = self.start
        midnight = start.replace(hour=0, minute=0, second=0)
        if self.frequency == dateutil_rrule.WEEKLY:
            days_into_week = (start.weekday() - self.parts["wkst"]) % 7
            return timedelta(weeks=1), midnight - timedelta(days=days_into_week)
        if self.frequency == dateutil_rrule.DAILY:
            return timedelta(days=1), midnight
        if self.frequency == dateutil_rrule.HOURLY:
            return timedelta(hours=1), start.replace(minute=0, second=0)
        return timedelta(minutes=1), start.replace(second=0)


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
    frequency = _frequency(given)
    if "COUNT" in given and "UNTIL" in given:
        raise ValueError("has COUNT and UNTIL; RFC 5545 allows one of them")
    count = _whole("COUNT", given["COUNT"], 1, MOST_OCCURRENCES) if "COUNT" in given else None
    until = _until(given["UNTIL"], own_zone) if "UNTIL" in given else None
    parts = _parts(given, frequency, start)
    return RecurrenceText(
        zone_name=lines.zone_name,
        start=start,
        frequency=frequency,
        interval=_whole("INTERVAL", given.get("INTERVAL", "1"), 1, 10_000),
        count=count,
        until=until,
        parts=parts,
        added=tuple(_all_walls("RDATE", lines.added, own_zone)),
        excluded=tuple(_all_walls("EXDATE", lines.excluded, own_zone)),
    )


def _frequency(given: dict[str, str]) -> Any:
    if "FREQ" not in given:
        raise ValueError(f"has no FREQ; allowed are {', '.join(_FREQUENCIES)}")
    if given["FREQ"] not in _FREQUENCIES:
        raise ValueError(f"FREQ is {given['FREQ'][:40]}; allowed are {', '.join(_FREQUENCIES)}")
    return _FREQUENCIES[given["FREQ"]]


def _parts(given: dict[str, str], frequency: int, start: datetime) -> dict[str, Any]:
    parts: dict[str, Any] = {"wkst": _week_start(given.get("WKST", "MO"))}
    for key, (name, low, high, signed) in _NUMBER_LISTS.items():
        if key in given:
            parts[name] = _numbers(key, given[key], low, high, signed)
    if "BYDAY" in given:
        parts["byweekday"] = _weekdays(given["BYDAY"], frequency)
    if "bysetpos" in parts and len(parts) == 2:
        raise ValueError("has BYSETPOS alone; RFC 5545 allows it together with another BY rule only")
    if "byweekno" in parts and frequency != dateutil_rrule.YEARLY:
        raise ValueError("has BYWEEKNO; RFC 5545 allows it with FREQ=YEARLY only")
    _fill_from_start(parts, frequency, start)
    _refuse_crowded_days(parts, frequency)
    return parts


def _fill_from_start(parts: dict[str, Any], frequency: int, start: datetime) -> None:
    if not any(key in parts for key in _DATE_KEYS):
        if frequency == dateutil_rrule.YEARLY:
            parts.setdefault("bymonth", (start.month,))
            parts["bymonthday"] = (start.day,)
        elif frequency == dateutil_rrule.MONTHLY:
            parts["bymonthday"] = (start.day,)
        elif frequency == dateutil_rrule.WEEKLY:
            parts["byweekday"] = (start.weekday(),)
    if frequency < dateutil_rrule.HOURLY:
        parts.setdefault("byhour", (start.hour,))
    if frequency < dateutil_rrule.MINUTELY:
        parts.setdefault("byminute", (start.minute,))
    parts.setdefault("bysecond", (start.second,))


def _refuse_crowded_days(parts: dict[str, Any], frequency: int) -> None:
    hours = 24 if frequency >= dateutil_rrule.HOURLY else len(parts["byhour"])
    minutes = 60 if frequency >= dateutil_rrule.MINUTELY else len(parts["byminute"])
    starts = hours * minutes * len(parts["bysecond"])
    if starts > MOST_STARTS_PER_DAY:
        raise ValueError(f"starts up to {starts} times a day; allowed are {MOST_STARTS_PER_DAY}")


def _whole(key: str, text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
        raise ValueError(f"{key} is {text[:40]}; allowed are whole numbers from {low} to {high}")
    return int(text)


def _numbers(key: str, text: str, low: int, high: int, signed: bool) -> tuple[int, ...]:
    allowed = f"{low} to {high}" + (f" and -{high} to -{low}" if signed else "")
    numbers: list[int] = []
    for item in text.split(","):
        digits = item.lstrip("+-") if signed else item
        if not (digits.isascii() and digits.isdigit() and len(item) <= 4 and low <= int(digits) <= high):
            raise ValueError(f"{key} has {item[:40] or 'an empty item'}; allowed are {allowed}")
        numbers.append(int(item))
    return tuple(sorted(set(numbers)))


def _week_start(text: str) -> int:
    if text not in _WEEKDAYS:
        raise ValueError(f"WKST is {text[:40]}; allowed are {', '.join(_WEEKDAYS)}")
    return int(_WEEKDAYS[text].weekday)


def _weekdays(text: str, frequency: int) -> tuple[Any, ...]:
    weekdays: list[Any] = []
    for item in text.split(","):
        match = _WEEKDAY.fullmatch(item)
        if match is None:
            raise ValueError(
                f"BYDAY has {item[:40] or 'an empty item'}; allowed are {', '.join(_WEEKDAYS)}, and such as 1MO or -1FR"
            )
        number, name = match.groups()
        if number is None:
            weekdays.append(_WEEKDAYS[name])
            continue
        if frequency not in (dateutil_rrule.MONTHLY, dateutil_rrule.YEARLY):
            raise ValueError(
                f"BYDAY has {item}; RFC 5545 allows a number with FREQ=MONTHLY and FREQ=YEARLY only"
            )
        if not 1 <= abs(int(number)) <= 53:
            raise ValueError(f"BYDAY has {item}; allowed are 1 to 53 and -53 to -1 before the day")
        weekdays.append(_WEEKDAYS[name](int(number)))
    return tuple(weekdays)


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
