from typing import Any

import click

from headgate.cli import manifest_files, options, output, refusals, tables
from headgate.cli.client import Client, path
from headgate.cli.progress import Progress

TIMEOUT_SECONDS = 120.0


@click.command("apply")
@options.files(required=True)
@click.option("--dry-run", is_flag=True, help="Only check; the server stores nothing.")
@options.output()
@options.with_server
def command(client: Client, paths: tuple[str, ...], dry_run: bool, form: str) -> None:
    """Creates and changes objects as manifests say: all of them, or none if one is refused.

    Exit codes: 0 applied; 1 refused, every problem with its file and line; 2 an input cannot be read;
    4 the server cannot be reached; 5 not allowed.
    """
    answer = send(client, "apply", paths, dryRun=dry_run)
    _print(answer, form, " (dry run, nothing stored)" if dry_run else "")


def send(client: Client, what: str, paths: tuple[str, ...], **more: object) -> Any:
    """Posts manifests; what is wrong with them is said at their lines."""
    documents = manifest_files.read(paths)
    body = {"manifests": [document.value for document in documents], **more}
    try:
        with Progress(f"{what} of {len(documents)} {'manifest' if len(documents) == 1 else 'manifests'}"):
            return client.send("POST", path(what), body, timeout_seconds=TIMEOUT_SECONDS)
    except refusals.Refused as refused:
        raise manifest_files.at_their_lines(refused, documents) from None


def _print(answer: Any, form: str, note: str) -> None:
    results = answer["results"]
    if form == "json":
        output.echo_json(answer)
    elif form == "yaml":
        output.echo_yaml([answer])
    elif form == "name":
        output.echo_lines(f"{one['kind']}/{one['name']}" for one in results)
    else:
        lines = [[tables.printable(f"{one['kind']} {one['name']}"), one["action"]] for one in results]
        for line in tables.aligned(lines, states=(1,)):
            click.echo(line)
        click.echo(_summary([one["action"] for one in results]) + note)


def _summary(actions: list[str]) -> str:
    counts = [(actions.count(action), action) for action in ("created", "configured", "unchanged")]
    return ", ".join(f"{count} {action}" for count, action in counts if count) or "nothing to apply"
