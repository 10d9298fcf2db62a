"""One field path of many rows, inverted: which rows hold which value.

Rows are numbered; a set of rows is an int with one bit for each. For most values only the numbers of their rows are
kept, since a set for each of many distinct values would take space of the order of rows times values. Sets are kept
for the values that were asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import TypeVar

from headgate.cel.core import access, equality, values
from headgate.cel.core.errors import EvaluationError
from headgate.cel.core.meter import Meter

KEPT_SETS = 256
"""Sets of rows kept for a column, at most."""


class _Nothing:
    """Stands for a row in which the path leads nowhere: a key on it is missing, or its parent is no map."""


_NO_VALUE = _Nothing()
_NO_PARENT = _Nothing()


class _Unindexed:
    """Stands for a list, a map or an object: a value that equals no constant a selector compares with."""


_UNINDEXED = _Unindexed()

_UNCHARGED = Meter()
"""Only scalars are made keys here, and these cost nothing."""

_ZERO_AND_ONE = bytes.maketrans(b"01", b"\x00\x01")

_SPARSE = 10
"""Where one row in so many or less is in a set, they are found faster by the gaps between them."""

Item = TypeVar("Item")


def members(rows: int, things: Sequence[Item]) -> list[Item]:
    """Of the things by row, those of the rows in the set."""
    digits = f"{rows:b}"[::-1]
    if rows.bit_count() * _SPARSE > len(digits):
        return list(compress(things, digits.encode("ascii").translate(_ZERO_AND_ONE)))
    chosen = []
    row = -1
    for gap in digits.split("1")[:-1]:
        row += len(gap) + 1
        chosen.append(things[row])
    return chosen


def amended(known: Sequence[Item], before: int, rows: int, things: Sequence[Item]) -> list[Item]:
    """As `members`, from those of a set that differs from this one in a few rows."""
    amended_members = list(known)
    different = before ^ rows
    while different:
        # From the last row to the first: what stands before a row is as it was, and tells its place.
        row = different.bit_length() - 1
        bit = 1 << row
        place = (before & (bit - 1)).bit_count()
        if rows & bit:
            amended_members.insert(place, things[row])
        else:
            del amended_members[place]
        different ^= bit
    return amended_members


def set_of(rows: Iterable[int], capacity: int) -> int:
    octets = bytearray(capacity // 8 + 1)
    for row in rows:
        octets[row >> 3] |= 1 << (row & 7)
    return int.from_bytes(octets, "little")


class ValueColumn:
    def __init__(self, path: tuple[str, ...]) -> None:
        self._path = path
        self._value_of: list[object] = []
        self._rows_of: dict[object, set[int]] = {}
        self._sets: dict[object, int] = {}
        self.present = 0
        """Rows in which the path leads to a value."""
        self.strings = 0
        """Rows in which that value is a string."""
        self.parents = 0
        """Rows in which the path's last field has a map to be in."""

    def fill(self, rows: Mapping[int, object], capacity: int) -> None:
        """Takes many rows at once into an empty column."""
        self._value_of = [_NO_PARENT] * capacity
        parents, present, strings = [], [], []
        for row, content in rows.items():
            value = self._value_of[row] = self._read(content)
            if value is _NO_PARENT:
                continue
            parents.append(row)
            if value is _NO_VALUE:
                continue
            present.append(row)
            if isinstance(value, str):
                strings.append(row)
            self._rows_of.setdefault(value, set()).add(row)
        self.parents = set_of(parents, capacity)
        self.present = set_of(present, capacity)
        self.strings = set_of(strings, capacity)

    def put(self, row: int, content: object) -> None:
        while len(self._value_of) <= row:
            self._value_of.append(_NO_PARENT)
        value, before = self._read(content), self._value_of[row]
        if value is before or (type(value) is type(before) and value == before):
            return
        self.remove(row)
        self._value_of[row] = value
        bit = 1 << row
        if value is not _NO_PARENT:
            self.parents |= bit
        if isinstance(value, _Nothing):
            return
        self.present |= bit
        if isinstance(value, str):
            self.strings |= bit
        self._rows_of.setdefault(value, set()).add(row)
        if value in self._sets:
            self._sets[value] |= bit

    def remove(self, row: int) -> None:
        before = self._value_of[row] if row < len(self._value_of) else _NO_PARENT
        if before is _NO_PARENT:
            return
        others = ~(1 << row)
        self._value_of[row] = _NO_PARENT
        self.parents &= others
        if isinstance(before, _Nothing):
            return
        self.present &= others
        self.strings &= others
        rows = self._rows_of[before]
        rows.discard(row)
        if not rows:
            del self._rows_of[before]
        if before in self._sets:
            self._sets[before] &= others

    def equal_to(self, value: object) -> int:
        """The rows whose value equals this one."""
        key = _key(value)
        known = self._sets.get(key)
        if known is None:
            known = set_of(self._rows_of.get(key, ()), len(self._value_of))
            if len(self._sets) >= KEPT_SETS:
                self._sets.clear()
            self._sets[key] = known
        return known

    def starting_with(self, prefix: str, distinct_limit: int) -> int | None:
        """The rows whose string starts so; None if there are too many distinct values to look at each."""
        if len(self._rows_of) > distinct_limit:
            return None
        rows = (
            row
            for value, holders in self._rows_of.items()
            if isinstance(value, str) and value.startswith(prefix)
            for row in holders
        )
        return set_of(rows, len(self._value_of))

    def _read(self, content: object) -> object:
        value = content
        for name in self._path:
            value = value.get(name, _NO_VALUE) if type(value) is dict else _field(value, name)
        return value if type(value) is str or isinstance(value, _Nothing) else _key(value)


def _field(content: object, name: str) -> object:
    """The field of what is no dict."""
    if isinstance(content, _Nothing):
        return _NO_PARENT
    try:
        field_value = access.optional_field(content, name)
    except EvaluationError:
        return _NO_PARENT
    return field_value.content if field_value.present else _NO_VALUE


def is_indexed(value: object) -> bool:
    """Whether rows can be looked up by this value.

    A double equals several large integers, so these are not told apart by a key.
    """
    kind = values.kind(value)
    if kind in values.NUMBERS:
        return abs(value) < 2**53  # type: ignore[arg-type]
    return kind not in ("list", "map", "optional_type", values.OBJECT)


def _key(value: object) -> object:
    """Equal for two values if CEL finds them equal. A bool is set apart, as Python would take it for a number."""
    if isinstance(value, bool):
        return (bool, value)
    return equality.canonical(_UNCHARGED, value) if is_indexed(value) else _UNINDEXED
