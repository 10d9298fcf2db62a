"""Which wall times an RFC 5545 rule names, between any two moments.

The rule is a grid of periods (years, months, weeks, days, hours, minutes) that DTSTART anchors; within each period a set
of days and times, of which BYSETPOS picks some. Starting anywhere on the grid costs nothing, which is why this does not
walk from DTSTART: the usual libraries do, and search to the year 9999 for a rule that never happens.
"""

import calendar
import itertools
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Literal

import msgspec

Frequency = Literal["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"]

_ONE_DAY = timedelta(days=1)


class RecurrenceRule(msgspec.Struct, frozen=True):
    """What RFC 5545 takes from DTSTART when a part is missing is filled in already. Weekdays count from Monday, 0."""

    frequency: Frequency
    start: datetime
    interval: int = 1
    count: int | None = None
    until: datetime | None = None
    week_start: int = 0
    months: frozenset[int] = frozenset()
    week_numbers: frozenset[int] = frozenset()
    year_days: frozenset[int] = frozenset()
    month_days: frozenset[int] = frozenset()
    weekdays: frozenset[tuple[int, int]] = frozenset()
    """Pairs of place and weekday; place 0 means every one."""
    hours: frozenset[int] = frozenset()
    minutes: frozenset[int] = frozenset()
    seconds: frozenset[int] = frozenset({0})
    set_positions: frozenset[int] = frozenset()


def occurrences(rule: RecurrenceRule, low: datetime, high: datetime) -> Iterator[datetime]:
    """At or after `low`, before `high`, in order; COUNT is not looked at."""
    first = max(low, rule.start)
    end = high if rule.until is None else min(high, rule.until + timedelta(seconds=1))
    if first >= end:
        return
    for period in _periods(rule, first, end):
        for wall in _picked(rule, period):
            if first <= wall < end:
                yield wall


def counted(rule: RecurrenceRule, high: datetime) -> Iterator[datetime]:
    return itertools.islice(occurrences(rule, rule.start, high), rule.count)


def _picked(rule: RecurrenceRule, period: Iterable[datetime]) -> Iterable[datetime]:
    if not rule.set_positions:
        return period
    walls = list(period)
    places = {place - 1 if place > 0 else len(walls) + place for place in rule.set_positions}
    return [walls[place] for place in sorted(places) if 0 <= place < len(walls)]


def _periods(rule: RecurrenceRule, first: datetime, end: datetime) -> Iterator[Iterable[datetime]]:
    if rule.frequency in ("HOURLY", "MINUTELY"):
        return _short_periods(rule, first, end)
    return (_times_of(rule, days) for days in _day_periods(rule, first.date(), end))


def _times_of(rule: RecurrenceRule, days: Iterable[date]) -> Iterator[datetime]:
    times = [
        time(hour, minute, second)
        for hour in sorted(rule.hours)
        for minute in sorted(rule.minutes)
        for second in sorted(rule.seconds)
    ]
    return (datetime.combine(day, moment) for day in days if _takes_day(rule, day) for moment in times)


def _day_periods(rule: RecurrenceRule, first: date, end: datetime) -> Iterator[list[date]]:
    start, interval = rule.start.date(), rule.interval
    if rule.frequency == "YEARLY":
        year = start.year + (first.year - start.year) // interval * interval
        for each in range(year, end.year + 1, interval):
            yield _days(date(each, 1, 1), 366 if calendar.isleap(each) else 365)
    elif rule.frequency == "MONTHLY":
        anchor = start.year * 12 + start.month - 1
        month = anchor + (first.year * 12 + first.month - 1 - anchor) // interval * interval
        for each in range(month, end.year * 12 + end.month, interval):
            year, month_of_year = each // 12, each % 12 + 1
            yield _days(date(year, month_of_year, 1), calendar.monthrange(year, month_of_year)[1])
    else:
        length = 7 if rule.frequency == "WEEKLY" else 1
        anchor_day = start - timedelta(days=(start.weekday() - rule.week_start) % 7 if length == 7 else 0)
        steps = (first - anchor_day).days // (length * interval)
        day = anchor_day + timedelta(days=steps * length * interval)
        while day <= end.date():
            yield _days(day, length)
            day += timedelta(days=length * interval)


