"""When following ends, and what that means for the exit code: 0 only when what was asked for runs where it should."""

from __future__ import annotations

import time

import click

from headgate.cli import exit_codes
from headgate.cli.offered_commands import offered
from headgate.kernel import instants
from headgate.screens import watched_fleet
from headgate.screens.tables import printable

MOST_NAMED = 10
_WORDS = {"upToDate": "up to date", "rollingBack": "rolling back", "rolledBack": "rolled back"}


class WatchEnding:
    """`for_people`: a decision that a person still has to make is waited for, not the end."""

    def __init__(self, until_converged: bool, deadline: float | None, *, for_people: bool = False) -> None:
        self._until_converged = until_converged
        self._deadline = deadline
        self._for_people = for_people
        self._began = time.monotonic()

    @property
    def needs_counts(self) -> bool:
        return self._until_converged

    def is_over(self, snapshot: watched_fleet.WatchedFleet) -> bool:
        if self._until_converged and (snapshot.is_converged or self._is_hopeless(snapshot)):
            return True
        return self._deadline is not None and time.monotonic() >= self._deadline

    def _is_hopeless(self, snapshot: watched_fleet.WatchedFleet) -> bool:
        if not snapshot.is_stuck:
            return False
        return not self._for_people or snapshot.count("waiting", "frozen") == 0

    def say(self, last: watched_fleet.WatchedFleet) -> None:
        if not self._until_converged:
            return
        took = instants.show_duration(int(time.monotonic() - self._began) * instants.MICROSECONDS_PER_SECOND)
        if last.is_converged:
            click.echo(f"converged after {took}", err=True)
            return
        left = ", ".join(
            f"{last.count(state)} {_WORDS.get(state, state)}"
            for state in watched_fleet.NOT_DONE
            if last.count(state)
        )
        status = f"`{offered('status')}` says what waits for what"
        why = "only a person can change that" if last.is_stuck else status
        click.echo(f"not converged after {took}: {left}; {why}", err=True)
        self._name(last)
        raise SystemExit(exit_codes.FAILED)

    def _name(self, last: watched_fleet.WatchedFleet) -> None:
        named = last.stuck
        for waiting in named[:MOST_NAMED]:
            state = _WORDS.get(waiting["state"], waiting["state"])
            click.echo(f"  {printable(waiting['target'])} {state}: {printable(waiting['message'])}", err=True)
        hidden = last.stuck_count - min(len(named), MOST_NAMED)
        if hidden > 0:
            click.echo(f"  and {hidden} more", err=True)
        if named:
            command = offered("explain", named[0]["target"])
            click.echo(f"`{command}` says what you can do", err=True)
