from collections.abc import Iterable, Iterator
from typing import Any

import click

from headgate.cli import completions, event_stream, failures, options
from headgate.cli.client import ApiClient, path
from headgate.cli.commands import targets
from headgate.screens import tables

PAGE_LINES = 1_000


@click.command("logs")
@click.argument("job", shell_complete=completions.names("jobs"))
@click.option("-f", "--follow", is_flag=True, help="Go on and print what comes, until the job has ended.")
@click.option("--timestamps", is_flag=True, help="Put before each line when it came.")
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(("table", "json")),
    default="table",
    show_default=True,
    help="How it is printed; json is one object a line.",
)
@options.with_server
def command(client: ApiClient, job: str, follow: bool, timestamps: bool, form: str) -> None:
    """Prints what JOB printed: of a job by its id, or of the newest job of a target, deployment/environment/resource.

    Agents of the types exec, kubernetes and pull hand in what a job prints while it runs; of the others the job's link
    leads to the log.

    Exit codes: 0 printed; 1 there is no such job; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    place = path("jobs", _job(client, job), "log")
    lines = _followed(client, place) if follow else _pages(client, place)
    for line in lines:
        click.echo(_printed(line, form, timestamps))


def _job(client: ApiClient, name: str) -> str:
    if "/" not in name:
        return name
    targets.check_name(name)
    deployment, environment, resource = name.split("/", 2)
    asked = {"deployment": deployment, "environment": environment, "resource": resource, "limit": 1}
    items = client.get(path("jobs"), asked)["items"]
    if not items:
        raise failures.CommandFailure(f"{name} has no job yet")
    return str(items[0]["id"])


def _pages(client: ApiClient, place: str) -> Iterator[dict[str, Any]]:
    offset = 0
    while True:
        page = client.get(place, {"offset": offset, "limit": PAGE_LINES})
        yield from page["items"]
        if not page["items"]:
            return
        offset = page["nextOffset"]


def _followed(client: ApiClient, place: str) -> Iterable[dict[str, Any]]:
    follower = event_stream.Follower(client, place=place, query={"follow": True})
    for item in follower.items():
        if isinstance(item, event_stream.Lost):
            click.echo(f"the stream is lost, and taken up again: {item.reason}", err=True)
        elif isinstance(item, event_stream.StreamedEvent) and item.type == "lines":
            yield from item.data["items"]
            if item.data["hasEnded"]:
                return


def _printed(line: dict[str, Any], form: str, timestamps: bool) -> str:
    if form == "json":
        import json

        return json.dumps(line, ensure_ascii=False)
    text = tables.printable(line["text"])
    return f"{line['at']}  {text}" if timestamps else text
