"""lists.*, sets.* and the methods of lists."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.cel.core import arithmetic, equality, values
from headgate.cel.core.errors import EvaluationError
from headgate.cel.core.meter import Meter
from headgate.cel.core.values import Optional
from headgate.cel.library import checks
from headgate.cel.library.registry import Library

library = Library()


@library.metered("lists.range", 1)
def _range(meter: Meter, length: object) -> list[int]:
    count = max(0, checks.integer("lists.range", length))
    arithmetic.produced_list(meter, count)
    return list(range(count))


@library.metered("slice", 3)
def _slice(meter: Meter, value: object, start: object, end: object) -> list[object]:
    sequence = checks.sequence("slice", value)
    first, last = checks.integer("slice", start), checks.integer("slice", end)
    if not 0 <= first <= last <= len(sequence):
        raise EvaluationError(f"slice: {first} to {last} is not within 0 to {len(sequence)}")
    arithmetic.produced_list(meter, last - first)
    return list(sequence[first:last])


@library.metered("flatten", 1, 2)
def _flatten(meter: Meter, value: object, depth: object = 1) -> list[object]:
    levels = checks.integer("flatten", depth)
    if levels < 0:
        raise EvaluationError(f"flatten: depth {levels}; 0 or more is allowed")
    return _flat(meter, checks.sequence("flatten", value), levels)


def _flat(meter: Meter, sequence: Sequence[object], levels: int) -> list[object]:
    arithmetic.produced_list(meter, len(sequence))
    flat: list[object] = []
    for each in sequence:
        if levels > 0 and values.kind(each) == "list":
            flat += _flat(meter, checks.sequence("flatten", each), levels - 1)
        else:
            flat.append(each)
    return flat


@library.metered("distinct", 1)
def _distinct(meter: Meter, value: object) -> list[object]:
    sequence = checks.sequence("distinct", value)
    arithmetic.produced_list(meter, 3 * len(sequence))
    first: dict[object, object] = {}
    for each in sequence:
        first.setdefault(equality.canonical(meter, each), each)
    return list(first.values())


@library.metered("sort", 1)
def _sort(meter: Meter, value: object) -> list[object]:
    return _sorted_by(meter, value, value)


@library.metered("@sortByAssociatedKeys", 2)
def _sorted_by(meter: Meter, value: object, keys: object) -> list[object]:
    sequence, by = checks.sequence("sort", value), checks.sequence("sort", keys)
    if len({values.kind(each) for each in by}) > 1:
        raise EvaluationError("sort: all keys must be of one type")
    arithmetic.produced_list(meter, len(sequence))
    meter.charge(len(sequence) * len(sequence).bit_length() // 4)
    order = [arithmetic.sort_key(each) for each in by]
    places = sorted(range(len(sequence)), key=order.__getitem__)  # type: ignore[arg-type]
    return [sequence[place] for place in places]


@library.function("first", 1)
def _first(value: object) -> Optional:
    sequence = checks.sequence("first", value)
    return Optional(sequence[0]) if sequence else values.NONE


@library.function("last", 1)
def _last(value: object) -> Optional:
    sequence = checks.sequence("last", value)
    return Optional(sequence[-1]) if sequence else values.NONE


def _set(meter: Meter, function: str, value: object) -> set[object]:
    sequence = checks.sequence(function, value)
    meter.charge(2 * len(sequence))
    return {equality.canonical(meter, each) for each in sequence}


@library.metered("sets.contains", 2)
def _sets_contains(meter: Meter, whole: object, part: object) -> bool:
    return _set(meter, "sets.contains", part) <= _set(meter, "sets.contains", whole)


@library.metered("sets.equivalent", 2)
def _sets_equivalent(meter: Meter, left: object, right: object) -> bool:
    return _set(meter, "sets.equivalent", left) == _set(meter, "sets.equivalent", right)


@library.metered("sets.intersects", 2)
def _sets_intersects(meter: Meter, left: object, right: object) -> bool:
    return not _set(meter, "sets.intersects", left).isdisjoint(_set(meter, "sets.intersects", right))
