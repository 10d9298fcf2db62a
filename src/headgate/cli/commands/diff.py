from collections.abc import Iterator
from typing import Any

import click

from headgate.cli import exit_codes, failures, options, output
from headgate.cli.client import ApiClient
from headgate.cli.commands import apply

_WORDS = (
    ("created", "to create"),
    ("configured", "to change"),
    ("deleted", "to delete"),
    ("kept", "kept"),
    ("unchanged", "unchanged"),
)


@click.command("diff")
@options.files(required=False)
@options.of_a_set
@options.deletions
@click.option("--exit-code", is_flag=True, help="End with 2 if there are differences.")
@options.output()
@options.with_server
def command(
    client: ApiClient,
    paths: tuple[str, ...],
    set_name: str | None,
    prune: bool,
    deleted: tuple[str, ...],
    exit_code: bool,
    form: str,
) -> None:
    """Shows what applying manifests would change: + created, ~ changed with every field, - deleted.

    Exit codes: 0 compared; 1 refused, every problem with its file and line; 2 an input cannot be read, or there are
    differences and --exit-code was given; 4 the server cannot be reached; 5 not allowed.
    """
    if not paths and not deleted:
        raise failures.misused("give -f PATH, or --delete KIND/NAME")
    more = options.wish(set_name, prune)
    if deleted:
        more["deletions"] = options.deletion_inputs(deleted)
    answer = apply.send(client, "diff", paths, reason=None, **more)
    differences_shown = [one for one in answer["differences"] if one["action"] != "unchanged"]
    changed = [one for one in differences_shown if one["action"] != "kept"]
    if form == "json":
        output.echo_json(answer)
    elif form == "yaml":
        output.echo_yaml([answer])
    elif form == "name":
        output.echo_lines(f"{one['kind']}/{one['name']}" for one in changed)
    else:
        output.echo_lines(_lines(differences_shown))
        click.echo(_summary(answer["differences"]))
    if exit_code and changed:
        raise SystemExit(exit_codes.UNREADABLE)


def _lines(changed: list[dict[str, Any]]) -> Iterator[str]:
    """As a plan shows them, but every single one."""
    from headgate.screens import plan_text

    for difference in changed:
        yield from plan_text.render_differences([difference])


def _summary(differences: list[dict[str, Any]]) -> str:
    counts = [(sum(one["action"] == action for one in differences), word) for action, word in _WORDS]
    return ", ".join(f"{count} {word}" for count, word in counts if count)
