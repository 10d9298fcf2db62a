import sys
import time

import click

from headgate.cli import colours, completions, main, options, pairs, watch_state
from headgate.cli.client import Client
from headgate.kernel import instants

_MICROSECONDS = instants.MICROSECONDS_PER_SECOND


@click.command("watch")
@click.argument(
    "deployments", nargs=-1, metavar="[DEPLOYMENT]...", shell_complete=completions.names("deployments")
)
@click.option("--until", type=click.Choice(["converged"]), help="End when nothing is left to do.")
@click.option("--timeout", metavar="DURATION", help="End after so long, such as 30m.")
@click.option("--plain", is_flag=True, help="Lines of events also on a terminal.")
@options.output()
@options.with_server
def command(
    client: Client,
    deployments: tuple[str, ...],
    until: str | None,
    timeout: str | None,
    plain: bool,
    form: str,
) -> None:
    """Follows rollouts as they go: a tree on a terminal, lines of events when piped.

    Exit codes: 0 converged, or the time is over without --until; 1 not converged in time, or something failed for good;
    2 called wrongly; 4 the server cannot be reached; 5 not allowed; 130 ended with Ctrl-C.
    """
    length = None if timeout is None else pairs.duration("--timeout", timeout) / _MICROSECONDS
    first = watch_state.fetch_counts(client, deployments)
    end = Ending(until == "converged", None if length is None else time.monotonic() + length)
    try:
        if form == "table" and not plain and sys.stdout.isatty() and colours.can_move():
            from headgate.cli import watch_live

            last = watch_live.run(client, deployments, end)
        else:
            from headgate.cli import watch_lines

            last = watch_lines.run(client, deployments, end, first, form)
    except KeyboardInterrupt:
        raise SystemExit(main.INTERRUPTED) from None
    end.say(last)


class Ending:
    """When to stop, and what that means for the exit code."""

    def __init__(self, until_converged: bool, deadline: float | None) -> None:
        self._until_converged = until_converged
        self._deadline = deadline
        self._began = time.monotonic()

    @property
    def needs_counts(self) -> bool:
        return self._until_converged

    def is_over(self, snapshot: watch_state.Snapshot) -> bool:
        if self._until_converged and (snapshot.is_converged or snapshot.is_stuck):
            return True
        return self._deadline is not None and time.monotonic() >= self._deadline

    def say(self, last: watch_state.Snapshot) -> None:
        if not self._until_converged:
            return
        took = instants.show_duration(int(time.monotonic() - self._began) * _MICROSECONDS)
        if last.is_converged:
            click.echo(f"converged after {took}", err=True)
            return
        states = ("running", "waiting", "frozen", "failed")
        left = ", ".join(f"{last.count(state)} {state}" for state in states if last.count(state))
        click.echo(
            f"not converged after {took}: {left}; `headgate status` says what waits for what", err=True
        )
        raise SystemExit(main.FAILED)
