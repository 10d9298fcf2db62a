"""Items that change in waves: whether they are ready and updated, and whether one of them may go now.

An item is anything with `is_ready()` and `is_updated()`, at whatever level it lives. A list of items may know its own
counts (`landed_count`, `in_flight_count`, `rank_among_not_updated`, `index_of`); then asking a thousand items one after
another does not count a thousand items each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headgate.cel.core.errors import EvaluationError
from headgate.cel.functions import Function
from headgate.cel.types import BOOL, DYN, INT
from headgate.kernel import waves


def is_ready(receiver: Any) -> bool:
    if isinstance(receiver, list | tuple):
        return all(is_ready(item) for item in receiver)
    return bool(_item(receiver, "ready").is_ready())


def is_updated(receiver: Any) -> bool:
    if isinstance(receiver, list | tuple):
        return all(is_updated(item) for item in receiver)
    return bool(_item(receiver, "updated").is_updated())


def _item(receiver: Any, method: str) -> Any:
    if not hasattr(receiver, "is_ready"):
        raise EvaluationError(
            f"{method}() is for items and lists of them, not for a value of type {type(receiver).__name__}"
        )
    return receiver


def _linearly_updated(item: Any, items: Any, size: int) -> bool:
    if size < 1:
        raise EvaluationError(f"linearlyUpdated needs a wave of at least 1, not {size}")
    return _may_go(item, items, lambda landed: waves.linear_limit(landed, size))


def _exponentially_updated(item: Any, items: Any) -> bool:
    return _may_go(item, items, waves.exponential_limit)


def _may_go(item: Any, items: Any, limit_after: Callable[[int], int]) -> bool:
    if is_updated(item):
        return True
    landed = _landed_count(items)
    rank = _rank_among_not_updated(item, items)
    return waves.may_go(rank, landed, _in_flight_count(items), limit_after(landed))


def _landed_count(items: Any) -> int:
    if hasattr(items, "landed_count"):
        return int(items.landed_count())
    return sum(1 for item in items if is_updated(item) and is_ready(item))


def _in_flight_count(items: Any) -> int:
    if hasattr(items, "in_flight_count"):
        return int(items.in_flight_count())
    return sum(1 for item in items if is_updated(item) and not is_ready(item))


def _rank_among_not_updated(item: Any, items: Any) -> int:
    if hasattr(items, "rank_among_not_updated"):
        return int(items.rank_among_not_updated(item))
    rank = 0
    for other in items:
        if other is item or other == item:
            return rank
        rank += not is_updated(other)
    raise EvaluationError("the first argument is not an item of the list")


def _index_of(item: Any, items: Any) -> int:
    if hasattr(items, "index_of"):
        return int(items.index_of(item))
    for index, other in enumerate(items):
        if other is item or other == item:
            return index
    raise EvaluationError("indexOf: the item is not in the list")


FUNCTIONS = (
    Function("ready", (DYN,), BOOL, is_ready, member=True),
    Function("updated", (DYN,), BOOL, is_updated, member=True),
    Function("linearlyUpdated", (DYN, DYN, INT), BOOL, _linearly_updated),
    Function("exponentiallyUpdated", (DYN, DYN), BOOL, _exponentially_updated),
    Function("indexOf", (DYN, DYN), INT, _index_of),
)
LIFECYCLE = frozenset(function.name for function in FUNCTIONS) - {"indexOf"}
"""What reads the state of a rollout, which must not flow into what the rollout writes."""
