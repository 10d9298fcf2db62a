"""Reasons of conditions and events are words of one closed list, whoever says them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import headgate
from headgate.kernel.decisions import Reason
from headgate.simulate.run import simulate
from headgate.simulate.scenario import load_all

ROOT = Path(__file__).parents[2]
PACKAGE = Path(headgate.__file__).parent
SPOKEN = {"Condition": 2, "ObjectEvent": 2, "Stuck": 1, "pending": 0, "denied": 0, "Announcement": 2}
"""What is made with a reason, and which argument it is."""
WORDS = frozenset(reason.value for reason in Reason)
FOREIGN = frozenset({"PodGang"})
"""Kinds whose conditions others than Headgate's controllers write."""


def free_words(text: str) -> Iterator[str]:
    """Reasons that are written out where they are given."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            place = SPOKEN.get(getattr(node.func, "id", getattr(node.func, "attr", "")))
            given = node.args[place : place + 1] if place is not None else []
            given += [one.value for one in node.keywords if place is not None and one.arg == "reason"]
            yield from (str(one.value) for one in given if isinstance(one, ast.Constant))


@pytest.mark.parametrize("level", ["graph", "workload", "operator", "cluster"])
def test_no_level_says_a_reason_in_words_of_its_own(level: str) -> None:
    assert {
        word for path in (PACKAGE / level).rglob("*.py") for word in free_words(path.read_text())
    } == set()


def test_a_reason_in_words_of_its_own_would_be_found() -> None:
    text = 'a = Condition(READY, "False", "Broken")\nb = decisions.pending(Reason.PAUSED, "x")\nc = ObjectEvent(a, "Normal", reason="New")'
    assert set(free_words(text)) == {"Broken", "New"}


@pytest.mark.parametrize("folder", ["graph/pipeline", "graph/lifecycle", "workload/stuck", "workload/status"])
def test_whatever_an_example_shows_has_a_known_reason(folder: str) -> None:
    shown = [
        condition
        for path in sorted((ROOT / "examples" / folder).rglob("*.yaml"))
        for scenario in load_all(path)
        for condition in simulate(scenario).conditions
        if condition["kind"] not in FOREIGN
    ]
    assert shown
    assert {condition["reason"] for condition in shown} <= WORDS
