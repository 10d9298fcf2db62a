"""`agent run`: a real process that takes jobs from a server and ends when it is asked to."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from .conftest import Command
from .fake_api import FakeApi, Reply, Request, problem

JOB = {
    "claim": {"token": 7, "until": "2030-01-01T00:00:00Z"},
    "job": {"id": "job-1", "deployment": "tool", "environment": "lab", "resource": "host-1", "version": "v1"},
    "agent": {"name": "edge", "type": "pull"},
    "config": {"maxAttempts": 2},
    "variables": {},
    "version": {},
    "resource": {},
    "environment": {},
    "deployment": {},
    "traceParent": None,
}


class Edge:
    """The server's side: one job, and what is reported of it."""

    def __init__(self, api: FakeApi, job: dict[str, object]) -> None:
        self.reports: list[dict[str, object]] = []
        self.is_over = threading.Event()
        self._jobs = [job]
        api.on("POST", "job-agents edge claim", self._claim)
        api.on("POST", "jobs job-1 report", self._report)
        api.on("POST", "jobs job-1 heartbeat", {"cancelled": False, "until": "2030-01-01T00:00:00Z"})

    def _claim(self, request: Request) -> Reply:
        if not self._jobs:
            self.is_over.wait(0.2)
        return Reply({"jobs": [self._jobs.pop()] if self._jobs else []})

    def _report(self, request: Request) -> Reply:
        self.reports.append(request.body)
        if request.body["status"] in ("successful", "failure", "invalidIntegration"):
            self.is_over.set()
        return Reply({})


def start(api: FakeApi, folder: Path, *command_line: str) -> "subprocess.Popen[str]":
    code = "from headgate.cli.main import main; main()"
    arguments = [
        "agent",
        "run",
        "--server",
        api.url,
        "--token",
        "hg_1",
        "--agent",
        "edge",
        "--folder",
        str(folder),
    ]
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments, *command_line],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HEADGATE_DEBUG": "1"},
    )


def played(api: FakeApi, folder: Path, job: dict[str, object], *command_line: str) -> tuple[Edge, str, int]:
    edge = Edge(api, job)
    process = start(api, folder, *command_line)
    is_over = edge.is_over.wait(60)
    process.send_signal(signal.SIGTERM if is_over else signal.SIGKILL)
    try:
        out, error = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        out, error = process.communicate()
    assert is_over, out + error
    return edge, out + error, process.returncode


def test_the_command_on_the_line_runs_for_each_job(api: FakeApi, tmp_path: Path) -> None:
    line = ("--", "sh", "-c", "echo $HEADGATE_RESOURCE gets $HEADGATE_VERSION")
    edge, printed, code = played(api, tmp_path / "state", JOB, *line)
    assert code == 0, printed
    assert edge.reports[-1]["status"] == "successful"
    assert edge.reports[-1]["token"] == 7
    assert "host-1 gets v1" in str(edge.reports[-1]["message"])
    assert "job-1  successful" in printed


def test_without_a_command_the_job_says_what_runs(api: FakeApi, tmp_path: Path) -> None:
    edge, printed, code = played(api, tmp_path / "state", {**JOB, "config": {"command": "exit 3"}})
    assert code == 0, printed
    assert edge.reports[-1]["status"] == "failure"


def test_a_job_without_any_command_is_refused(api: FakeApi, tmp_path: Path) -> None:
    edge, _, _ = played(api, tmp_path / "state", JOB)
    assert edge.reports[-1]["status"] == "invalidIntegration"
    assert "config.command" in str(edge.reports[-1]["message"])


@pytest.mark.parametrize(("status", "code"), [(404, 1), (403, 5), (401, 5)])
def test_what_the_server_refuses_ends_it(
    api: FakeApi, run: Command, tmp_path: Path, status: int, code: int
) -> None:
    api.on("POST", "job-agents edge claim", problem(status, "there is no job agent edge"))
    result = run("agent", "run", "--agent", "edge", "--folder", tmp_path / "state")
    assert result.exit_code == code
    assert "there is no job agent edge" in result.stderr


def test_a_token_is_needed(api: FakeApi, run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADGATE_TOKEN")
    result = run("agent", "run", "--agent", "edge")
    assert result.exit_code == 2
    assert "the token is missing" in result.stderr


def test_fields_that_it_does_not_know_are_for_the_command(api: FakeApi, tmp_path: Path) -> None:
    config = {"maxAttempts": 2, "channel": "beta", "command": ["sh", "-c", 'echo "$HEADGATE_JOB"']}
    edge, _, _ = played(api, tmp_path, {**JOB, "config": config})
    assert edge.reports[-1]["status"] == "successful"
    assert '"channel":"beta"' in str(edge.reports[-1]["message"])


def test_beside_a_command_of_this_machine_the_server_does_not_say_how_it_runs(
    api: FakeApi, tmp_path: Path
) -> None:
    marks = tmp_path / "marks"
    config = {
        "command": ["touch", str(marks)],
        "env": {"BASH_ENV": f"$(touch {marks})", "EXTRA": "from the server"},
        "workingDirectory": "/",
    }
    edge, _, _ = played(
        api, tmp_path, {**JOB, "config": config}, "--", "bash", "-c", 'echo "$EXTRA" at "$PWD"'
    )
    assert edge.reports[-1]["status"] == "successful"
    assert edge.reports[-1]["message"] == f"exit code 0: at {os.getcwd()}"
    assert not marks.exists()
