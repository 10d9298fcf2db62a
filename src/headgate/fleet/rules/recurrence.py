"""RFC 5545 recurrences as spans of time: when one is open, when the next one starts.

Occurrences are made on the wall clock of the zone and turned into instants one by one, so "09:00" stays 09:00 across
a change of clocks. A wall time that the change skips takes the offset before it, one that comes twice is its first,
both as the RFC says. Occurrences are made in chunks of the calendar around the moment that is asked about; nothing is
ever scanned from DTSTART on, except for COUNT, which has no other meaning and is bounded.
"""

import bisect
import functools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from headgate.fleet.rules import recurrence_calendar, recurrence_text
from headgate.fleet.rules.recurrence_text import zone
from headgate.kernel import instants
from headgate.kernel.instants import Instant

__all__ = ["HORIZON_YEARS", "JoinedSpan", "Recurrence", "of", "zone"]

HORIZON_YEARS = 100
"""How far ahead an occurrence is looked for: leap days at odd intervals are decades apart."""

_SHORT_HORIZON_YEARS = 9
_CHUNKS_KEPT = 64
_MOST_JOINED = 400
_CHUNK_DAYS: dict[recurrence_calendar.Frequency, int] = {
    "MINUTELY": 1,
    "HOURLY": 16,
    "DAILY": 64,
    "WEEKLY": 7 * 64,
    "MONTHLY": 366 * 2,
    "YEARLY": 366 * 8,
}
_CALENDAR_START = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall time


class JoinedSpan(NamedTuple):
    """Occurrences that touch or overlap. Of very many only those around the moment that was asked about are joined: `end` is
    then only a time to look again."""

    start: Instant
    end: Instant
    is_start_known: bool
    is_end_known: bool


