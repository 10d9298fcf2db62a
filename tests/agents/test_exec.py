"""Commands on this machine: run once, found again after a restart, and stopped with all of their group."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from headgate.agents import exec_run
from headgate.agents.exec import ExecAgent, ExecRun
from headgate.agents.port import Assignment, JobProgress, TryLaterError
from headgate.kernel.problems import Rejected

from .support import Shelf, play, until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "exec"


async def ended(agent: ExecAgent, assignment: Assignment) -> JobProgress:
    progress = await agent.start(assignment)
    while not progress.has_ended:
        await asyncio.sleep(progress.requeue_seconds or 0)
        progress = await agent.follow(assignment)
    return progress


def run_to_its_end(folder: Path, config: Mapping[str, Any], **given: Any) -> JobProgress:
    found: list[JobProgress] = []

    async def story() -> None:
        found.append(await ended(ExecAgent(folder), Shelf().assignment(config, **given)))

    play(story())
    return found[0]


def test_a_command_that_ends_well_is_successful_with_its_last_lines(folder: Path) -> None:
    progress = run_to_its_end(folder, {"command": "echo one; echo two >&2"})
    assert (progress.status, progress.message) == ("successful", "exit code 0: one\ntwo")


def test_a_command_that_ends_badly_is_a_failure(folder: Path) -> None:
    progress = run_to_its_end(folder, {"command": "echo broken; exit 3"})
    assert (progress.status, progress.message) == ("failure", "exit code 3: broken")


def test_a_list_is_run_without_a_shell(folder: Path) -> None:
    progress = run_to_its_end(folder, {"command": ["/bin/echo", "$HOME; rm"]})
    assert progress.message == "exit code 0: $HOME; rm"


def test_other_exit_codes_may_be_success(folder: Path) -> None:
    config = {"command": "exit 3", "successExitCodes": [0, 3], "timeoutSeconds": 1.5}
    assert run_to_its_end(folder, config).status == "successful"


def test_a_command_that_is_not_there_is_a_failure(folder: Path) -> None:
    progress = run_to_its_end(folder, {"command": ["/no/such/program"]})
    assert progress.status == "failure"
    assert progress.message == "exit code 127: /no/such/program: No such file or directory"


def test_a_command_that_a_signal_ends_is_a_failure(folder: Path) -> None:
    progress = run_to_its_end(folder, {"command": "kill -9 $$"})
    assert (progress.status, progress.message) == ("failure", "exit code 137")


def test_a_long_output_is_cut_to_its_last_lines(folder: Path) -> None:
    message = run_to_its_end(folder, {"command": "seq 1 50000"}).message or ""
    assert message.splitlines()[-1] == "50000"
    assert len(message.splitlines()) == 20
    assert len(message) <= 2_000


def test_the_command_sees_its_job_in_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_TOKEN", "of the server")
    config = {"command": "env", "env": {"COLOR": "green"}}

    async def story() -> None:
        agent, assignment = ExecAgent(folder), Shelf().assignment(config)
        await ended(agent, assignment)
        lines = (folder / "job-1" / "output").read_text().splitlines()
        seen = dict(line.split("=", 1) for line in lines if "=" in line)
        assert seen["HEADGATE_JOB_ID"] == "job-1"
        assert seen["HEADGATE_WORKSPACE"] == "home"
        assert seen["HEADGATE_DEPLOYMENT"] == "api"
        assert seen["HEADGATE_ENVIRONMENT"] == "prod"
        assert seen["HEADGATE_RESOURCE"] == "node-1"
        assert seen["HEADGATE_VERSION"] == "v2"
        assert seen["COLOR"] == "green"
        assert "HEADGATE_TOKEN" not in seen
        assert json.loads(seen["HEADGATE_VARIABLES"]) == {"replicas": 3}
        assert json.loads(seen["HEADGATE_JOB"])["version"] == {"tag": "v2"}

    play(story())


def test_a_job_too_large_for_the_environment_is_in_its_file(folder: Path) -> None:
    config = {"command": 'wc -c < "$HEADGATE_JOB_FILE"; echo "${HEADGATE_JOB-absent}"'}
    message = run_to_its_end(folder, config, resource={"config": "x" * 200_000}).message or ""
    size, environment = message.removeprefix("exit code 0: ").splitlines()
    assert int(size) > 200_000
    assert environment == "absent"


def test_the_command_runs_in_its_working_directory(folder: Path, tmp_path: Path) -> None:
    progress = run_to_its_end(folder, {"command": "pwd", "workingDirectory": str(tmp_path)})
    assert progress.message == f"exit code 0: {tmp_path.resolve()}"


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({}, "config.command: is required"),
        ({"command": []}, "config.command: must be a command"),
        ({"command": ["a", 1]}, "config.command: must be a command"),
        ({"command": "a", "workingDirectory": "/no/such"}, 'config.workingDirectory: is "/no/such"'),
        ({"command": "a", "comand": "b"}, "config.comand: is not a known key"),
        ({"command": ["a\0b"]}, "config.command: "),
    ],
)
def test_a_config_that_cannot_be_used_is_refused(folder: Path, config: dict[str, Any], problem: str) -> None:
    with pytest.raises(Rejected) as caught:
        run_to_its_end(folder, config)
    assert problem in str(caught.value)


def test_a_job_with_a_name_that_leaves_the_folder_is_refused(folder: Path) -> None:
    async def story() -> None:
        with pytest.raises(Rejected, match=r"job\.id"):
            await ExecAgent(folder).start(Shelf().assignment({"command": "true"}, job="../elsewhere"))

    play(story())


def test_a_restarted_agent_finds_the_command_running_and_does_not_start_it_again(
    folder: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    config = {"command": f"echo x >> {tmp_path}/runs; while [ ! -e {gate} ]; do sleep 0.05; done; echo over"}

    async def story() -> None:
        shelf = Shelf()
        assert (await ExecAgent(folder).start(shelf.assignment(config))).status == "inProgress"
        restarted, assignment = ExecAgent(folder), shelf.assignment(config)
        assert (await restarted.start(assignment)).status == "inProgress"
        gate.touch()
        progress = await ended(restarted, assignment)
        assert (progress.status, progress.message) == ("successful", "exit code 0: over")
        assert (tmp_path / "runs").read_text() == "x\n"

    play(story())


def test_a_restarted_agent_finds_the_end_of_a_command(folder: Path, tmp_path: Path) -> None:
    config = {"command": f"echo x >> {tmp_path}/runs; exit 4"}

    async def story() -> None:
        shelf = Shelf()
        await ended(ExecAgent(folder), shelf.assignment(config))
        progress = await ExecAgent(folder).start(shelf.assignment(config))
        assert (progress.status, progress.message) == ("failure", "exit code 4")
        assert (tmp_path / "runs").read_text() == "x\n"

    play(story())


def test_starts_at_the_same_time_run_the_command_once(folder: Path, tmp_path: Path) -> None:
    config = {"command": f"echo x >> {tmp_path}/runs"}

    async def story() -> None:
        await asyncio.gather(*(ended(ExecAgent(folder), Shelf().assignment(config)) for _ in range(4)))
        assert (tmp_path / "runs").read_text() == "x\n"

    play(story())


def test_a_command_outlives_the_wrapper_that_waits_for_it(folder: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    config = {"command": f"while [ ! -e {gate} ]; do sleep 0.05; done"}

    async def story() -> None:
        agent, assignment = ExecAgent(folder), Shelf().assignment(config)
        await agent.start(assignment)
        run = ExecRun(folder / "job-1")
        await until(run.pid)
        wrapper = int(Path(f"/proc/{run.pid()}/stat").read_text().rsplit(")", 1)[1].split()[1])
        os.kill(wrapper, signal.SIGKILL)
        assert (await agent.follow(assignment)).status == "inProgress"
        gate.touch()
        progress = await ended(agent, assignment)
        assert progress.status == "failure"
        assert progress.message == "the command was interrupted and left no exit code"

    play(story())


def test_a_command_that_was_started_elsewhere_is_waited_for(folder: Path, tmp_path: Path) -> None:
    async def story() -> None:
        shelf = Shelf()
        await ended(ExecAgent(folder), shelf.assignment({"command": "true"}))
        with pytest.raises(TryLaterError, match="was started by the agent on "):
            await ExecAgent(tmp_path / "other").follow(shelf.assignment({"command": "true"}))

    play(story())


def test_a_command_whose_folder_is_gone_does_not_start_again(folder: Path, tmp_path: Path) -> None:
    async def story() -> None:
        shelf, agent = Shelf(), ExecAgent(folder)
        assignment = shelf.assignment({"command": f"echo x >> {tmp_path}/runs"})
        await ended(agent, assignment)
        await agent.forget(assignment)
        assert (await agent.follow(assignment)).status == "failure"
        assert (tmp_path / "runs").read_text() == "x\n"

    play(story())


def test_stopping_ends_the_whole_group(folder: Path, tmp_path: Path) -> None:
    config = {
        "command": f"(trap '' TERM; echo $$ > {tmp_path}/child; while true; do sleep 0.05; done) & wait"
    }

    async def story() -> None:
        agent, assignment = ExecAgent(folder), Shelf().assignment(config)
        await agent.start(assignment)
        await until((tmp_path / "child").exists)
        await until(ExecRun(folder / "job-1").pid)
        group = int(ExecRun(folder / "job-1").pid() or 0)
        await agent.stop(assignment)
        assert (await agent.follow(assignment)).status == "failure"
        await until(lambda: _is_gone(group))

    play(story())


def test_a_command_that_ignores_the_request_to_end_is_killed(folder: Path, tmp_path: Path) -> None:
    command = f"trap '' TERM; touch {tmp_path}/deaf; while true; do sleep 0.05; done"
    config = {"command": command, "stopGraceSeconds": 0}

    async def story() -> None:
        agent, assignment = ExecAgent(folder), Shelf().assignment(config)
        await agent.start(assignment)
        await until((tmp_path / "deaf").exists)
        await agent.stop(assignment)
        progress = await agent.follow(assignment)
        assert (progress.status, progress.message) == ("failure", "exit code 137")

    play(story())


def test_a_command_that_is_stopped_before_it_starts_never_runs(folder: Path, tmp_path: Path) -> None:
    config = {"command": f"touch {tmp_path}/ran"}

    async def story() -> None:
        agent, assignment = ExecAgent(folder), Shelf().assignment(config)
        await agent.stop(assignment)
        assert (await agent.start(assignment)).status == "failure"
        assert not (tmp_path / "ran").exists()

    play(story())


def test_stopping_what_has_ended_changes_nothing(folder: Path) -> None:
    async def story() -> None:
        agent, assignment = ExecAgent(folder), Shelf().assignment({"command": "true"})
        await ended(agent, assignment)
        await agent.stop(assignment)
        assert (await agent.follow(assignment)).status == "successful"

    play(story())


def test_forgetting_removes_the_folder(folder: Path) -> None:
    async def story() -> None:
        agent, assignment = ExecAgent(folder), Shelf().assignment({"command": "true"})
        await ended(agent, assignment)
        await agent.forget(assignment)
        assert not (folder / "job-1").exists()

    play(story())


def test_old_remains_are_swept(folder: Path) -> None:
    remains = folder / "job-0"
    remains.mkdir(parents=True)
    os.utime(remains, (0, 0))
    run_to_its_end(folder, {"command": "true"})
    assert not remains.exists()


def test_an_endless_output_is_shortened_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "output"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, b"x" * exec_run.LARGEST_OUTPUT_BYTES + b"the end")
    exec_run._shorten(descriptor)
    os.write(descriptor, b", and more")
    os.close(descriptor)
    content = path.read_bytes()
    assert len(content) < exec_run.LARGEST_OUTPUT_BYTES
    assert content.endswith(b"the end, and more")


def _is_gone(group: int) -> bool:
    """What has ended and is not reaped yet, which is up to the machine, is gone as well."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, member_of = entry.read_text().rsplit(")", 1)[1].split()[:3]
            if int(member_of) == group and state != "Z":
                return False
    return True
