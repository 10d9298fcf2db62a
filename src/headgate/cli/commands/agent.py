import socket
from pathlib import Path
from typing import Any

import click

from headgate.cli import completions, contexts, failures, options
from headgate.cli.client import ApiClient
from headgate.cli.commands import up


@click.group("agent")
def command() -> None:
    """Runs jobs on this machine."""


@command.command("run")
@click.option(
    "--agent",
    "name",
    required=True,
    metavar="NAME",
    help="The job agent of type pull whose jobs it takes.",
    shell_complete=completions.names("job-agents"),
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    metavar="N",
    help="So many jobs at once.",
)
@click.option("--holder", metavar="NAME", help="Who it is, for people; the name of this machine if absent.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".headgate") / "agent",
    show_default=True,
    help="Where it remembers what it runs, to find it again after a restart.",
)
@click.option(
    "--drain",
    default="30s",
    show_default=True,
    metavar="DURATION",
    help="How long running jobs may take to end when it is asked to.",
)
@click.argument("command_line", nargs=-1, metavar="[COMMAND]...")
@options.with_server
def run(
    client: ApiClient,
    name: str,
    concurrency: int,
    holder: str | None,
    folder: Path,
    drain: str,
    command_line: tuple[str, ...],
) -> None:
    """Claims jobs of a pull agent and runs a command for each, until it is ended with Ctrl-C or a TERM signal.

    With COMMAND that is what runs, whatever the job says: put it after --. Without, each job's own config.command runs,
    so that whoever may change job agents may run anything here.

    Exit codes: 0 ended; 1 refused, for example because there is no such agent; 2 called wrongly; 5 not allowed.
    """
    from headgate.cli import agent_runs, pairs
    from headgate.kernel import instants

    connection = client.connection
    drain_seconds = pairs.duration("--drain", drain) / instants.MICROSECONDS_PER_SECOND
    agent_runs.run(
        _with_token(connection),
        name,
        concurrency=concurrency,
        holder=holder or socket.gethostname(),
        folder=folder,
        drain_seconds=drain_seconds,
        command_line=command_line,
    )


def _with_token(connection: contexts.Connection) -> contexts.Connection:
    if connection.token is None:
        raise failures.misused(
            "the token is missing; give --token or HEADGATE_TOKEN, with the permission job:run"
        )
    return connection


@command.command("serve")
@up.process_options
@up.health_options
def serve(log_level: str, **given: Any) -> None:
    """Runs jobs of all types but pull from the service's database, beside `api` and `engine`.

    Any number may share one PostgreSQL; each job is run by one of them, and taken over by another if that one ends.

    Exit codes: 0 ended; 1 it cannot start; 2 called wrongly.
    """
    from headgate.cli import serving

    up.start(serving.Options(decides=False, serves=False, **given), log_level)
