"""Which of many rows a selector matches, answered without looking at each.

Rows may come, change and go at any time; columns are made for the fields that selectors ask for and then kept up.
"""

from __future__ import annotations

from collections.abc import Mapping

from headgate.cel import columns, plans
from headgate.cel.columns import ValueColumn
from headgate.cel.program import Selector

COLUMNS_LIMIT = 64
KEPT_ANSWERS = 256
KEPT_KEYS_A_ROW = 4
"""Answers are kept for the sets of rows that came out last, with at most so many keys for each row there is."""
AMENDED_ROWS = 8
"""An answer is made from the last one of the same selector if at most so many rows have come or gone."""

_NO_BINDINGS: Mapping[str, object] = {}


class SelectorIndex:
    """Rows under keys, each bound to one variable when a selector looks at it.

    A row is a JSON-like dict and must be put again when it changes. Keys keep the order in which they first came.
    """

    def __init__(self, variable: str) -> None:
        self.variable = variable
        self._number_of: dict[str, int] = {}
        self._keys: list[str] = []
        self._rows: dict[int, dict[str, object]] = {}
        self._live = 0
        self._columns: dict[tuple[str, ...], ValueColumn] = {}
        self._answers: dict[int, list[str]] = {}
        self._kept_keys = 0
        self._last_rows: dict[Selector, int] = {}
        """The set that came out last for each selector, as long as answers are kept."""

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, key: str, row: dict[str, object]) -> None:
        number = self._number_of.get(key)
        if number is None:
            number = self._number_of[key] = len(self._keys)
            self._keys.append(key)
            self._live |= 1 << number
        self._rows[number] = row
        for column in self._columns.values():
            column.put(number, row)

    def remove(self, key: str) -> None:
        """Raises KeyError for a key that is not there."""
        number = self._number_of.pop(key)
        del self._rows[number]
        self._live &= ~(1 << number)
        for column in self._columns.values():
            column.remove(number)
        if len(self._keys) > 64 and len(self._rows) < len(self._keys) // 2:
            self._renumber()

    def select(self, selector: Selector, bindings: Mapping[str, object] = _NO_BINDINGS) -> list[str]:
        """The keys of the rows that the selector matches, with the other variables bound as given."""
        plan = selector.plans.get(self.variable)
        if plan is None:
            plan = selector.plans[self.variable] = plans.plan(selector.program, self.variable)
        query = plans.Query(self.variable, bindings, self._rows, self._column)
        chosen: int = plan.true_rows(query, self._live)
        keys = self._answers.get(chosen)
        if keys is None:
            keys = self._read_keys(chosen, self._last_rows.get(selector, 0))
            self._keep(chosen, keys)
        if len(self._last_rows) >= KEPT_ANSWERS:
            self._last_rows.clear()
        self._last_rows[selector] = chosen
        return keys.copy()

    def _read_keys(self, rows: int, before: int) -> list[str]:
        """Reading the keys off a set takes longer than finding the set. Many selectors have the same one: those of
        deployments that go to the same places; and from one time to the next a few rows come and go. A row's number never
        becomes another's, so an answer stays right."""
        known = self._answers.get(before)
        if known is not None and (before ^ rows).bit_count() <= AMENDED_ROWS:
            return columns.amended(known, before, rows, self._keys)
        return columns.members(rows, self._keys)

    def _keep(self, rows: int, keys: list[str]) -> None:
        self._kept_keys += len(keys)
        if self._kept_keys > KEPT_KEYS_A_ROW * len(self._keys) or len(self._answers) >= KEPT_ANSWERS:
            self._forget_answers()
            self._kept_keys = len(keys)
        self._answers[rows] = keys

    def _forget_answers(self) -> None:
        self._answers.clear()
        self._last_rows.clear()
        self._kept_keys = 0

    def _column(self, path: tuple[str, ...]) -> ValueColumn:
        column = self._columns.get(path)
        if column is None:
            if len(self._columns) >= COLUMNS_LIMIT:
                del self._columns[next(iter(self._columns))]
            column = self._columns[path] = ValueColumn(path)
            column.fill(self._rows, len(self._keys))
        return column

    def _renumber(self) -> None:
        """Closes the gaps that removed rows have left."""
        rows = [(key, self._rows[number]) for key, number in self._number_of.items()]
        self._keys = [key for key, _ in rows]
        self._number_of = {key: number for number, key in enumerate(self._keys)}
        self._rows = {number: row for number, (_, row) in enumerate(rows)}
        self._live = (1 << len(rows)) - 1
        self._columns.clear()
        self._forget_answers()
