"""Commands that can be pasted: what a shell makes of them is what was meant, whatever a name is called."""

import shlex
import subprocess
from pathlib import Path

import pytest

from headgate.kernel import command_lines

ODD_NAMES = (
    "$(touch pwned)",
    "`touch pwned`",
    "db down",
    "it's",
    "'; touch pwned; '",
    "back\\",
    "\\'$(touch pwned)",
    '"',
    "a\\\\b",
    "*",
    "~root",
    "=ls",
    "%self",
    "-d",
    "--",
    "--server=http://elsewhere",
    "",
    "#no",
    "a -- b",
    "a'b -- c",
    "{a,b}",
    "!!",
)


def test_plain_names_are_written_as_they_are() -> None:
    written = command_lines.command_line("approve", "api", "v1.2+b", options=("-e", "prod/eu-1"))
    assert written == "headgate approve api v1.2+b -e prod/eu-1"
    assert command_lines.command_line("retry", "äpfel/prod/n:1@x") == "headgate retry äpfel/prod/n:1@x"


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_shell_reads_what_was_meant_and_runs_nothing_else(name: str, tmp_path: Path) -> None:
    written = command_lines.command_line("skip", name, "v1", options=("--environment", name))
    script = f"headgate() {{ printf '%s\\0' \"$@\"; }}; {written}"
    read = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    words = read.split("\0")[:-1]
    options = ["--environment", name]
    ahead = ["skip", *options, "--", name, "v1"] if name.startswith("-") else ["skip", name, "v1", *options]
    assert words == ahead
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ODD_NAMES)
def test_fish_too_has_every_special_character_in_quotes_or_behind_a_backslash(name: str) -> None:
    """Within its quotes a backslash may stand for the next character, which bash does not do."""
    written = command_lines.word(name)
    assert _as_fish_reads(written) == name


def _as_fish_reads(text: str) -> str:
    read, is_quoted, characters = "", False, iter(text)
    for character in characters:
        if character == "'":
            is_quoted = not is_quoted
        elif character == "\\":
            after = next(characters)
            read += after if not is_quoted or after in "'\\" else f"\\{after}"
        else:
            assert is_quoted or character.isalnum() or character in "-_./:@%+=,", text
            read += character
    assert not is_quoted
    return read


def test_what_no_terminal_should_be_given_is_escaped() -> None:
    assert command_lines.word("a\x1b[2Jb\n\u202ec") == "'a'\\\\'x1b[2Jb'\\\\'n'\\\\'u202ec'"


@pytest.mark.parametrize("name", ODD_NAMES)
def test_more_options_stand_before_names_that_look_like_one(name: str) -> None:
    written = command_lines.command_line("explain", name, options=("-e", name))
    more = command_lines.with_options(written, ("--workspace", "my team"))
    words = shlex.split(more)
    assert words[words.index("my team") - 1] == "--workspace"
    assert words == shlex.split(
        command_lines.command_line("explain", name, options=("-e", name, "--workspace", "my team"))
    )
    assert command_lines.with_options(written, ()) == written
