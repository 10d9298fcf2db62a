"""Commands that the console offers to copy are commands of the CLI, with what they need."""

import re
import shlex
from pathlib import Path

import click
import pytest

from headgate.cli import main

SOURCE = Path(__file__).resolve().parents[2] / "console" / "src"
OFFERED = re.compile(r"""command(?:=|: |=\{)(["'`])(headgate .+?)\1""")
"""An attribute or a field called command, as the pages write it."""


def offered() -> list[str]:
    written = "\n".join(path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.tsx")))
    found = {re.sub(r"\$\{.*?\}", "NAME", command) for _, command in OFFERED.findall(written)}
    assert {"headgate apply -f fleet.yaml", "headgate publish NAME v2"} <= found
    return sorted(found)


@pytest.mark.parametrize("command", offered())
def test_a_command_to_copy_can_be_typed(command: str) -> None:
    """Options, arguments and the names of commands; files and servers are not looked for."""
    words = shlex.split(command)[1:]
    node: click.Command = main.headgate
    context = click.Context(node, info_name="headgate")
    while isinstance(node, click.Group):
        found = node.get_command(context, words.pop(0))
        assert found is not None
        node, context = found, click.Context(found, parent=context)
    values, left, _ = node.make_parser(context).parse_args(words)
    assert not left
    assert not [one.name for one in node.params if one.required and not values.get(one.name or "")]
