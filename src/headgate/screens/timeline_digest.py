"""A long timeline told in stretches: for each, what started and ended, and how full the budgets were."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.screens.timeline_lines import JOB_RANKS, TimelineLine, clock
from headgate.simulate.model.result import Result

WIDTH = 100
MOST_STRETCHES = 48
_SPANS = tuple(
    instants.minutes(count) for count in (1, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1440, 2880, 10080, 43200)
)


def render(result: Result, timeline: Sequence[TimelineLine]) -> list[str]:
    """Steps and refusals keep their own lines; they are few, and they are why the rest happened."""
    span = _span(result.end - result.start)
    stretches: dict[Instant, list[TimelineLine]] = defaultdict(list)
    for line in timeline:
        if line.who:
            stretches[(line.at - result.start) // span].append(line)
    own = [line for line in timeline if not line.who]
    text = [f"{len(timeline)} events in stretches of {instants.show_duration(span)}", ""]
    for number in sorted({*stretches, *((line.at - result.start) // span for line in own)}):
        start = result.start + number * span
        for line in own:
            if (line.at - result.start) // span == number:
                note = f" ({line.note})" if line.note else ""
                text.append(f"{clock(result, line.at):<16}  {line.what} {line.event}{note}")
        if stretches.get(number):
            text.extend(_stretch(result, start, span, stretches[number]))
    return text


def _span(whole: int) -> int:
    return next((span for span in _SPANS if whole // span < MOST_STRETCHES), _SPANS[-1])


def _stretch(result: Result, start: Instant, span: int, timeline: Sequence[TimelineLine]) -> Iterator[str]:
    counts: Counter[tuple[int, str, str]] = Counter()
    for line in timeline:
        what = line.what.split(" ")[0] if line.rank in JOB_RANKS else line.what
        counts[line.rank, line.event, what] += _resources(line)
    by_event: dict[tuple[int, str], list[str]] = defaultdict(list)
    for (rank, event, what), count in sorted(counts.items()):
        by_event[rank, event].append(f"{count} {what}")
    head = f"{clock(result, start):<16}"
    for (_, event), parts in sorted(by_event.items()):
        yield from textwrap.wrap(
            ", ".join(parts),
            width=WIDTH,
            initial_indent=f"{head}  {event:<14}  ",
            subsequent_indent=" " * 34,
            break_on_hyphens=False,
        )
        head = " " * 16
    for usage in result.usage:
        inside = [point for point in usage.series if start <= point.at < start + span]
        if inside:
            fullest = max(inside, key=lambda point: point.used)
            yield f"{head}  {'slots':<14}  up to {fullest.used} of {fullest.limit}  {usage.policy}, {usage.rule}"


def _resources(line: TimelineLine) -> int:
    number, _, noun = line.who.partition(" ")
    return int(number) if noun == line.noun and number.isdigit() else 1
