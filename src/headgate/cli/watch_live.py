"""`watch` on a terminal: the whole screen is drawn anew when something on it has changed, four times a second at most."""

import time
from collections.abc import Sequence

from rich.console import Console
from rich.live import Live
from rich.text import Text

from headgate.cli import event_stream, failures, pairs, watch_screen, watch_state
from headgate.cli.client import Client
from headgate.cli.watch_ending import Ending
from headgate.cli.watch_feed import Feed
from headgate.cli.watch_forecast import Forecast, Forecaster
from headgate.cli.watch_spans import Line

PACE_SECONDS = 0.25
LEAST_BETWEEN_LOOKS_SECONDS = 1.0
LONGEST_BETWEEN_LOOKS_SECONDS = 10.0


def run(client: Client, names: tuple[str, ...], end: Ending) -> watch_state.Snapshot:
    """The last screen stays in the terminal when it is over."""
    console = Console()
    snapshot = watch_state.fetch(client, names)
    forecaster = Forecaster(client)
    looked_at = time.monotonic()
    is_stale = False
    trouble: str | None = None
    drawn: list[Line] = []
    lines: list[Line] = []
    try:
        with Feed(client) as feed, Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                forecast = forecaster.latest(snapshot.targets, snapshot.count("running", "waiting"))
                lines = _lines(snapshot, client, trouble, forecast, console)
                if lines != drawn:
                    live.update(_text(lines), refresh=True)
                    drawn = lines
                if end.is_over(snapshot):
                    break
                began = time.monotonic()
                for item in feed.batch(PACE_SECONDS):
                    trouble = item.reason if isinstance(item, event_stream.Lost) else None
                    is_stale = True
                age = time.monotonic() - looked_at
                if (is_stale and age >= LEAST_BETWEEN_LOOKS_SECONDS) or age >= LONGEST_BETWEEN_LOOKS_SECONDS:
                    try:
                        snapshot = watch_state.fetch(client, names)
                    except failures.Failure as failure:
                        trouble = failure.sentences[0]
                    looked_at, is_stale = time.monotonic(), False
                time.sleep(max(PACE_SECONDS - (time.monotonic() - began), 0))
    finally:
        console.print(_text(lines))
    return snapshot


def _lines(
    snapshot: watch_state.Snapshot, client: Client, trouble: str | None, forecast: Forecast, console: Console
) -> list[Line]:
    connection = client.connection
    heading = watch_screen.Heading(
        connection.workspace or "default workspace", connection.url, pairs.now(), trouble, forecast
    )
    return watch_screen.render(snapshot, heading, console.width, console.height)


def _text(lines: Sequence[Line]) -> Text:
    text = Text(no_wrap=True, overflow="crop", end="")
    for number, line in enumerate(lines):
        text.append("\n" if number else "")
        for span in line:
            text.append(span.text, style=span.style or None)
    return text
