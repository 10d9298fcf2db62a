from typing import Any

import click

from headgate.cli import options, output
from headgate.cli.client import ApiClient, path

_FAILED = 1


@click.command("doctor")
@click.option(
    "--repair-clock",
    "ahead",
    metavar="WORKSPACE",
    help="Takes the time of a workspace back that a wrong clock has taken ahead.",
)
@options.output()
@options.with_server
def command(client: ApiClient, ahead: str | None, form: str) -> None:
    """Prints what the server finds right and wrong with itself, and what to do about it.

    Every server and engine answers for itself: give each one's address with --server.

    Exit codes: 0 nothing is wrong; 1 something is, or was refused; 2 called wrongly; 4 the server cannot be reached;
    5 not allowed.
    """
    if ahead is not None:
        repaired = client.send("POST", path("workspaces", ahead, "repair-clock"), scoped=False)
        sentence = f"the time of {ahead} was taken back from {repaired['was']} to {repaired['now']}"
        output.result(repaired, form, sentence, sentence)
        return
    answer = client.get(path("checks"), scoped=False)
    if form in ("json", "yaml"):
        output.result(answer, form, "", "")
    else:
        for check in answer["checks"]:
            for line in _lines(check):
                click.echo(line)
    if any(check["status"] == "problem" for check in answer["checks"]):
        raise SystemExit(_FAILED)


def _lines(check: dict[str, Any]) -> list[str]:
    if check["status"] == "ok":
        often = f" (wrong {check['count']} times since the server started)" if check["count"] else ""
        return [f"OK       {check['name']}: {check['description']}{often}"]
    lines = [
        f"PROBLEM  {_subject(check, one)}: {one['message']} (since {one['since']})"
        for one in check["problems"]
    ]
    return [*lines, f"         {check['advice']}"]


def _subject(check: dict[str, Any], problem: dict[str, Any]) -> str:
    return f"{check['name']} of {problem['workspace']}" if problem["workspace"] else str(check["name"])
