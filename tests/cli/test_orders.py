"""Orders for many targets: shown first, asked for, and given in one request."""

from typing import Any

import pytest

from .conftest import Command
from .fake_api import FakeApi, Reply, problem

ANSWER: dict[str, Any] = {
    "action": "rollback",
    "deployment": "api",
    "environment": "prod",
    "dryRun": True,
    "count": 2,
    "targets": [
        {"name": "api/prod/host-1", "from": "v2", "to": "v1"},
        {"name": "api/prod/host-12", "from": None, "to": "v1"},
    ],
    "refusedCount": 1,
    "refused": [{"name": "api/prod/host-3", "reason": "api/prod/host-3 has a live job; wait for it to end"}],
}
PREVIEW = """\
api/prod/host-1   v2 -> v1
api/prod/host-12  nothing -> v1
api/prod/host-3  cannot: api/prod/host-3 has a live job; wait for it to end
"""


def test_a_dry_run_says_what_it_concerns(api: FakeApi, run: Command) -> None:
    api.on("POST", "deployments api rollback", Reply(ANSWER))
    result = run("rollback", "api", "-e", "prod", "--selector", "true", "--to", "v1", "--dry-run")
    summary = "rollback 2 targets of api in prod; 1 cannot (dry run, nothing ordered)\n"
    assert (result.exit_code, result.stdout) == (0, PREVIEW + summary)
    assert api.last.body == {"environment": "prod", "selector": "true", "to": "v1", "dryRun": True}


def test_with_yes_it_is_one_request(api: FakeApi, run: Command) -> None:
    api.on("POST", "deployments api rollback", Reply({**ANSWER, "dryRun": False}))
    result = run("rollback", "api", "-e", "prod", "--yes")
    assert (result.exit_code, result.stdout) == (0, PREVIEW + "rollback 2 targets of api in prod; 1 cannot\n")
    assert [request.body for request in api.requests] == [{"environment": "prod"}]


def test_where_nobody_can_be_asked_it_is_only_shown(api: FakeApi, run: Command) -> None:
    api.on("POST", "deployments api rollback", Reply(ANSWER))
    result = run("rollback", "api", "-e", "prod")
    assert result.exit_code == 2
    assert result.stderr.startswith(PREVIEW)
    assert "give --yes" in result.stderr
    assert [request.body["dryRun"] for request in api.requests] == [True]


def test_where_nobody_can_nothing_is_asked(api: FakeApi, run: Command) -> None:
    nobody = Reply({**ANSWER, "count": 0, "targets": []})
    refusal = problem(409, "no target can be rolled back")
    api.on(
        "POST",
        "deployments api rollback",
        lambda request: nobody if (request.body or {}).get("dryRun") else refusal,
    )
    result = run("rollback", "api", "-e", "prod")
    assert result.exit_code == 1
    assert "no target can be rolled back" in result.stderr
    assert "give --yes" not in result.stderr


@pytest.mark.parametrize("command", ["retry", "rollback", "redeploy"])
def test_what_is_refused_ends_with_one(api: FakeApi, run: Command, command: str) -> None:
    api.on("POST", f"deployments api {command}", problem(409, "no target can"))
    assert run(command, "api", "-e", "prod", "--yes").exit_code == 1


def test_what_runs_is_adopted(api: FakeApi, run: Command) -> None:
    api.on("POST", "release-targets api/prod/host-1 adopt", Reply({}))
    result = run("adopt", "api/prod/host-1", "v41")
    said = "api/prod/host-1 runs v41, as it did before; see `headgate explain api/prod/host-1`\n"
    assert (result.stdout, api.last.body) == (said, {"version": "v41"})
    api.on("POST", "deployments api adopt", Reply({**ANSWER, "action": "adopt", "dryRun": False}))
    assert run("adopt", "api", "v41", "-e", "prod", "--yes").exit_code == 0
    assert api.last.body == {"version": "v41", "environment": "prod"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("rollback api/prod/host-1 --dry-run", "--selector and --dry-run are for many targets"),
        ("rollback api/prod/host-1 -e prod", 'DEPLOYMENT: is "api/prod/host-1"'),
    ],
)
def test_one_and_many_are_not_mixed(api: FakeApi, run: Command, line: str, said: str) -> None:
    result = run(*line.split())
    assert (result.exit_code, api.requests) == (2, [])
    assert result.stderr.startswith(said)
