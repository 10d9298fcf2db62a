"""What charts in a terminal share: the stretch of time that a column stands for, the axis above, and revisions as digits."""

from collections.abc import Iterator

from headgate.kernel.instants import Instant
from headgate.screens.timeline_lines import clock
from headgate.simulate.model.result import Result

WIDTH = 100
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def axis(result: Result, columns: int) -> str:
    first, last = clock(result, result.start), clock(result, _end(result))
    middle = clock(result, (result.start + _end(result)) // 2)
    left = columns // 2 - len(first)
    return f"{first}{middle:^{left + columns - columns // 2 - len(last)}}{last}"


def stretches(result: Result, columns: int) -> Iterator[tuple[Instant, Instant]]:
    """From when until when each column is."""
    span = max(_end(result) - result.start, columns)
    for column in range(columns):
        yield result.start + span * column // columns, result.start + span * (column + 1) // columns


def _end(result: Result) -> Instant:
    """A little after the run, so that what it ended with is seen."""
    return result.end + max((result.end - result.start) // 20, 1)


def digit(revision: int) -> str:
    return _DIGITS[revision % len(_DIGITS)]
