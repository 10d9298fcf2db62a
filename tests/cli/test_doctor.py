"""`doctor`: every check, right or wrong, with what to do; and the clock that it repairs."""

from __future__ import annotations

import json
from typing import Any

from .conftest import Command
from .fake_api import FakeApi


def _check(name: str, *messages: tuple[str | None, str], count: int = 0) -> dict[str, Any]:
    return {
        "name": name,
        "description": f"{name} is well",
        "status": "problem" if messages else "ok",
        "problems": [
            {"workspace": workspace, "message": message, "since": "2026-03-01T10:00:00Z"}
            for workspace, message in messages
        ],
        "advice": f"mend the {name}",
        "count": count,
    }


def test_where_nothing_is_wrong_it_says_so_and_ends_with_0(api: FakeApi, run: Command) -> None:
    api.on("GET", "checks", {"checks": [_check("database"), _check("divergence", count=2)]})
    result = run("doctor")
    assert result.exit_code == 0
    assert result.stdout == (
        "OK       database: database is well\n"
        "OK       divergence: divergence is well (wrong 2 times since the server started)\n"
    )


def test_what_is_wrong_is_said_with_what_to_do_and_it_ends_with_1(api: FakeApi, run: Command) -> None:
    checks = [_check("disk", (None, "it is full")), _check("clock", ("team", "a day ahead"))]
    api.on("GET", "checks", {"checks": checks})
    result = run("doctor")
    assert result.exit_code == 1
    assert result.stdout == (
        "PROBLEM  disk: it is full (since 2026-03-01T10:00:00Z)\n"
        "         mend the disk\n"
        "PROBLEM  clock of team: a day ahead (since 2026-03-01T10:00:00Z)\n"
        "         mend the clock\n"
    )
    written = run("doctor", "-o", "json")
    assert (written.exit_code, json.loads(written.stdout)) == (1, {"checks": checks})


def test_it_takes_the_time_of_a_workspace_back(api: FakeApi, run: Command) -> None:
    api.on(
        "POST", "workspaces team repair-clock", {"was": "2026-03-02T10:00:00Z", "now": "2026-03-01T10:00:00Z"}
    )
    result = run("doctor", "--repair-clock", "team")
    assert result.exit_code == 0
    assert result.stdout == (
        "the time of team was taken back from 2026-03-02T10:00:00Z to 2026-03-01T10:00:00Z\n"
    )


def test_a_server_that_is_away_is_another_answer(run: Command, api: FakeApi) -> None:
    result = run("doctor", "--server", "http://127.0.0.1:1")
    assert result.exit_code == 4
