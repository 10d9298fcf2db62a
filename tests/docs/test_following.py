"""Pages that need a server are followed step by step on one: every command works as it is written."""

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from . import pages, server
from .test_examples import check_other_command

WITHOUT_SERVER = ("simulate", "test", "validate", "cel", "version")
"""What these print is the same every time."""
SHELL_SECONDS = 30
OTHER_PROGRAMS = ("curl",)


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which nothing of this machine's settings is seen."""
    for name in ("HEADGATE_URL", "HEADGATE_TOKEN", "HEADGATE_WORKSPACE", "HEADGATE_CONTEXT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HEADGATE_CONFIG", str(tmp_path / "config.yaml"))
    pages.furnish(tmp_path)
    return tmp_path


def needed_programs(name: str) -> set[str]:
    blocks = [block for block in pages.blocks_of(pages.ROOT / name) if block.language == "console"]
    lines = [command.line for block in blocks for command in pages.commands_of(block)]
    return {program for program in OTHER_PROGRAMS if any(line.startswith(f"{program} ") for line in lines)}


@pytest.mark.parametrize("name", sorted(pages.NEEDING_A_SERVER))
def test_following_a_page_on_a_server_prints_what_it_shows(name: str, alone: Path) -> None:
    missing = [program for program in needed_programs(name) if shutil.which(program) is None]
    if missing:
        pytest.skip(f"there is no {missing[0]} on this machine")
    with server.with_demo(alone) as one:
        follower = Follower(one)
        for block in pages.blocks_of(pages.ROOT / name):
            if block.file_name is not None:
                pages.write_file(block, alone)
            if block.language == "console":
                for command in pages.commands_of(block):
                    follower.follow(command)


class Follower:
    def __init__(self, one: server.Server) -> None:
        self._server = one
        self._exit_code = 0

    def follow(self, command: pages.Command) -> None:
        line = command.line
        words = shlex.split(line.partition(" | ")[0])
        if line == "echo $?":
            assert command.printed.strip() == str(self._exit_code)
        elif words[0] in OTHER_PROGRAMS:
            self._check(command, *self._shell(line))
        elif words[0] == "headgate":
            self._check(command, *pages.run([*words[1:], *_end_of(line)], self._server.folder))
        else:
            check_other_command(line)

    def _shell(self, line: str) -> tuple[int, str]:
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=self._server.folder,
            env=self._server.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SHELL_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout.decode()

    def _check(self, command: pages.Command, code: int, printed: str) -> None:
        """Where the page shows nothing, it is enough that it works."""
        self._exit_code = code
        if command.printed.strip():
            is_same_every_time = command.line.split()[1] in WITHOUT_SERVER
            alike = pages.is_printed if is_same_every_time else pages.is_printed_alike
            assert alike(command.printed, printed), f"{command.line}\n{printed}"
        else:
            assert code == 0, f"{command.line}\n{printed}"


def _end_of(line: str) -> list[str]:
    """A reader ends it with Ctrl-C, or sees that something is wrong."""
    if line == "headgate watch":
        return ["--timeout", "1s"]
    return ["--timeout", "120s"] if line == "headgate watch --until converged" else []
