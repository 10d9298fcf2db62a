from typing import Any

import click

from headgate.cli import asking, concerns, manifest_files, options, output, refusals, terminal
from headgate.cli.client import ApiClient, path
from headgate.cli.progress import ProgressNote
from headgate.screens import tables

TIMEOUT_SECONDS = 120.0


@click.command("apply")
@options.files(required=True)
@click.option("--dry-run", is_flag=True, help="Only check; the server stores nothing.")
@concerns.FORCE
@options.of_a_set
@asking.YES
@options.REASON
@options.output()
@options.with_server
def command(
    client: ApiClient,
    paths: tuple[str, ...],
    dry_run: bool,
    force: bool,
    set_name: str | None,
    prune: bool,
    yes: bool,
    reason: str | None,
    form: str,
) -> None:
    """Creates and changes objects as manifests say: all of them, or none if one is refused.

    Exit codes: 0 applied; 1 refused, every problem with its file and line; 2 an input cannot be read;
    4 the server cannot be reached; 5 not allowed.
    """
    more = options.wish(set_name, prune) | ({"force": True} if force else {})
    if yes and prune:
        more["confirm"] = True
    try:
        answer = send(client, "apply", paths, reason=reason, dryRun=dry_run, **more)
    except refusals.RefusedRequest as refused:
        if not asking.is_asked(refused):
            raise
        asking.be_sure(f"{asking.question(refused)}. Delete it?", yes=yes)
        answer = send(client, "apply", paths, reason=reason, dryRun=dry_run, **more, confirm=True)
    _print(answer, form, " (dry run, nothing stored)" if dry_run else "")


def send(client: ApiClient, what: str, paths: tuple[str, ...], *, reason: str | None, **more: object) -> Any:
    """Posts manifests; what is wrong with them is said at their lines."""
    documents = manifest_files.read(paths) if paths else []
    body = {"manifests": [document.value for document in documents], **more}
    try:
        with ProgressNote(f"{what} of {len(documents)} {'manifest' if len(documents) == 1 else 'manifests'}"):
            query = options.reason_query(reason)
            return client.send("POST", path(what), body, query=query, timeout_seconds=TIMEOUT_SECONDS)
    except refusals.RefusedRequest as refused:
        if asking.is_asked(refused):
            raise
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
        for line, applied in zip(tables.aligned(lines, states=(1,), paint=terminal.of_state), results):
            click.echo(line)
            for more in [
                *concerns.lines(applied.get("concerns")),
                *([applied["note"]] if applied.get("note") else []),
            ]:
                click.echo(f"  {tables.printable(more)}")
        click.echo(_summary([one["action"] for one in results]) + note)


def _summary(actions: list[str]) -> str:
    counts = [
        (actions.count(action), action)
        for action in ("created", "configured", "unchanged", "deleted", "kept")
    ]
    return ", ".join(f"{count} {action}" for count, action in counts if count) or "nothing to apply"
