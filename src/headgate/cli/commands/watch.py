import sys
import time

import click

from headgate.cli import completions, exit_codes, options, pairs, terminal, watch_state
from headgate.cli.client import ApiClient
from headgate.cli.watch_ending import WatchEnding
from headgate.kernel import instants

_MICROSECONDS = instants.MICROSECONDS_PER_SECOND


@click.command("watch")
@click.argument(
    "deployments", nargs=-1, metavar="[DEPLOYMENT]...", shell_complete=completions.names("deployments")
)
@click.option(
    "--until",
    type=click.Choice(["converged"]),
    help="End when what was asked for runs, or only a person can help.",
)
@click.option("--timeout", metavar="DURATION", help="End after so long, such as 30m.")
@click.option("--plain", is_flag=True, help="Lines of events also on a terminal.")
@options.output()
@options.with_server
def command(
    client: ApiClient,
    deployments: tuple[str, ...],
    until: str | None,
    timeout: str | None,
    plain: bool,
    form: str,
) -> None:
    """Follows rollouts as they go: a tree on a terminal, lines of events when piped.

    Exit codes: 0 what was asked for runs, or the time is over without --until; 1 with --until it does not run where it
    should (rolled back, failed, line stopped, time over); 2 called wrongly; 4 the server cannot be reached; 5 not
    allowed; 130 ended with Ctrl-C.
    """
    length = None if timeout is None else pairs.duration("--timeout", timeout) / _MICROSECONDS
    end = WatchEnding(until == "converged", None if length is None else time.monotonic() + length)
    try:
        if form == "table" and not plain and sys.stdout.isatty() and terminal.can_move():
            from headgate.cli import watch_live

            last = watch_live.run(client, deployments, end)
        else:
            from headgate.cli import watch_lines

            first = watch_state.fetch_counts(client, deployments)
            last = watch_lines.run(client, deployments, end, first, form)
    except KeyboardInterrupt:
        raise SystemExit(exit_codes.INTERRUPTED) from None
    end.say(last)
