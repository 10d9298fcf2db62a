"""What a command prints is in the job's log, once and without secrets, before its end is told."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from headgate.agents import exec_output
from headgate.agents.exec import ExecAgent
from headgate.agents.log_lines import LONGEST_LINE, MOST_BYTES_AT_ONCE

from .support import Shelf, play, until
from .test_exec import ended


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "exec"


def printed(folder: Path, config: Mapping[str, Any]) -> list[str]:
    shelf = Shelf()

    async def story() -> None:
        await ended(ExecAgent(folder), shelf.assignment(config))

    play(story())
    return shelf.lines


def test_both_outputs_are_in_the_log_with_a_last_line_that_has_no_end(folder: Path) -> None:
    assert printed(folder, {"command": "echo one; echo two >&2; printf three"}) == ["one", "two", "three"]


def test_lines_are_there_while_the_command_runs(folder: Path, tmp_path: Path) -> None:
    gate, shelf = tmp_path / "gate", Shelf()

    async def story() -> None:
        agent = ExecAgent(folder)
        wait = f"while ! [ -e {gate} ]; do sleep 0.05; done"
        assignment = shelf.assignment({"command": f"echo one; printf half; {wait}; echo ' done'"})
        running = asyncio.create_task(ended(agent, assignment))
        await until(lambda: shelf.lines == ["one"])
        gate.touch()
        await running

    play(story())
    assert shelf.lines == ["one", "half done"]


def test_secrets_of_the_config_are_taken_out_also_line_by_line(folder: Path) -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----"
    lines = printed(
        folder,
        {
            "command": 'echo "$PRIVATE_KEY"; echo "token $TOKEN."',
            "env": {"PRIVATE_KEY": key, "TOKEN": "hunter22"},
        },
    )
    assert "MIIEvQIBADANBg" not in "\n".join(lines)
    assert "hunter22" not in "\n".join(lines)
    assert len(lines) == 4


def test_colours_and_bars_of_progress_leave_their_text(folder: Path) -> None:
    command = r"printf '\033[31mred\033[0m\n10%%\r100%%\r\n\033]0;title\007x\n'"
    assert printed(folder, {"command": command}) == ["red", "100%", "x"]


def test_a_long_line_is_cut_and_what_follows_it_is_a_line_again(folder: Path) -> None:
    size = MOST_BYTES_AT_ONCE + 1000
    lines = printed(folder, {"command": f"head -c {size} /dev/zero | tr '\\0' x; echo; echo next"})
    assert [len(line) for line in lines] == [LONGEST_LINE, 4]


def test_many_lines_come_whole_and_in_their_order(folder: Path) -> None:
    assert printed(folder, {"command": "seq 1 25000"}) == [str(number) for number in range(1, 25001)]


def test_nothing_more_is_printed_into_a_log_that_is_full(folder: Path) -> None:
    shelf = Shelf()
    shelf.takes_lines = 1000

    async def story() -> None:
        await ended(ExecAgent(folder), shelf.assignment({"command": "seq 1 5000"}))

    play(story())
    assert len(shelf.lines) == 1000


def test_what_was_printed_before_a_restart_is_not_printed_again(tmp_path: Path) -> None:
    shelf = Shelf()

    async def story() -> None:
        (tmp_path / "output").write_text("a\nb\n")
        await exec_output.print_new(tmp_path, shelf.assignment({}), has_ended=False)
        (tmp_path / "printed").unlink()
        (tmp_path / "output").write_text("a\nb\nc\n")
        await exec_output.print_new(tmp_path, shelf.assignment({}), has_ended=True)

    play(story())
    assert shelf.lines == ["a", "b", "c"]


def test_output_that_was_shortened_meanwhile_says_so(tmp_path: Path) -> None:
    shelf = Shelf()

    async def story() -> None:
        (tmp_path / "output").write_text("a\n" * 100)
        await exec_output.print_new(tmp_path, shelf.assignment({}), has_ended=False)
        (tmp_path / "output").write_text("b\n")
        await exec_output.print_new(tmp_path, shelf.assignment({}), has_ended=False)

    play(story())
    assert shelf.lines[99:] == ["a", exec_output.LEFT_OUT]