class Recurrence:
    """Spans of `duration_minutes` that begin at each occurrence; spans that touch or overlap are one."""

    def __init__(self, text: str, zone_name: str, duration_minutes: int) -> None:
        parsed = recurrence_text.parse(text, zone_name)
        self._rule = parsed.rule
        self.zone_name = parsed.zone_name
        self._zone = ZoneInfo(parsed.zone_name)
        self._duration = instants.minutes(duration_minutes)
        self._chunk_days = _CHUNK_DAYS[self._rule.frequency]
        self._chunks: dict[int, list[Instant]] = {}
        self._counted: list[Instant] | None = None
        self._span: JoinedSpan | None = None
        self._excluded = {self._to_instant(wall) for wall in parsed.excluded}
        self._added = sorted({self._to_instant(wall) for wall in parsed.added} - self._excluded)

    def open_at(self, now: Instant) -> tuple[Instant, Instant] | None:
        """The span around `now`; its end is not part of it."""
        span = self.span_at(now)
        return span[:2] if span is not None else None

    def span_at(self, now: Instant) -> JoinedSpan | None:
        """The same, and whether it begins and ends there."""
        if self._span is not None and self._span.start <= now < self._span.end:
            return self._span
        start = self._last_start(now)
        if start is None or now >= start + self._duration:
            return None
        first, is_first = self._first_joined(start)
        end, is_end = self._last_joined_end(start)
        span = JoinedSpan(first, end, is_first, is_end)
        if is_first and is_end:
            self._span = span
        return span

    def next_start(self, now: Instant) -> Instant | None:
        """The first occurrence after `now`, or None when there is none within the horizon."""
        return next(self._starts_after(now), None)

    def ever_starts(self) -> bool:
        return self.next_start(self._to_instant(self._rule.start) - 1) is not None

    # Spans without a gap can go on for ever. Joining then gives up, which the second value tells: such an end is only
    # a time to look again, and is not remembered, because it depends on the moment that was asked about.

    def _last_joined_end(self, start: Instant) -> tuple[Instant, bool]:
        end = start + self._duration
        for _, following in zip(range(_MOST_JOINED), self._starts_after(start)):
            if following > end:
                return end, True
            end = following + self._duration
        return end, self.next_start(end - self._duration) is None

    def _first_joined(self, start: Instant) -> tuple[Instant, bool]:
        for _ in range(_MOST_JOINED):
            earlier = self._last_start(start - 1)
            if earlier is None or earlier + self._duration < start:
                return start, True
            start = earlier
        return start, False

    def _last_start(self, now: Instant) -> Instant | None:
        """The last occurrence at or before `now`, if it is not too long ago to be open."""
        for index in range(self._chunk_of(now), self._chunk_of(now - self._duration) - 1, -1):
            chunk = self._chunk(index)
            place = bisect.bisect_right(chunk, now)
            if place:
                return chunk[place - 1]
        return None

    def _starts_after(self, now: Instant) -> Iterator[Instant]:
        first = max(self._chunk_of(now), self._chunk_of(self._to_instant(self._rule.start)))
        years = _SHORT_HORIZON_YEARS if self._rule.frequency in ("HOURLY", "MINUTELY") else HORIZON_YEARS
        last = min(first + years * 366 // self._chunk_days, self._chunk_of(self._end()))
        for index in range(first, last + 1):
            chunk = self._chunk(index)
            yield from chunk[bisect.bisect_right(chunk, now) :]

    def _end(self) -> Instant:
        """Nothing starts later than this."""
        last_added = self._added[-1] if self._added else 0
        if self._rule.count is not None:
            counted = self._all_counted()
            return max(counted[-1] if counted else 0, last_added)
        if self._rule.until is not None:
            return max(self._to_instant(self._rule.until), last_added)
        return self._to_instant(recurrence_text.LATEST)

    def _chunk_of(self, instant: Instant) -> int:
        wall = self._to_wall(instant)
        return (wall - _CALENDAR_START).days // self._chunk_days

    def _chunk(self, index: int) -> list[Instant]:
        known = self._chunks.get(index)
        if known is not None:
            return known
        low = _CALENDAR_START + timedelta(days=index * self._chunk_days)
        starts = self._made_between(low, low + timedelta(days=self._chunk_days))
        if len(self._chunks) >= _CHUNKS_KEPT:
            self._chunks.clear()
        self._chunks[index] = starts
        return starts

    def _made_between(self, low: datetime, high: datetime) -> list[Instant]:
        first, end = self._to_instant(low), self._to_instant(high)
        if self._rule.count is None:
            walls = recurrence_calendar.occurrences(self._rule, low, high)
            made = {self._to_instant(wall) for wall in walls} - self._excluded
        else:
            made = {start for start in self._all_counted() if first <= start < end}
        return sorted(made.union(start for start in self._added if first <= start < end))

    def _all_counted(self) -> list[Instant]:
        if self._counted is None:
            last = min(self._rule.start + timedelta(days=366 * HORIZON_YEARS), recurrence_text.LATEST)
            walls = recurrence_calendar.counted(self._rule, last)
            self._counted = sorted({self._to_instant(wall) for wall in walls} - self._excluded)
        return self._counted

    def _to_instant(self, wall: datetime) -> Instant:
        return instants.from_datetime(wall.replace(tzinfo=self._zone, fold=0))

    def _to_wall(self, instant: Instant) -> datetime:
        bounded = min(max(instant, _EARLIEST_INSTANT), _LATEST_INSTANT)
        return instants.to_datetime(bounded).astimezone(self._zone).replace(tzinfo=None)


_EARLIEST_INSTANT = instants.from_datetime(recurrence_text.EARLIEST.replace(tzinfo=UTC))
_LATEST_INSTANT = instants.from_datetime(recurrence_text.LATEST.replace(tzinfo=UTC))


@functools.lru_cache(maxsize=1024)
def of(text: str, zone_name: str, duration_minutes: int) -> Recurrence:
    """One object for equal rules, so that what it has worked out is shared. Raises ValueError with a sentence."""
    return Recurrence(text, zone_name, duration_minutes)
