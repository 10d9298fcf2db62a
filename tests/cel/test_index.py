"""An index answers as a scan does."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import cel

RECORD = cel.map_of(cel.STRING, cel.DYN)
ENVIRONMENT = cel.CelEnvironment({"resource": RECORD, "deployment": RECORD})

VALUES = [
    "a",
    "ab",
    "b",
    "",
    0,
    1,
    1.0,
    2,
    True,
    False,
    None,
    [1],
    {"x": 1},
    0.5,
    cel.Uint(2),
    float("nan"),
    2**60,
]
TERMS = [
    "resource.zone == 'a'",
    "resource.meta.zone == 'a'",
    "resource.meta['zone'] != 'ab'",
    "'b' == resource.zone",
    "resource.zone == 1",
    "resource.zone == true",
    "resource.zone == null",
    "resource.zone == 0.0",
    "resource.zone == 1152921504606846976",
    "resource.zone in ['a', 'b', 1]",
    "resource.zone in deployment.zones",
    "resource.zone in [[1], 'a']",
    "resource.zone in deployment",
    "resource.zone.startsWith('a')",
    "resource.meta.zone.startsWith(deployment.zone)",
    "resource.zone.startsWith(deployment.missing)",
    "has(resource.zone)",
    "has(resource.meta.zone)",
    "has(resource.meta.zone.x)",
    "resource.zone",
    "resource.meta.zone",
    "resource.?zone.hasValue()",
    "resource.meta.?zone.orValue('a') == 'a'",
    "resource.zone == resource.meta.zone",
    "resource.zone == deployment.zone",
    "resource.zone == deployment.missing",
    "resource.zone == deployment.zones",
    "deployment.zone == 'a'",
    "deployment.missing == 'a'",
    "deployment.zone",
    "size(resource) > 1",
    "resource.zone > 0",
    "true",
    "resource.meta.exists(k, v, v == 1)",
]


def expression(chance: random.Random, depth: int) -> str:
    if depth == 0:
        return chance.choice(TERMS)
    match chance.randrange(3):
        case 0:
            return f"!({expression(chance, depth - 1)})"
        case 1:
            return f"({expression(chance, depth - 1)} && {expression(chance, depth - 1)})"
    return f"({expression(chance, depth - 1)} || {expression(chance, depth - 1)})"


def row(chance: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if chance.randrange(4):
        made["zone"] = chance.choice(VALUES)
    if chance.randrange(4):
        made["meta"] = chance.choice([{"zone": chance.choice(VALUES)}, {}, "text", {"zone": {"x": 1}}])
    return made


def scan(rows: dict[str, Any], selector: cel.Selector, bindings: dict[str, Any]) -> list[str]:
    return [key for key, each in rows.items() if selector.matches({**bindings, "resource": each})]


@settings(max_examples=250, deadline=None, database=None)
@given(st.integers(min_value=0, max_value=2**40))
def test_select_finds_what_a_scan_finds_while_rows_come_change_and_go(seed: int) -> None:
    chance = random.Random(seed)
    index = cel.SelectorIndex("resource")
    rows: dict[str, Any] = {}
    deployment = {
        "zone": chance.choice(["a", "", "b", True]),
        "zones": chance.choice([["a", 1], [], "a", [[1]]]),
    }
    bindings = {"deployment": deployment}
    for _ in range(4):
        for _ in range(20):
            key = f"r{chance.randrange(30)}"
            if key in rows and not chance.randrange(4):
                del rows[key]
                index.remove(key)
            else:
                rows[key] = row(chance)
                index.put(key, rows[key])
        selector = ENVIRONMENT.selector(expression(chance, chance.randrange(4)))
        assert index.select(selector, bindings) == scan(rows, selector, bindings), selector


@settings(max_examples=100, deadline=None, database=None)
@given(st.integers(min_value=0, max_value=2**40))
def test_a_selector_that_is_asked_again_and_again_follows_every_few_rows(seed: int) -> None:
    chance = random.Random(seed)
    index, rows = filled(60)
    selectors = [
        ENVIRONMENT.selector(text) for text in ("resource.zone == 'a'", "resource.zone != 'b'", "true")
    ]
    for _ in range(30):
        for _ in range(chance.choice([1, 1, 2, 5, 20])):
            key = f"r{chance.randrange(80)}"
            if key in rows and chance.randrange(2):
                del rows[key]
                index.remove(key)
            else:
                rows[key] = {"zone": chance.choice("abc")}
                index.put(key, rows[key])
        selector = chance.choice(selectors)
        assert index.select(selector) == scan(rows, selector, {}), selector


def filled(count: int) -> tuple[cel.SelectorIndex, dict[str, Any]]:
    rows: dict[str, Any] = {
        f"r{number}": {"name": f"n{number}", "zone": "abc"[number % 3]} for number in range(count)
    }
    index = cel.SelectorIndex("resource")
    for key, each in rows.items():
        index.put(key, each)
    return index, rows


def test_keys_come_in_the_order_in_which_they_were_put_first() -> None:
    index, rows = filled(10)
    index.put("r0", {"name": "again", "zone": "a"})
    assert index.select(ENVIRONMENT.selector("resource.zone == 'a'")) == ["r0", "r3", "r6", "r9"]
    index.remove("r3")
    index.put("r3", rows["r3"])
    assert index.select(ENVIRONMENT.selector("resource.zone == 'a'")) == ["r0", "r6", "r9", "r3"]


def test_many_distinct_values_and_many_removed_rows_change_nothing() -> None:
    index, rows = filled(2000)
    selector = ENVIRONMENT.selector("resource.name.startsWith('n1') && resource.zone != 'b'")
    assert index.select(selector) == scan(rows, selector, {})
    for number in range(0, 2000, 3):
        index.remove(f"r{number}")
        del rows[f"r{number}"]
    for number in range(1, 2000, 3):
        index.remove(f"r{number}")
        del rows[f"r{number}"]
    assert len(index) == len(rows)
    assert index.select(selector) == scan(rows, selector, {})
    assert index.select(ENVIRONMENT.selector("resource.name == 'n1001'")) == ["r1001"]


def test_a_key_that_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(KeyError):
        cel.SelectorIndex("resource").remove("nobody")


def test_a_value_too_rare_for_a_column_is_still_found_after_many_others_were_asked_for() -> None:
    index, _ = filled(1000)
    for number in range(600):
        selector = ENVIRONMENT.selector(f"resource.name == 'n{number}'")
        assert index.select(selector) == [f"r{number}"]
    index.put("r5", {"name": "n700", "zone": "a"})
    assert index.select(ENVIRONMENT.selector("resource.name == 'n5'")) == []
    assert index.select(ENVIRONMENT.selector("resource.name == 'n700'")) == ["r5", "r700"]


def test_an_answer_is_the_askers_own_and_follows_the_rows() -> None:
    """Answers are kept: neither what is done to one nor rows that go, come and are renumbered may show in the next."""
    index = cel.SelectorIndex("resource")
    selector = ENVIRONMENT.selector("resource.zone == 'a'")
    for number in range(200):
        index.put(f"row-{number}", {"zone": "ab"[number % 2]})
    there = [f"row-{number}" for number in range(0, 200, 2)]
    index.select(selector).clear()
    assert index.select(selector) == there
    for number in range(0, 200, 2):
        index.remove(f"row-{number}")
        there.remove(f"row-{number}")
        assert index.select(selector) == there
        index.put(f"again-{number}", {"zone": "a"})
        there.append(f"again-{number}")
        assert index.select(selector) == there


def test_answers_that_are_kept_are_bounded() -> None:
    index = cel.SelectorIndex("resource")
    for number in range(100):
        index.put(f"row-{number}", {"zone": number})
    for number in range(1_000):
        index.select(ENVIRONMENT.selector(f"resource.zone != {number % 100}"))
        assert sum(map(len, index._answers.values())) <= 4 * 100
