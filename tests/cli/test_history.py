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
