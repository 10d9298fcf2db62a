"""The matrix, and the explanation of one target."""

import json
from pathlib import Path

import pytest

from headgate.cli import explanation_text
from headgate.kernel import instants
from headgate.simulate import timeline_text
from headgate.simulate.run import simulate
from headgate.simulate.scenario import load

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
        'DEPLOYMENT: is "gone"; there are kubelet-upgrade, os-patch\n',
    )


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


def test_an_empty_workspace_has_a_status_too(api: FakeApi, run: Command) -> None:
    api.on("GET", "status", {"deployments": []})
    assert run("status").stdout == "no deployments\n"


def test_explain_prints_every_gate(api: FakeApi, run: Command) -> None:
    api.on("GET", "release-targets api/prod/host-2 explain", fleet.EXPLANATION)
    golden.compare("explain", run("explain", "api/prod/host-2").stdout)


def test_explain_gives_what_the_api_gives(api: FakeApi, run: Command) -> None:
    api.on("GET", "release-targets api/prod/host-2 explain", fleet.EXPLANATION)
    assert json.loads(run("explain", "api/prod/host-2", "-o", "json").stdout) == fleet.EXPLANATION


def test_explain_refuses_a_name_that_is_none(api: FakeApi, run: Command) -> None:
    assert run("explain", "api/prod").exit_code == 2
    assert api.requests == []


def test_an_explanation_looks_as_the_simulator_prints_it(tmp_path: Path) -> None:
    """Only the clock differs: a scenario counts days."""
    text = WHY.read_text("utf-8")
    file = tmp_path / "why.yaml"
    file.write_text(text[text.index("# why.yaml") : text.index("```\n", text.index("# why.yaml"))])
    result = simulate(load(file))
    printed = timeline_text.render(result)
    assert len(result.document()["explanations"]) == 5
    for explained, document in zip(result.explanations, result.document()["explanations"]):
        lines = list(explanation_text.render({**document, "message": explained.message}, explained.at))
        head, *body = lines[:-1]
        day = head.replace(" at ", " at Day 1 ")
        assert day in printed
        words = " ".join(" ".join(body).split()).replace("again ", "again Day 1 ")
        assert words in " ".join(printed.split())
        assert instants.show_clock(explained.at) in head
