"""How long a workspace keeps its history."""

from typing import Any

import msgspec
import pytest

from headgate.runtime.retention import Retention

from .conftest import Command
from .fake_api import FakeApi, Reply

DEFAULTS: dict[str, Any] = msgspec.to_builtins(Retention())
PLACE = "workspaces default retention"


@pytest.fixture(autouse=True)
def a_workspace(api: FakeApi) -> None:
    api.on("GET", PLACE, DEFAULTS)
    api.on("PUT", PLACE, lambda request: Reply({**DEFAULTS, **request.body}))


def test_it_is_shown(run: Command) -> None:
    result = run("workspace", "retention", "default")
    assert result.stdout.splitlines() == [
        "HISTORY  DAYS  COUNT",
        "jobs     365   1,000,000",
        "groups   365   1,000,000",
        "audit    730   1,000,000",
        "events   90    1,000,000",
        "log      90    1,000,000",
    ]


def test_what_is_not_named_stays_as_it_is(api: FakeApi, run: Command) -> None:
    result = run("workspace", "retention", "default", "--days", "events=120", "--count", "jobs=2000000")
    assert result.exit_code == 0, result.output
    jobs, events = {"days": 365, "count": 2_000_000}, {"days": 120, "count": 1_000_000}
    assert api.last.body == {**DEFAULTS, "jobs": jobs, "events": events}


def test_a_legal_hold_is_said(run: Command) -> None:
    result = run("workspace", "retention", "default", "--legal-hold")
    assert result.stdout.splitlines()[-1] == "legal hold: nothing is forgotten"


def test_defaults_are_the_servers(api: FakeApi, run: Command) -> None:
    assert run("workspace", "retention", "default", "--defaults", "--yes").exit_code == 0
    assert api.last.body == {"legalHold": False}


@pytest.mark.parametrize("arguments", [["--days", "log=30"], ["--defaults"]])
def test_what_forgets_more_is_asked(arguments: list[str], api: FakeApi, run: Command) -> None:
    result = run("workspace", "retention", "default", *arguments)
    assert result.exit_code == 2
    assert "forgets more than before" in result.stderr
    assert api.sent("PUT", PLACE) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--days", "versions=3"], '--days: is for "versions"; allowed are jobs, groups, audit, events, log'),
        (["--days", "log"], '--days: is "log"; allowed is KEY=VALUE'),
        (["--count", "log=many"], '--count: log is "many"; allowed is a number'),
    ],
)
def test_what_cannot_be_set_is_said(arguments: list[str], sentence: str, run: Command) -> None:
    result = run("workspace", "retention", "default", *arguments)
    assert (result.exit_code, result.stderr.strip()) == (2, sentence)
