"""What the general check of the documentation does not look at: commands in groups, kinds, and the newer exit codes."""

import re
from pathlib import Path

import click
import pytest

from headgate.cli import exit_codes, kinds, main

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")


def section(heading: str) -> str:
    match = re.search(rf"^(#+) {re.escape(heading)}$", PAGE, re.MULTILINE)
    assert match is not None, f"docs/cli.md has no heading {heading!r}"
    following = re.compile(rf"^#{{1,{len(match.group(1))}}} ", re.MULTILINE).search(PAGE, match.end())
    return PAGE[match.end() : following.start() if following else len(PAGE)]


def inner_commands() -> dict[str, click.Command]:
    context = click.Context(main.headgate)
    found = {}
    for name in main.headgate.list_commands(context):
        command = main.headgate.get_command(context, name)
        if isinstance(command, click.Group):
            found.update({f"{name} {inner}": one for inner, one in command.commands.items()})
    return found


@pytest.mark.parametrize("name", inner_commands())
def test_a_command_in_a_group_is_documented_with_everything_it_takes(name: str) -> None:
    written = section(f"`headgate {name}`")
    for parameter in inner_commands()[name].params:
        if isinstance(parameter, click.Option):
            assert all(f"`{option}`" in written or f"`{option} " in written for option in parameter.opts)
        else:
            assert (parameter.metavar or parameter.name or "").strip("[].").upper() in written
    assert "Exit codes" in written


@pytest.mark.parametrize("kind", kinds.ALL, ids=lambda kind: kind.collection)
def test_a_kind_is_documented_with_its_names_and_filters(kind: kinds.Collection) -> None:
    [row] = re.findall(rf"^\| `{kind.collection}` \|.*$", section("`headgate get`"), re.MULTILINE)
    assert [name for name in (*kind.names, *kind.filters) if f"`{name}`" not in row] == []


@pytest.mark.parametrize("code", [exit_codes.UNREACHABLE, exit_codes.NOT_ALLOWED, exit_codes.INTERRUPTED])
def test_an_exit_code_is_documented(code: int) -> None:
    assert f"| {code} |" in section("Exit codes")


def test_every_command_says_its_exit_codes_in_its_help() -> None:
    silent = [name for name, command in inner_commands().items() if "Exit codes" not in (command.help or "")]
    assert silent == []
