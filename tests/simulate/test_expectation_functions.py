"""What expectations may call beside CEL's own functions, and that each of them is documented."""

from pathlib import Path
from typing import Any

import pytest

from headgate import cel
from headgate.simulate.expectation_functions import EXPECT, FUNCTIONS

DAY = "2026-03-02T"


def value(text: str, **result: Any) -> object:
    return EXPECT.compile(text).evaluate({"result": result})


def pod(ready: str | None, deleted: str | None = None) -> dict[str, Any]:
    return {
        "readyAt": ready and f"{DAY}{ready}:00Z",
        "deletedAt": deleted and f"{DAY}{deleted}:00Z",
    }


def test_rows_are_lines_of_the_named_fields() -> None:
    jobs = [{"at": f"{DAY}09:00:00Z", "resource": "n1", "attempt": 2, "group": None, "late": True}]
    assert value("result.jobs.rows('at resource attempt group late')", jobs=jobs) == ["09:00 n1 2 - true"]


@pytest.mark.parametrize(
    ("time", "shown"),
    [("09:00:00Z", "09:00"), ("09:00:30Z", "09:00:30"), ("09:00:00.5Z", "09:00:00.5")],
)
def test_seconds_are_shown_where_there_are_some(time: str, shown: str) -> None:
    assert value("result.jobs.rows('createdAt')", jobs=[{"createdAt": DAY + time}]) == [shown]


def test_a_field_that_there_is_not_is_an_error_with_those_that_there_are() -> None:
    with pytest.raises(cel.EvaluationError, match=r"no field version; there are createdAt, tag"):
        value("result.jobs.rows('version')", jobs=[{"tag": "v1", "createdAt": None}])


def test_what_was_deleted_is_not_living() -> None:
    pods = [pod("09:00", "09:05"), pod("09:01")]
    assert value("result.pods.living() == [result.pods[1]]", pods=pods) is True


def test_the_fewest_ready_pods_are_counted_from_the_moment_on() -> None:
    pods = [pod("09:00", "09:10"), pod("09:00", "09:20"), pod("09:15"), pod("09:19"), pod(None)]
    assert value(f"result.pods.leastReady('{DAY}09:00:00Z')", pods=pods) == 1
    assert value(f"result.pods.leastReady('{DAY}09:15:00Z')", pods=pods) == 2
    assert value(f"result.pods.leastReady('{DAY}08:00:00Z')", pods=pods) == 0


def test_a_pod_that_becomes_ready_as_another_goes_takes_its_place() -> None:
    pods = [pod("09:00", "09:10"), pod("09:10")]
    assert value(f"result.pods.leastReady('{DAY}09:00:00Z')", pods=pods) == 1


@pytest.mark.parametrize(
    ("peaks", "holds"), [((1, 2), True), ((2,), True), ((1, 3), False), ((3, 1), False), ((), False)]
)
def test_limits_hold_if_no_budget_was_ever_over_its_own_and_there_are_some(
    peaks: tuple[int, ...], holds: bool
) -> None:
    budgets = [{"peak": peak, "limit": 2} for peak in peaks]
    assert value("result.budgets.withinLimits()", budgets=budgets) is holds


def test_they_are_for_lists_of_the_result() -> None:
    with pytest.raises(cel.EvaluationError, match=r"living\(\) is for lists of the result"):
        value("result.names.living()", names=["a"])


@pytest.mark.parametrize("name", [function.name for function in FUNCTIONS])
def test_every_function_is_documented(name: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "scenarios.md"
    assert f".{name}(" in page.read_text("utf-8")
