import pytest

from headgate.simulate import expectations
from headgate.simulate.scenario import Expectation

DOCUMENT = {
    "jobs": [{"deployment": "api", "status": "failure"}, {"deployment": "web", "status": "successful"}],
    "budgets": [{"peak": 3, "limit": 2}],
}


def message(that: str) -> str:
    (judged,) = expectations.judge([Expectation("it", that)], DOCUMENT)
    assert not judged.passed
    return judged.message


def test_what_holds_has_no_message() -> None:
    (judged,) = expectations.judge([Expectation("it", "result.jobs.size() == 2")], DOCUMENT)
    assert judged.passed
    assert judged.message == ""


def test_a_comparison_shows_the_side_that_is_not_written_out() -> None:
    assert message("result.jobs.size() == 3").splitlines() == [
        "result.jobs.size() == 3",
        "is false",
        "  result.jobs.size() is 2",
    ]


def test_a_conjunction_shows_only_the_part_that_is_not_true() -> None:
    assert message("result.jobs.size() == 2 && result.budgets[0].peak <= 2").splitlines()[1:] == [
        "is false",
        "  result.budgets[0].peak <= 2 is false",
        "    result.budgets[0].peak is 3",
    ]


def test_of_alternatives_each_is_shown() -> None:
    assert message("result.jobs.size() > 5 || result.budgets[0].peak == 2").splitlines()[1:] == [
        "is false",
        "  result.jobs.size() > 5 is false",
        "    result.jobs.size() is 2",
        "  result.budgets[0].peak == 2 is false",
        "    result.budgets[0].peak is 3",
    ]


@pytest.mark.parametrize(
    "text", ["result.budgets.all(b, b.peak <= b.limit)", "result.budgets.withinLimits()"]
)
def test_a_walk_over_a_list_shows_the_list(text: str) -> None:
    assert '  result.budgets is [{"peak": 3, "limit": 2}]' in message(text)


def test_an_expression_that_fails_to_evaluate_says_so() -> None:
    assert "fails to evaluate" in message("result.gone.size() == 0")


def test_a_value_that_is_no_truth_is_shown() -> None:
    assert "is 2, not true or false" in message("result.jobs.size() + dyn(0)")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a && b", ["a", "b"]),
        ("a.all(x, x && y) && b", ["a.all(x, x && y)", "b"]),
        ("a == '&&' && b", ["a == '&&'", "b"]),
        (r"a == '\'&&' && b", [r"a == '\'&&'", "b"]),
        ("[a && b]", ["[a && b]"]),
    ],
)
def test_an_expression_is_split_outside_brackets_and_strings(text: str, parts: list[str]) -> None:
    assert expectations.split_outside(text, "&&") == parts
