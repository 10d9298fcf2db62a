from collections import Counter
from functools import partial
from typing import Any

import click

from headgate.cli import completions, options, output, pairs
from headgate.cli.client import ApiClient, path
from headgate.kernel import instants
from headgate.screens import tables
from headgate.screens.words import NOTHING

TIMEOUT_SECONDS = 60.0


@click.command("history")
@click.option("--at", metavar="TIME", help="The moment, 2026-03-01T09:00:00Z, or how long ago it was: 2h.")
@click.option("--since", metavar="TIME", help="Instead of one moment, what has changed since this one.")
@click.option("--until", metavar="TIME", help="With --since: up to this moment; now if absent.")
@click.option(
    "--deployment", metavar="NAME", help="Only its targets.", shell_complete=completions.names("deployments")
)
@click.option(
    "-e",
    "--environment",
    metavar="NAME",
    help="Only there.",
    shell_complete=completions.names("environments"),
)
@options.output()
@options.with_server
def command(
    client: ApiClient,
    at: str | None,
    since: str | None,
    until: str | None,
    deployment: str | None,
    environment: str | None,
    form: str,
) -> None:
    """Shows how it was at a past moment: targets, groups that had not ended, and budgets; or what changed in a time.

    Exit codes: 0 shown; 1 that moment is not recorded, or no longer kept; 2 called wrongly; 4 the server cannot be
    reached; 5 not allowed.
    """
    if (at is None) == (since is None):
        raise click.UsageError("give --at or --since")
    if since is None and until is not None:
        raise click.UsageError("--until goes with --since")
    query = {"deployment": deployment, "environment": environment}
    with ApiClient(client.connection, timeout_seconds=TIMEOUT_SECONDS, attempts=client.attempts) as asking:
        if since is not None:
            span = {"since": _moment(since), "until": None if until is None else _moment(until)}
            answer = asking.get(path("history", "changes"), {**query, **span})
            text = partial(_changes, tables.printable_document(answer))
            output.result(answer, form, text, str(span["since"]))
            return
        answer = asking.get(path("history"), {**query, "at": _moment(str(at))})
    output.result(answer, form, lambda: _printed(tables.printable_document(answer)), answer["at"])


def _changes(answer: dict[str, Any]) -> str:
    rows = [[one["at"], one["name"], *_change(one["table"], one["row"])] for one in answer["changes"]]
    lines = tables.aligned([["AT", "NAME", "IS", "RUNS"], *rows]) if rows else ["nothing has changed"]
    if answer["wasCut"]:
        lines.append("What was before is not shown: it is too much, or no longer kept.")
    return "\n".join(lines)


def _change(table: str, row: dict[str, Any] | None) -> tuple[str, str]:
    if row is None:
        return "gone", ""
    if table == "targets":
        return row["state"], row["current"] or NOTHING
    return (row["status"] if table == "groups" else f"{row['used']} of {row['limit']}"), ""


def _moment(text: str) -> str:
    """A span is counted back from now; whether a moment can be read is for the server to say."""
    try:
        return instants.show(pairs.now() - instants.parse_duration(text))
    except ValueError:
        return text


def _printed(answer: dict[str, Any]) -> str:
    counts = Counter(target["state"] for target in answer["targets"])
    summary = ", ".join(f"{count} {state}" for state, count in sorted(counts.items())) or "no targets"
    lines = [f"{answer['at']}: {summary}", "", *_targets(answer["targets"])]
    if answer["groups"]:
        rows = [
            [one["policy"], one["environment"], one["resource"], one["status"]] for one in answer["groups"]
        ]
        lines += ["", *tables.aligned([["GROUP OF", "ENVIRONMENT", "RESOURCE", "STATUS"], *rows])]
    if answer["budgets"]:
        rows = [
            [one["policy"], one["rule"], one["environment"] or NOTHING, f"{one['used']} of {one['limit']}"]
            for one in answer["budgets"]
        ]
        lines += ["", *tables.aligned([["BUDGET OF", "RULE", "ENVIRONMENT", "USED"], *rows])]
    return "\n".join(lines)


def _targets(targets: list[dict[str, Any]]) -> list[str]:
    rows = [
        [
            one["name"],
            one["state"],
            one["current"] or NOTHING,
            (one["job"] or {}).get("version", NOTHING),
            one["reason"] or "",
        ]
        for one in targets
    ]
    return tables.aligned([["TARGET", "STATE", "RUNS", "GETS", "REASON"], *rows]) if rows else []
