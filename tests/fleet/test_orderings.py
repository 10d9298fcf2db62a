"""Sorted keys are made anew exactly when something came or went."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headgate.fleet.engine.orderings import NAME, KeyRange, Ordering


class _Node:
    def __init__(self, at: int) -> None:
        self.at = at


_STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "delete", "look"]), st.sampled_from("abcde")), max_size=40
)


@given(_STEPS)
def test_a_current_ordering_has_the_keys_of_the_table(steps: list[tuple[str, str]]) -> None:
    table: dict[str, Any] = {}
    ordering = Ordering(table)
    for number, (step, name) in enumerate(steps):
        if step == "put" and name not in table:
            table[name] = _Node(number)
        elif step == "delete":
            table.pop(name, None)
        elif step == "look":
            if not ordering.is_current(table):
                ordering = Ordering(table)
            assert ordering.keys(table, NAME, lambda node: 0) == [(key,) for key in sorted(table)]
            assert ordering.keys(table, "createdAt", lambda node: node.at) == sorted(
                (node.at, key) for key, node in table.items()
            )


@given(st.sets(st.integers(0, 50)), st.integers(-1, 51), st.integers(1, 5), st.booleans())
def test_keys_after_a_position_are_those_behind_it(
    numbers: set[int], position: int, count: int, is_descending: bool
) -> None:
    keys: list[Any] = sorted((number,) for number in numbers)
    found = KeyRange(NAME, is_descending, (position,), count).of(keys)
    behind = [key for key in keys if (key < (position,) if is_descending else key > (position,))]
    assert found == (behind[::-1] if is_descending else behind)[:count]
