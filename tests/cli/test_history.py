"""`headgate history`."""

from .conftest import Command
from .fake_api import FakeApi

WAS = {
    "at": "2026-03-01T08:00:00Z",
    "earliest": "2026-01-01T00:00:00Z",
    "position": 7,
    "targets": [
        {
            "name": "api/prod/n-1",
            "state": "running",
            "current": "v1",
            "reason": None,
            "job": {"id": "1", "status": "inProgress", "version": "v2"},
        },
        {"name": "api/prod/n-2", "state": "waiting", "current": None, "reason": "BudgetSpent", "job": None},
    ],
    "groups": [],
    "budgets": [{"policy": "limit", "rule": "one", "environment": None, "used": 1, "limit": 1}],
}


def test_a_past_moment_is_a_table(api: FakeApi, run: Command) -> None:
    api.on("GET", "history", WAS)
    assert run("history", "--at", "2h").stdout == (
        "2026-03-01T08:00:00Z: 1 running, 1 waiting\n"
        "\n"
        "TARGET        STATE    RUNS  GETS  REASON\n"
        "api/prod/n-1  running  v1    v2\n"
        "api/prod/n-2  waiting  -     -     BudgetSpent\n"
        "\n"
        "BUDGET OF  RULE  ENVIRONMENT  USED\n"
        "limit      one   -            1 of 1\n"
    )
    assert api.last.query["at"] == "2026-03-01T08:00:00Z"


def test_a_moment_is_handed_on_as_it_is_written(api: FakeApi, run: Command) -> None:
    api.on("GET", "history", WAS)
    run("history", "--at", "2026-03-01T07:00:00Z", "-e", "prod")
    assert (api.last.query["at"], api.last.query["environment"]) == ("2026-03-01T07:00:00Z", "prod")


def test_what_has_changed_is_told_line_by_line(api: FakeApi, run: Command) -> None:
    target = {"name": "api/prod/n-1", "state": "running", "current": "v1", "reason": None, "job": None}
    changes = [
        {"at": "2026-03-01T08:00:00Z", "table": "targets", "name": "api/prod/n-1", "row": target},
        {
            "at": "2026-03-01T08:00:01Z",
            "table": "budgets",
            "name": "limit/one",
            "row": {"used": 1, "limit": 2},
        },
        {"at": "2026-03-01T08:00:02Z", "table": "targets", "name": "api/prod/n-1", "row": None},
    ]
    api.on("GET", "history changes", {"earliest": "2026-01-01T00:00:00Z", "wasCut": True, "changes": changes})
    assert run("history", "--since", "2h").stdout == (
        "AT                    NAME          IS       RUNS\n"
        "2026-03-01T08:00:00Z  api/prod/n-1  running  v1\n"
        "2026-03-01T08:00:01Z  limit/one     1 of 2\n"
        "2026-03-01T08:00:02Z  api/prod/n-1  gone\n"
        "What was before is not shown: it is too much, or no longer kept.\n"
    )
    assert api.last.query["since"] == "2026-03-01T08:00:00Z"


def test_one_of_both_is_asked_for(api: FakeApi, run: Command) -> None:
    assert run("history").exit_code == 2
    assert run("history", "--at", "2h", "--since", "2h").exit_code == 2
    assert run("history", "--at", "2h", "--until", "1h").exit_code == 2
