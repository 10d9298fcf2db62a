import shutil
from typing import Any

import click

from headgate.cli import completions, failures, listing, options, output, terminal
from headgate.cli.client import ApiClient, path
from headgate.cli.offered_commands import offered
from headgate.screens import status_text, tables

FORECAST_SECONDS = 5.0


@click.command("status")
@click.argument(
    "deployments", nargs=-1, metavar="[DEPLOYMENT]...", shell_complete=completions.names("deployments")
)
@options.output()
@options.with_server
def command(client: ApiClient, deployments: tuple[str, ...], form: str) -> None:
    """Shows every deployment in every environment: newest and newest successful version, how many are where, who waits.

    Exit codes: 0 shown; 1 there is no such deployment; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    answer = client.get(path("status"))
    if _is_moving(answer):
        _foresee(client, answer)
    deployments_shown = listing.deployments_named(answer["deployments"], deployments)
    if form == "json":
        output.echo_json({**answer, "deployments": deployments_shown})
    elif form == "yaml":
        output.echo_yaml([{**answer, "deployments": deployments_shown}])
    elif form == "name":
        output.echo_lines(
            f"{one['name']}/{environment['name']}"
            for one in deployments_shown
            for environment in one["environments"]
        )
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        output.echo_lines(
            status_text.render(
                deployments_shown,
                wide=form == "wide",
                width=width,
                cut_to=terminal.width(),
                offered=offered,
            )
        )
        output.echo_lines(f"warning: {tables.printable(one)}" for one in answer.get("warnings") or ())


def _is_moving(answer: Any) -> bool:
    return any(
        environment["counts"].get(state)
        for deployment in answer["deployments"]
        for environment in deployment["environments"]
        for state in ("running", "verifying", "waiting", "rollingBack")
    )


def _foresee(client: ApiClient, answer: Any) -> None:
    """Puts in when each is expected to be over; a server that has no time for that is not waited for."""
    try:
        with ApiClient(client.connection, timeout_seconds=FORECAST_SECONDS, attempts=1) as asking:
            forecast = asking.get(path("forecast"))
    except failures.CommandFailure:
        return
    finishes = {(one["deployment"], one["environment"]): one["finishAt"] for one in forecast["rollouts"]}
    for deployment in answer["deployments"]:
        for environment in deployment["environments"]:
            at = finishes.get((deployment["name"], environment["name"]))
            environment["expectedFinish"] = at and {"at": at, "madeAt": forecast["madeAt"]}
