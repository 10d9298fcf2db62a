"""AND, OR and NOT."""

from __future__ import annotations

import pytest

from headgate import cel
from headgate.cel import words

ENVIRONMENT = cel.CelEnvironment({"a": cel.BOOL, "b": cel.BOOL, "record": cel.map_of(cel.STRING, cel.DYN)})


@pytest.mark.parametrize("a", [False, True])
@pytest.mark.parametrize("b", [False, True])
@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a AND b", "a && b"),
        ("a OR b", "a || b"),
        ("NOT a", "!a"),
        ("NOT(a)OR(b)", "!(a)||(b)"),
        ("NOT a AND NOT (b OR a)", "!a && !(b || a)"),
        ("a\nAND\nb", "a && b"),
        ("a ? NOT b : b", "a ? !b : b"),
        ("[a,b].all(x, x AND a)", "[a,b].all(x, x && a)"),
    ],
)
def test_words_mean_operators(text: str, same: str, a: bool, b: bool) -> None:
    bindings = {"a": a, "b": b}
    assert ENVIRONMENT.compile(text).evaluate(bindings) is ENVIRONMENT.compile(same).evaluate(bindings)


@pytest.mark.parametrize(
    "text",
    [
        "'a AND b'",
        '"NOT a"',
        "r'\\' + ' OR '",
        "'it\\'s AND so'",
        "'''a ' AND ' b'''",
        '"""NOT " OR"""',
        "b'a OR b'",
        "rb'NOT'",
        "record.AND",
        "record.?OR",
        "record . NOT",
        "record.`a AND b`",
        "ANDROID || NOTHING || ORDER || a_OR || OR2",
        "and || or || not",
        "a // AND b",
    ],
)
def test_what_only_looks_like_a_word_stays(text: str) -> None:
    assert words.with_operators(text) == text


def test_a_word_after_a_string_is_an_operator_again() -> None:
    assert words.with_operators("'AND' == x AND y") == "'AND' == x &&  y"


def test_every_position_stays() -> None:
    text = "a AND b OR NOT c"
    assert len(words.with_operators(text)) == len(text)


def test_words_can_be_switched_off() -> None:
    with pytest.raises(cel.CompileError):
        cel.CelEnvironment({"a": cel.BOOL}, boolean_words=False).compile("a AND a")