def _days(first: date, count: int) -> list[date]:
    return [first + timedelta(days=offset) for offset in range(count)]


def _short_periods(rule: RecurrenceRule, first: datetime, end: datetime) -> Iterator[list[datetime]]:
    """Steps of the wall clock: an hour that a change of clocks repeats is one step."""
    length = timedelta(hours=1) if rule.frequency == "HOURLY" else timedelta(minutes=1)
    anchor = rule.start.replace(second=0, minute=0 if rule.frequency == "HOURLY" else rule.start.minute)
    seconds = sorted(rule.seconds)
    day = first.date()
    while day <= end.date():
        midnight = datetime.combine(day, time())
        if _takes_day(rule, day):
            for step in range(
                (anchor - midnight) // length % rule.interval, _ONE_DAY // length, rule.interval
            ):
                yield [
                    begin.replace(second=second)
                    for begin in _begins(rule, midnight + step * length)
                    for second in seconds
                ]
        day += _ONE_DAY


def _begins(rule: RecurrenceRule, period: datetime) -> list[datetime]:
    if rule.hours and period.hour not in rule.hours:
        return []
    if rule.frequency == "HOURLY":
        return [period.replace(minute=minute) for minute in sorted(rule.minutes)]
    return [period] if not rule.minutes or period.minute in rule.minutes else []


def _takes_day(rule: RecurrenceRule, day: date) -> bool:
    return (
        (not rule.months or day.month in rule.months)
        and (not rule.month_days or _takes_month_day(rule, day))
        and (not rule.weekdays or _takes_weekday(rule, day))
        and (not rule.year_days or _takes_year_day(rule, day))
        and (not rule.week_numbers or _takes_week(rule, day))
    )


def _takes_month_day(rule: RecurrenceRule, day: date) -> bool:
    length = calendar.monthrange(day.year, day.month)[1]
    return day.day in rule.month_days or day.day - length - 1 in rule.month_days


def _takes_year_day(rule: RecurrenceRule, day: date) -> bool:
    number = day.timetuple().tm_yday
    length = 366 if calendar.isleap(day.year) else 365
    return number in rule.year_days or number - length - 1 in rule.year_days


def _takes_weekday(rule: RecurrenceRule, day: date) -> bool:
    weekday = day.weekday()
    if (0, weekday) in rule.weekdays:
        return True
    if rule.frequency == "MONTHLY" or rule.months:
        number, length = day.day, calendar.monthrange(day.year, day.month)[1]
    else:
        number, length = day.timetuple().tm_yday, 366 if calendar.isleap(day.year) else 365
    from_front, from_back = (number - 1) // 7 + 1, -((length - number) // 7 + 1)
    return (from_front, weekday) in rule.weekdays or (from_back, weekday) in rule.weekdays


def _takes_week(rule: RecurrenceRule, day: date) -> bool:
    """Week 1 is the first with at least four days in the year, so the first days of a year can be in its last week."""
    year = day.year
    if day < _first_week(year, rule.week_start):
        year -= 1
    elif day >= _first_week(year + 1, rule.week_start):
        year += 1
    first, following = _first_week(year, rule.week_start), _first_week(year + 1, rule.week_start)
    number, weeks = (day - first).days // 7 + 1, (following - first).days // 7
    return number in rule.week_numbers or number - weeks - 1 in rule.week_numbers


def _first_week(year: int, week_start: int) -> date:
    fourth = date(year, 1, 4)
    return fourth - timedelta(days=(fourth.weekday() - week_start) % 7)
