"""Commands that the command line offers: pasted into a shell they do what was meant, and where it was meant."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from . import fleet
from .conftest import Command
from .fake_api import FakeApi, Reply, problem
from .test_watch import stuck

EXPLANATION = "release-targets api/prod/host-2 explain"


def offered(text: str) -> list[str]:
    return re.findall("`(headgate [^`]*)`", text)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("incident-42", "incident-42"),
        ("db down", "'db down'"),
        ("$(touch x)", "'$(touch x)'"),
        ("-x", "-- -x"),
    ],
)
def test_the_end_of_a_freeze_can_be_pasted(name: str, written: str, api: FakeApi, run: Command) -> None:
    api.on("POST", "freezes", lambda request: Reply(request.body, 201))
    said = run("freeze", "--reason", "why", "--", name).stdout
    assert offered(said) == [f"headgate unfreeze {written}"]
    api.on("DELETE", f"freezes {name}", Reply(None, 204))
    assert run(*shlex.split(offered(said)[0])[1:]).exit_code == 0


def test_the_end_of_a_pause_can_be_pasted(api: FakeApi, run: Command) -> None:
    api.on("GET", "deployments web shop versions v;1", {"status": "ready"})
    api.on("PATCH", "deployments web shop versions v;1", {"status": "paused"})
    said = run("pause-version", "web shop", "v;1").stdout
    assert offered(said) == ["headgate unpause-version 'web shop' 'v;1'"]


def test_the_look_after_an_order_can_be_pasted(api: FakeApi, run: Command) -> None:
    api.on("POST", "release-targets -d/prod/n 1 retry", Reply({}))
    said = run("retry", "--", "-d/prod/n 1").stdout
    assert offered(said) == ["headgate explain -- '-d/prod/n 1'"]


def test_what_wait_offers_can_be_pasted(api: FakeApi, run: Command) -> None:
    document = stuck(failed=1)
    document["deployments"][0]["environments"][0]["stuck"][0]["target"] = "api/prod/$(touch x)"
    api.on("GET", "status", document)
    said = run("wait").stderr
    assert offered(said) == ["headgate explain 'api/prod/$(touch x)'"]


def test_how_to_play_a_scenario_can_be_pasted(tmp_path: Path, run: Command) -> None:
    file = tmp_path / "it's.yaml"
    file.write_text("apiVersion: headgate.dev/v1\nkind: Scenario\n")
    (command,) = offered(run("apply", "-f", file).stderr)
    assert shlex.split(command) == ["headgate", "simulate", str(file)]


def test_a_context_with_an_odd_name_can_be_used(run: Command) -> None:
    run("context", "add", "first", "--server", "http://127.0.0.1:1")
    said = run("context", "add", "my server", "--server", "http://127.0.0.1:2").stdout
    assert offered(said) == ["headgate context use 'my server'"]


def test_what_is_offered_goes_where_the_command_went(api: FakeApi, run: Command) -> None:
    """With what was said on the command line, in front of the command or behind it; the token is not printed."""
    api.on("GET", EXPLANATION, fleet.EXPLANATION)
    here = run("explain", "api/prod/host-2").stdout
    assert "\n    headgate unfreeze incident-42\n" in here
    given = ["--server", api.url, "--token", "hg_other", "--workspace", "my team"]
    there = f"--server {api.url} --workspace 'my team'"
    for words in (["explain", "api/prod/host-2", *given], [*given, "explain", "api/prod/host-2"]):
        said = run(*words).stdout
        assert f"\n    headgate unfreeze incident-42 {there}\n" in said
        assert "hg_other" not in said


def test_what_a_deployment_offers_goes_there_too(api: FakeApi, run: Command) -> None:
    api.on("GET", "deployments api explain", fleet.REASONS)
    said = run("explain", "api", "--workspace", "team").stdout
    assert "\n    headgate retry api/prod/host-1 --workspace team\n" in said


def test_the_options_stand_before_a_name_that_looks_like_one(api: FakeApi, run: Command) -> None:
    action: dict[str, Any] = {**fleet.EXPLANATION["actions"][0], "command": "headgate unfreeze -- -x"}
    api.on("GET", EXPLANATION, {**fleet.EXPLANATION, "actions": [action]})
    said = run("explain", "api/prod/host-2", "--workspace", "team").stdout
    assert "\n    headgate unfreeze --workspace team -- -x\n" in said


def test_what_the_server_offers_stays_as_it_is_for_programs(api: FakeApi, run: Command) -> None:
    api.on("GET", EXPLANATION, fleet.EXPLANATION)
    said = run("explain", "api/prod/host-2", "-o", "json", "--workspace", "team").stdout
    assert "team" not in said


def test_every_sentence_with_a_command_goes_there(api: FakeApi, run: Command) -> None:
    api.on("POST", "freezes", lambda request: Reply(request.body, 201))
    api.on("GET", "status", {"deployments": []})
    api.on("GET", "whoami", problem(403, "no"))
    api.on("POST", "skips", lambda request: Reply({**request.body, "id": "s-1"}, 201))
    sentences = [
        run("freeze", "x", "--reason", "why", "--workspace", "team").stdout,
        run("skip", "two eyes", "--reason", "why", "--workspace", "team").stdout,
        run("status", "--workspace", "team").stdout,
        run("whoami", "--workspace", "team").stderr,
    ]
    commands = [command for sentence in sentences for command in offered(sentence)]
    assert commands == [
        "headgate unfreeze x --workspace team",
        "headgate delete skip s-1 --workspace team",
        "headgate get deployments --workspace team",
        "headgate get environments --workspace team",
        "headgate whoami --workspace team",
    ]
