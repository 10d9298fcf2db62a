"""Lists: sums, extremes, places of elements, and copies with one element changed."""

import itertools
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from headgate import cel
from headgate.cel.core import equality, values
from headgate.cel.core.meter import Meter
from headgate.cel.library import operators

_LIST = cel.list_of(cel.DYN)
_SEARCH_STEPS = 1_000_000


def is_sorted(receiver: Sequence[Any]) -> bool:
    return all(not _less(later, earlier) for earlier, later in itertools.pairwise(receiver))


def total(receiver: Sequence[Any]) -> Any:
    """0 for an empty list."""
    if not receiver:
        return 0
    result = receiver[0]
    for item in receiver[1:]:
        result = _sum(result, item)
    if values.kind(result) not in (*values.NUMBERS, values.DURATION):
        raise cel.EvaluationError(f"sum() is for numbers and durations, not for {values.kind(result)}")
    return result


def _sum(left: Any, right: Any) -> Any:
    if values.kind(left) != values.kind(right):
        raise cel.EvaluationError("sum(): all elements must be of one type")
    if isinstance(left, timedelta):
        return values.duration_difference(
            values.duration_nanoseconds(left) + values.duration_nanoseconds(right)
        )
    if isinstance(left, values.Uint):
        return values.checked_uint(left + right)
    return values.checked_int(left + right) if isinstance(left, int) else left + right


def least(receiver: Sequence[Any]) -> Any:
    return _extreme(receiver, "min", lambda kept, item: _less(item, kept))


def greatest(receiver: Sequence[Any]) -> Any:
    return _extreme(receiver, "max", lambda kept, item: _less(kept, item))


def _extreme(receiver: Sequence[Any], name: str, replaces: Any) -> Any:
    if not receiver:
        raise cel.EvaluationError(f"{name}() of an empty list")
    kept = receiver[0]
    for item in receiver[1:]:
        if replaces(kept, item):
            kept = item
    return kept


def _less(left: Any, right: Any) -> bool:
    implementation = operators.library.implementations["_<_"]
    meter = Meter(_SEARCH_STEPS)
    return bool(
        implementation.call(meter, left, right)
        if implementation.metered
        else implementation.call(left, right)
    )


def index_of(receiver: Sequence[Any], element: Any) -> int:
    """-1 if it is not there."""
    meter = Meter(_SEARCH_STEPS)
    return next((place for place, item in enumerate(receiver) if equality.equal(meter, item, element)), -1)


def last_index_of(receiver: Sequence[Any], element: Any) -> int:
    meter = Meter(_SEARCH_STEPS)
    places = range(len(receiver) - 1, -1, -1)
    return next((place for place in places if equality.equal(meter, receiver[place], element)), -1)


def set_at_index(items: Sequence[Any], index: int, element: Any) -> list[Any]:
    _check_place("lists.setAtIndex", index, len(items) - 1)
    return [*items[:index], element, *items[index + 1 :]]


def insert_at_index(items: Sequence[Any], index: int, element: Any) -> list[Any]:
    _check_place("lists.insertAtIndex", index, len(items))
    return [*items[:index], element, *items[index:]]


def remove_at_index(items: Sequence[Any], index: int) -> list[Any]:
    _check_place("lists.removeAtIndex", index, len(items) - 1)
    return [*items[:index], *items[index + 1 :]]


def _check_place(function: str, index: int, last: int) -> None:
    if not 0 <= index <= last:
        allowed = f"0 to {last} are allowed" if last >= 0 else "the list is empty"
        raise cel.EvaluationError(f"{function}: index {index} is out of range; {allowed}")


FUNCTIONS = (
    cel.Function("isSorted", (_LIST,), cel.BOOL, is_sorted, member=True),
    cel.Function("sum", (_LIST,), cel.DYN, total, member=True),
    cel.Function("min", (_LIST,), cel.DYN, least, member=True),
    cel.Function("max", (_LIST,), cel.DYN, greatest, member=True),
    cel.Function("indexOf", (_LIST, cel.DYN), cel.INT, index_of, member=True),
    cel.Function("lastIndexOf", (_LIST, cel.DYN), cel.INT, last_index_of, member=True),
    cel.Function("lists.setAtIndex", (_LIST, cel.INT, cel.DYN), _LIST, set_at_index),
    cel.Function("lists.insertAtIndex", (_LIST, cel.INT, cel.DYN), _LIST, insert_at_index),
    cel.Function("lists.removeAtIndex", (_LIST, cel.INT), _LIST, remove_at_index),
)
