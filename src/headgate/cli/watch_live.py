"""`watch` on a terminal: the whole screen is drawn anew when something on it has changed, four times a second at most."""

import time
from collections.abc import Sequence

from rich.console import Console
from rich.live import Live
from rich.text import Text

from headgate.cli import pairs
from headgate.cli.client import ApiClient
from headgate.cli.watch_ending import WatchEnding
from headgate.cli.watch_feed import Feed
from headgate.cli.watch_following import Following
from headgate.cli.watch_forecast import Forecaster
from headgate.screens import watch_screen, watched_fleet
from headgate.screens.styled_text import Line

PACE_SECONDS = 0.25
LONGEST_FOR_THE_STREAM_SECONDS = 5.0


def run(client: ApiClient, names: tuple[str, ...], end: WatchEnding) -> watched_fleet.WatchedFleet:
    """The last screen stays in the terminal when it is over."""
    console = Console()
    following = Following(client, names, asks_for_stuck=end.needs_counts)
    forecaster = Forecaster(client)
    drawn: list[Line] = []
    lines: list[Line] = []
    with Feed(client) as feed:
        following.take(feed.batch(LONGEST_FOR_THE_STREAM_SECONDS))
        following.begin()
        try:
            with Live(console=console, screen=True, auto_refresh=False) as live:
                while True:
                    lines = _lines(following, client, forecaster, console)
                    if lines != drawn:
                        live.update(_text(lines), refresh=True)
                        drawn = lines
                    if end.is_over(following.snapshot):
                        break
                    began = time.monotonic()
                    following.take(feed.batch(PACE_SECONDS))
                    following.catch_up()
                    time.sleep(max(PACE_SECONDS - (time.monotonic() - began), 0))
        finally:
            console.print(_text(lines))
    return following.snapshot


def _lines(following: Following, client: ApiClient, forecaster: Forecaster, console: Console) -> list[Line]:
    connection, snapshot = client.connection, following.snapshot
    forecast = forecaster.latest(snapshot.count("running", "waiting"))
    heading = watch_screen.Heading(
        connection.workspace or "default workspace", connection.url, pairs.now(), following.trouble, forecast
    )
    return watch_screen.render(snapshot, heading, console.width, console.height)


def _text(lines: Sequence[Line]) -> Text:
    text = Text(no_wrap=True, overflow="crop", end="")
    for number, line in enumerate(lines):
        text.append("\n" if number else "")
        for span in line:
            text.append(span.text, style=span.style or None)
    return text
