"""No expression hangs or exhausts the process: it is refused, or stopped within its budget."""

from __future__ import annotations

import time

import pytest

from headgate import cel

ENVIRONMENT = cel.CelEnvironment({"l": cel.list_of(cel.DYN), "s": cel.STRING, "d": cel.DYN})
BINDINGS = {"l": list(range(1000)), "s": "x" * 100_000, "d": {}}
PATIENCE_SECONDS = 5.0
"""Of processor time; far more than any of these takes. Without limits most would take hours."""


def nested(levels: int, macro: str = "all") -> str:
    text = "true"
    for level in range(levels):
        text = f"l.{macro}(x{level}, {text})"
    return text


def bound(levels: int, first: str, following: str, last: str) -> str:
    """Each name made of the one before it."""
    names = "".join(f"cel.bind(a{n}, {following.replace('A', f'a{n - 1}')}, " for n in range(1, levels + 1))
    return f"cel.bind(a0, {first}, {names}{last.replace('A', f'a{levels}')}{')' * (levels + 1)}"


STOPPED = {
    "nested loops": nested(8),
    "nested lists": "l.map(a, l.map(b, l.map(c, a + b + c)))",
    "string doubling": bound(25, "'xxxxxxxxxx'", "A + A", "size(A)"),
    "list doubling": bound(25, "[1]", "A + A", "size(A)"),
    "a shared list compared": bound(25, "[1]", "[A, A]", "A == A"),
    "a shared list printed": bound(25, "[1]", "[A, A]", "size('%s'.format([A]))"),
    "a shared list made distinct": bound(25, "[1]", "[A, A]", "[A].distinct()"),
    "quoting what is quoted": bound(25, '\'""""\'', "strings.quote(A)", "size(A)"),
    "replacing each character": "size(s.replace('x', s))",
    "joining": "l.map(i, s).join(s)",
    "a huge range": "lists.range(100000000)",
    "ranges of ranges": "lists.range(900000).map(x, lists.range(900000))",
    "large texts formatted": "l.map(i, '%s%s'.format([s, s]))",
    "a pattern that backtracks": "l.map(i, s.matches('(x+x+)+y'))",
    "patterns made in a loop": "l.map(i, s.matches('(.*)*(.*)*(.*)*z' + string(i)))",
    "searching": "l.all(i, !s.contains('xxxxxxxxxxxxxxxxxxxxxxxxxy'))",
    "lists compared": "l.all(i, l.all(j, l == l))",
    "lists searched": "l.all(i, l.all(j, !(-1 in l)))",
    "sorting": "l.map(i, l.sort())",
    "sets": "l.map(i, sets.contains(l, l))",
    "splitting": "l.map(i, s.split(''))",
    "substrings": "l.map(i, s.substring(1))",
    "reversing": "l.map(i, s.reverse())",
    "replacing by pattern": "l.map(i, regex.replace(s, 'x', 'xx'))",
    "extracting": "l.map(i, regex.extractAll(s, 'x'))",
    "encoding": "l.map(i, base64.encode(bytes(s)))",
    "maps": "l.transformList(i, v, l.transformMap(j, w, l))",
}


@pytest.mark.parametrize("text", STOPPED.values(), ids=STOPPED.keys())
def test_a_costly_evaluation_is_stopped(text: str) -> None:
    program = ENVIRONMENT.compile(text)
    start = time.process_time()
    with pytest.raises(cel.BudgetExceeded):
        program.evaluate(BINDINGS)
    with pytest.raises(cel.BudgetExceeded):
        program.evaluate_counted(BINDINGS)
    assert time.process_time() - start < PATIENCE_SECONDS


REFUSED = {
    "loops too deep": nested(9),
    "optMap chained": "optional.of(1)" + ".optMap(x, x)" * 40,
    "optMap chained in brackets": "(" * 20 + "optional.of(1)" + ".optMap(x, x))" * 20,
    "parentheses": "(" * 5000 + "1" + ")" * 5000,
    "brackets": "[" * 5000 + "]" * 5000,
    "braces": "{1:" * 3000 + "1" + "}" * 3000,
    "fields": "d" + ".a" * 5000,
    "sums": "1" + "+1" * 5000,
    "negations": "-(" * 500 + "1" + ")" * 500,
    "conditions": "true ? 1 : " * 1500 + "1",
    "quotes": "'''" * 6000,
    "raw quotes": "r'" * 9000,
    "mixed quotes": "\"'" * 9000,
    "words": "AND " * 4000,
    "back-ticks": "`" * 19_999,
    "length": "1" + " " * 30_000,
    "half a surrogate pair": "'\ud800'",
    "a huge pattern": "s.matches('(a{1000}){1000}')",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_a_monstrous_text_is_refused_quickly(text: str) -> None:
    start = time.process_time()
    with pytest.raises(cel.CompileError) as raised:
        ENVIRONMENT.compile(text)
    assert time.process_time() - start < PATIENCE_SECONDS
    assert len(str(raised.value)) < 100_000


HARMLESS = {
    "a failing name used twice by each of 25": bound(25, "1 / 0 > 1", "A || A", "A || true"),
    "many negations": "!" * 15_000 + "true",
    "many terms": "d.a == 1 || " * 1500 + "true",
    "a long list": "size([" + "1," * 9000 + "1]) > 0",
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_only_looks_costly_is_evaluated(text: str) -> None:
    assert ENVIRONMENT.compile(text).evaluate(BINDINGS) is True


def test_a_huge_precision_is_an_error() -> None:
    with pytest.raises(cel.EvaluationError, match="precision 100000000 is too large"):
        ENVIRONMENT.compile("'%.100000000f'.format([1.0])").evaluate({})


def test_data_nested_without_end_is_an_error() -> None:
    endless: list[object] = []
    endless.append(endless)
    twin: list[object] = []
    twin.append(twin)
    program = ENVIRONMENT.compile("l == d")
    with pytest.raises(cel.BudgetExceeded):
        program.evaluate({"l": endless, "d": twin})
    assert not ENVIRONMENT.selector("l == d").matches({"l": endless, "d": twin})
