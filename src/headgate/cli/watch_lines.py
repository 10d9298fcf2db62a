"""`watch` in a pipe: one line an event, as it comes."""

import json
import time

import click

from headgate.cli import event_stream, failures, output, refusals, watch_changes, watch_state
from headgate.cli.client import ApiClient
from headgate.cli.watch_ending import WatchEnding
from headgate.cli.watch_feed import Feed
from headgate.kernel import instants
from headgate.screens import watched_fleet

LONGEST_WITHOUT_COUNTS_SECONDS = 30.0
LEAST_BETWEEN_COUNTS_SECONDS = 0.5
MOST_LAST_LOOKS = 20
"""The counts may be ahead of the events that led to them; those are still printed."""
_PACE_SECONDS = 0.25
_STOPS_LINES = frozenset({"budget.stopped", "budget.resumed", "freeze.begun", "freeze.ended", "group.stuck"})
SILENT = "silent"
"""The form that prints no events."""


def run(
    client: ApiClient,
    names: tuple[str, ...],
    end: WatchEnding,
    snapshot: watched_fleet.WatchedFleet,
    form: str,
    environment: str | None = None,
) -> watched_fleet.WatchedFleet:
    if end.is_over(snapshot):
        return snapshot
    counted_at = time.monotonic()
    is_stale = False
    with Feed(client) as feed:
        while not end.is_over(snapshot):
            for item in feed.batch(_PACE_SECONDS):
                is_stale = is_stale or _may_change_counts(item, names, snapshot)
                _print(item, names, form)
            age = time.monotonic() - counted_at
            if end.needs_counts and (
                (is_stale and age >= LEAST_BETWEEN_COUNTS_SECONDS) or age >= LONGEST_WITHOUT_COUNTS_SECONDS
            ):
                snapshot = _counted(client, names, environment) or snapshot
                counted_at, is_stale = time.monotonic(), False
        for _ in range(MOST_LAST_LOOKS):
            last = feed.batch(_PACE_SECONDS)
            for item in last:
                _print(item, names, form)
            if not last:
                break
    return snapshot


def _may_change_counts(
    item: event_stream.Item, names: tuple[str, ...], snapshot: watched_fleet.WatchedFleet
) -> bool:
    if isinstance(item, event_stream.StreamedEvent):
        return watch_changes.left_open(snapshot, item).concerns(names)
    return isinstance(item, event_stream.Live) and not item.resumed


def _counted(
    client: ApiClient, names: tuple[str, ...], environment: str | None
) -> watched_fleet.WatchedFleet | None:
    """None while the server is away: it is asked again, the time that was given is the bound."""
    try:
        return watch_state.fetch_counts(client, names, environment)
    except failures.CommandFailure as failure:
        if not refusals.may_pass(failure):
            raise
        return None


def _print(item: event_stream.Item, names: tuple[str, ...], form: str) -> None:
    if form == SILENT:
        return
    if isinstance(item, event_stream.Lost):
        click.echo(f"not live: {item.reason}; trying again", err=True)
    elif isinstance(item, event_stream.StreamedEvent) and item.type == "gap":
        click.echo("some events are no longer kept and are missing here", err=True)
    elif isinstance(item, event_stream.StreamedEvent) and is_about(item, names):
        _print_event(item, form)


def is_about(event: event_stream.StreamedEvent, names: tuple[str, ...]) -> bool:
    """Whoever watches one deployment is told when a line is stopped too, for it may be theirs."""
    if not names:
        return True
    deployment = watch_changes.deployment_of(event, names)
    return deployment in names or (deployment is None and event.type in _STOPS_LINES)


def _print_event(event: event_stream.StreamedEvent, form: str) -> None:
    document = event.data
    message = str(document.get("message") or event.type)
    if form == "json":
        click.echo(json.dumps(document, ensure_ascii=False))
    elif form == "yaml":
        click.echo("---")
        output.echo_yaml([document])
    elif form == "name":
        output.echo_lines([str(document.get("name") or "")])
    elif form == "wide":
        words = (document.get("at"), document.get("type"), document.get("name"), message)
        output.echo_lines(["  ".join(str(word) for word in words if word)])
    else:
        output.echo_lines([f"{_to_the_second(document.get('at'))}  {message}"])


def _to_the_second(moment: object) -> str:
    """Of one width, so that messages stand below each other."""
    try:
        instant = instants.parse(str(moment))
    except ValueError:
        return str(moment)
    return instants.show(instant - instant % instants.MICROSECONDS_PER_SECOND)
