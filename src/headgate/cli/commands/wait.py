import time

import click

from headgate.cli import completions, exit_codes, options, pairs, watch_lines, watch_state
from headgate.cli.client import ApiClient
from headgate.cli.watch_ending import WatchEnding
from headgate.kernel import instants


@click.command("wait")
@click.argument(
    "deployments", nargs=-1, metavar="[DEPLOYMENT]...", shell_complete=completions.names("deployments")
)
@click.option("-e", "--environment", metavar="NAME", help="Only there.")
@click.option("--timeout", metavar="DURATION", help="End with 1 after so long, such as 30m.")
@click.option(
    "--for-people", is_flag=True, help="Also wait for approvals, and for freezes and stopped lines to end."
)
@options.with_server
def command(
    client: ApiClient,
    deployments: tuple[str, ...],
    environment: str | None,
    timeout: str | None,
    for_people: bool,
) -> None:
    """Waits until what was asked for runs where it should, verified; prints nothing on the way.

    It ends at once when nothing but a person can change what is left: rolled back, failed, the line stopped, an
    approval that nobody has given. Those targets are named.

    Exit codes: 0 it runs; 1 it does not; 2 called wrongly; 4 the server cannot be reached; 5 not allowed; 130 ended
    with Ctrl-C.
    """
    length = None if timeout is None else pairs.duration("--timeout", timeout)
    deadline = None if length is None else time.monotonic() + length / instants.MICROSECONDS_PER_SECOND
    end = WatchEnding(True, deadline, for_people=for_people)
    try:
        first = watch_state.fetch_counts(client, deployments, environment)
        last = watch_lines.run(client, deployments, end, first, watch_lines.SILENT, environment)
    except KeyboardInterrupt:
        raise SystemExit(exit_codes.INTERRUPTED) from None
    end.say(last)
