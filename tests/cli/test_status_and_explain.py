"""The matrix, and the explanation of one target."""

import json
from pathlib import Path

import pytest

from . import fleet, golden
from .conftest import Command
from .fake_api import FakeApi

WHY = Path(__file__).parents[2] / "docs" / "explain.md"


def test_status_is_a_matrix(api: FakeApi, run: Command) -> None:
    api.on("GET", "status", fleet.STATUS)
    golden.compare("status", run("status").stdout)


def test_status_is_a_long_table_where_the_matrix_does_not_fit(
    api: FakeApi, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.on("GET", "status", fleet.STATUS)
    monkeypatch.setenv("COLUMNS", "60")
    golden.compare("status-narrow", run("status").stdout)


def test_wide_status_is_a_long_table(api: FakeApi, run: Command) -> None:
    api.on("GET", "status", fleet.STATUS)
    golden.compare("status-wide", run("status", "-o", "wide").stdout)


def test_status_of_one_deployment(api: FakeApi, run: Command) -> None:
    api.on("GET", "status", fleet.STATUS)
    assert run("status", "os-patch", "-o", "name").stdout == "os-patch/prod\n"
    assert len(json.loads(run("status", "os-patch", "-o", "json").stdout)["deployments"]) == 1


def test_status_of_an_unknown_deployment_names_the_known_ones(api: FakeApi, run: Command) -> None:
    api.on("GET", "status", fleet.STATUS)
    result = run("status", "gone")
    assert (result.exit_code, result.stderr) == (
        1,
        'DEPLOYMENT: is "gone"; with targets there are kubelet-upgrade, os-patch\n',
    )


@pytest.mark.parametrize(
    ("orders", "columns"),
    [
        (["staging prod", "dev staging", "dev canary prod"], "dev staging canary prod"),
        (["b c", "a", "a b"], "a b c"),
        (["a c", "b c", "d"], "a b c d"),
        (["a b", "b a"], "a b"),
        (["b a c", "a b", "c d"], "b a c d"),
    ],
)
def test_environments_stand_in_the_order_of_promotion_of_every_deployment(
    orders: list[str], columns: str, api: FakeApi, run: Command
) -> None:
    environment = fleet.STATUS["deployments"][0]["environments"][0]
    deployments = [
        {"name": f"d-{number}", "environments": [{**environment, "name": name} for name in order.split()]}
        for number, order in enumerate(orders)
    ]
    api.on("GET", "status", {"deployments": deployments})
    assert run("status").stdout.splitlines()[0].split() == ["DEPLOYMENT", *columns.split()]


def test_at_most_ten_are_shown_waiting_and_the_rest_counted(api: FakeApi, run: Command) -> None:
    waiting = [{"target": f"api/prod/n-{number}", "message": "waits"} for number in range(3)]
    environments = [
        {
            "name": f"e-{number}",
            "newest": "v1",
            "newestSuccessful": None,
            "counts": fleet.counts(waiting=7),
            "waiting": waiting,
        }
        for number in range(5)
    ]
    api.on("GET", "status", {"deployments": [{"name": "api", "environments": environments}]})
    lines = run("status").stdout.splitlines()
    assert len([line for line in lines if line.endswith("  waits")]) == 10
    assert lines[-1].startswith("  and 25 more;")


def test_what_runs_is_counted_where_no_version_is_ready_any_more(api: FakeApi, run: Command) -> None:
    """Its versions are paused, or were marked as bad: what was deployed of them is still there."""
    paused = {"name": "prod", "newest": None, "newestSuccessful": "v2", "counts": fleet.counts(upToDate=3)}
    bad = {
        "name": "edge",
        "newest": None,
        "newestSuccessful": None,
        "counts": fleet.counts(waiting=1, noVersion=1),
    }
    api.on("GET", "status", {"deployments": [{"name": "api", "environments": [paused, bad]}]})
    assert run("status").stdout == (
        "DEPLOYMENT  prod                       edge\n"
        "api         none ready (v2 succeeded)  no version\n"
        "            3/3 up to date             0/2 up to date\n"
        "                                       1 waiting, 1 without version\n"
    )


def test_an_empty_workspace_has_a_status_too(api: FakeApi, run: Command) -> None:
    api.on("GET", "status", {"deployments": []})
    assert run("status").stdout.startswith("no deployment has a target yet: a resource becomes one where")
    assert run("status", "api").stderr == 'DEPLOYMENT: is "api"; with targets there are none\n'


def test_explain_prints_every_gate(api: FakeApi, run: Command) -> None:
    api.on("GET", "release-targets api/prod/host-2 explain", fleet.EXPLANATION)
    golden.compare("explain", run("explain", "api/prod/host-2").stdout)


def test_explain_gives_what_the_api_gives(api: FakeApi, run: Command) -> None:
    api.on("GET", "release-targets api/prod/host-2 explain", fleet.EXPLANATION)
    assert json.loads(run("explain", "api/prod/host-2", "-o", "json").stdout) == fleet.EXPLANATION


def test_explain_refuses_a_name_that_is_none(api: FakeApi, run: Command) -> None:
    assert run("explain", "api/prod").exit_code == 2
    assert api.requests == []


def test_a_deployment_is_explained_reason_by_reason(api: FakeApi, run: Command) -> None:
    api.on("GET", "deployments api explain", fleet.REASONS)
    result = run("explain", "api", "-e", "prod")
    assert api.requests[-1].query == {"environment": "prod"}
    golden.compare("explain-deployment", result.stdout)


def test_status_says_when_what_moves_will_be_over(api: FakeApi, run: Command) -> None:
    rollout = {"deployment": "kubelet-upgrade", "environment": "prod", "finishAt": "2026-03-01T11:20:30Z"}
    api.on("GET", "status", fleet.STATUS)
    api.on("GET", "forecast", {"madeAt": "2026-03-01T09:31:10Z", "rollouts": [rollout]})
    assert "done about 11:20 (as of 09:31 UTC)" in run("status").stdout
