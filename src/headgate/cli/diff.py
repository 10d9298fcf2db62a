from collections.abc import Iterator
from typing import Any

import click

from headgate.cli import apply, main, options, output
from headgate.cli.client import Client

_WORDS = (("created", "to create"), ("configured", "to change"), ("unchanged", "unchanged"))


@click.command("diff")
@options.files(required=True)
@click.option("--exit-code", is_flag=True, help="End with 2 if there are differences.")
@options.output()
@options.with_server
def command(client: Client, paths: tuple[str, ...], exit_code: bool, form: str) -> None:
    """Shows what applying manifests would change: + created, ~ changed with every field.

    Exit codes: 0 compared; 1 refused, every problem with its file and line; 2 an input cannot be read, or there are
    differences and --exit-code was given; 4 the server cannot be reached; 5 not allowed.
    """
    answer = apply.send(client, "diff", paths)
    changed = [one for one in answer["differences"] if one["action"] != "unchanged"]
    if form == "json":
        output.echo_json(answer)
    elif form == "yaml":
        output.echo_yaml([answer])
    elif form == "name":
        output.echo_lines(f"{one['kind']}/{one['name']}" for one in changed)
    else:
        output.echo_lines(_lines(changed))
        click.echo(_summary(answer["differences"]))
    if exit_code and changed:
        raise SystemExit(main.UNREADABLE)


def _lines(changed: list[dict[str, Any]]) -> Iterator[str]:
    """As a plan shows them, but every single one."""
    from headgate.simulate import plan_text

    for one in changed:
        yield from plan_text.render_differences([one])


def _summary(differences: list[dict[str, Any]]) -> str:
    counts = [(sum(one["action"] == action for one in differences), word) for action, word in _WORDS]
    return ", ".join(f"{count} {word}" for count, word in counts if count)
