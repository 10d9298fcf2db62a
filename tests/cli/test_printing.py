"""Tables, times and names: how documents reach the eye."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.cli import cells, pairs, terminal
from headgate.kernel import instants
from headgate.screens import tables

from .conftest import NOW


def test_columns_are_aligned_and_lines_end_where_their_text_ends() -> None:
    assert tables.aligned([["NAME", "X"], ["a", ""], ["long name", "1"]]) == [
        "NAME       X",
        "a",
        "long name  1",
    ]


def test_wide_characters_take_two_places() -> None:
    lines = tables.aligned([["名前", "x"], ["ab", "y"]])
    assert lines == ["名前  x", "ab    y"]


def test_only_the_last_column_is_cut() -> None:
    lines = tables.aligned([["a", "b" * 60]], cut_to=30)
    assert lines == ["a  " + "b" * 26 + "…"]


def test_text_of_a_server_cannot_steer_the_terminal() -> None:
    assert tables.printable("a\x1b[2Jb\r\nc\u202ed") == "a\\x1b[2Jb\\r c\\u202ed"


@given(st.text())
def test_no_text_has_control_characters_left(text: str) -> None:
    assert not any(unicodedata.category(one) in ("Cc", "Cf", "Cs") for one in tables.printable(text))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "now"),
        (45, "45s ago"),
        (150, "2m30s ago"),
        (600, "10m ago"),
        (5400, "1h30m ago"),
        (86_400 * 4, "4d ago"),
    ],
)
def test_times_are_said_from_now(monkeypatch: pytest.MonkeyPatch, seconds: int, said: str) -> None:
    monkeypatch.setattr(pairs, "now", lambda: NOW)
    assert cells.ago(instants.show(NOW - instants.seconds(seconds))) == said


def test_times_to_come_are_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "now", lambda: NOW)
    assert cells.ago(instants.show(NOW + instants.minutes(5))) == "in 5m"


def test_there_is_no_colour_in_a_pipe() -> None:
    assert not terminal.wanted()
    assert terminal.of_state("failed") == "failed"


@pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_there_is_no_colour_for_those_who_want_none(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert terminal.wanted()
    monkeypatch.setenv(variable, value)
    assert not terminal.wanted()
