from collections import Counter
from typing import Any

import click

from headgate.cli import completions, options, output, pairs
from headgate.cli.client import ApiClient, path
from headgate.kernel import instants
from headgate.screens import tables
from headgate.screens.words import NOTHING

TIMEOUT_SECONDS = 60.0


@click.command("history")
@click.option(
    "--at",
    required=True,
    metavar="TIME",
    help="The moment, 2026-03-01T09:00:00Z, or how long ago it was: 2h.",
)
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
def command(client: ApiClient, at: str, deployment: str | None, environment: str | None, form: str) -> None:
    """Shows how it was at a past moment: targets, groups that had not ended, and budgets.

    Exit codes: 0 shown; 1 that moment is not recorded, or no longer kept; 2 called wrongly; 4 the server cannot be
    reached; 5 not allowed.
    """
    query = {"at": _moment(at), "deployment": deployment, "environment": environment}
    with ApiClient(client.connection, timeout_seconds=TIMEOUT_SECONDS, attempts=client.attempts) as asking:
        found = asking.get(path("history"), query)
    output.result(found, form, lambda: _printed(tables.printable_document(found), form), found["at"])


def _moment(text: str) -> str:
    """A span is counted back from now; whether a moment can be read is for the server to say."""
    try:
        return instants.show(pairs.now() - instants.parse_duration(text))
    except ValueError:
        return text


def _printed(found: dict[str, Any], form: str) -> str:
    counts = Counter(target["state"] for target in found["targets"])
    said = ", ".join(f"{count} {state}" for state, count in sorted(counts.items())) or "no targets"
    lines = [f"{found['at']}: {said}", "", *_targets(found["targets"])]
    if found["groups"]:
        rows = [
            [one["policy"], one["environment"], one["resource"], one["status"]] for one in found["groups"]
        ]
        lines += ["", *tables.aligned([["GROUP OF", "ENVIRONMENT", "RESOURCE", "STATUS"], *rows])]
    if found["budgets"]:
        rows = [
            [one["policy"], one["rule"], one["environment"] or NOTHING, f"{one['used']} of {one['limit']}"]
            for one in found["budgets"]
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
