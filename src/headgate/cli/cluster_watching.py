"""A set or a graph of a cluster as it changes: a tree on a terminal, a line for each part that changed in a pipe."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.live import Live
from rich.text import Text

from headgate.cli import exit_codes, output, pairs, terminal
from headgate.cli.clusters import AskedCluster, ClusterLocation
from headgate.kernel import instants
from headgate.kernel.explanations import ExplanationTree, PartState
from headgate.kubernetes.errors import ApiError, ForbiddenError, UnauthorizedError
from headgate.operator.observation import news
from headgate.operator.observation.news import HeardOf
from headgate.screens import tables, tree_text

LEAST_SECONDS_BETWEEN = 0.5
LONGEST_SECONDS_BETWEEN = 10.0
REST_FACTOR = 4
"""After a look that took long it rests so many times as long: a large graph is not asked for without end."""
DONE = frozenset({PartState.DONE, PartState.PROPAGATED})
GIVEN_UP = frozenset({PartState.ABORTED, PartState.DELETING})
"""Nothing follows by itself."""

Look = Callable[[AskedCluster], Awaitable[ExplanationTree]]
Hear = Callable[[AskedCluster], Awaitable[list[HeardOf]]]


class Seen(msgspec.Struct, frozen=True):
    """`trouble` is why it may be old."""

    tree: ExplanationTree
    trouble: str = ""


class Ending(msgspec.Struct, frozen=True):
    """`deadline` is on the steady clock; None where there is none."""

    is_until_done: bool
    deadline: float | None

    def is_over(self, seen: Seen) -> bool:
        if self.is_until_done and not seen.trouble and seen.tree.state in DONE | GIVEN_UP:
            return True
        return self.is_late

    @property
    def is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def code(self, last: Seen | None) -> int:
        is_done = last is not None and last.tree.state in DONE
        return exit_codes.FAILED if self.is_until_done and not is_done else exit_codes.OK


def ending(until: str | None, timeout: str | None) -> Ending:
    length = None if timeout is None else pairs.duration("--timeout", timeout)
    deadline = None if length is None else time.monotonic() + length / instants.MICROSECONDS_PER_SECOND
    return Ending(until == "done", deadline)


def run(place: ClusterLocation, look: Look, hear: Hear, end: Ending, form: str) -> None:
    """Raises CommandFailure, and SystemExit with the code."""
    is_drawn = form == "table" and sys.stdout.isatty() and terminal.can_move()
    view = _Drawn() if is_drawn else _Printed(form)

    async def followed(cluster: AskedCluster) -> Seen | None:
        last: Seen | None = None
        with view:
            async with aclosing(_changes(cluster, look, hear, end)) as changes:
                async for last in changes:
                    view.show(last)
        return last

    try:
        last = place.ask(followed)
    except KeyboardInterrupt:
        raise SystemExit(exit_codes.INTERRUPTED) from None
    raise SystemExit(end.code(last))


async def _changes(cluster: AskedCluster, look: Look, hear: Hear, end: Ending) -> AsyncGenerator[Seen, None]:
    """What it is at first is given in any case; a cluster that is away afterwards is waited for."""
    seen = Seen(await look(cluster))
    yield seen
    async with news.following(cluster.client, await hear(cluster)) as heard:
        rest = LEAST_SECONDS_BETWEEN
        while not end.is_over(seen):
            await asyncio.sleep(rest)
            await heard.wait(_longest(end))
            began = time.monotonic()
            following = await _looked(cluster, look, seen, heard.trouble)
            rest = max(LEAST_SECONDS_BETWEEN, REST_FACTOR * (time.monotonic() - began))
            if following != seen:
                yield following
            seen = following


def _longest(end: Ending) -> float:
    if end.deadline is None:
        return LONGEST_SECONDS_BETWEEN
    return min(LONGEST_SECONDS_BETWEEN, max(0.0, end.deadline - time.monotonic()))


async def _looked(cluster: AskedCluster, look: Look, before: Seen, trouble: str | None) -> Seen:
    try:
        return Seen(await look(cluster), trouble or "")
    except (ForbiddenError, UnauthorizedError):
        raise
    except ApiError as error:
        return Seen(before.tree, error.message)


class _Drawn:
    """On the whole screen; the last state stays in the terminal."""

    def __init__(self) -> None:
        self._console = Console()
        self._live = Live(console=self._console, screen=True, auto_refresh=False)
        self._last: Seen | None = None

    def __enter__(self) -> None:
        self._live.start()

    def __exit__(self, *_: object) -> None:
        self._live.stop()
        if self._last is not None:
            self._console.print(self._text(self._last, None))

    def show(self, seen: Seen) -> None:
        self._last = seen
        self._live.update(self._text(seen, self._console.height), refresh=True)

    def _text(self, seen: Seen, height: int | None) -> Text:
        moment = instants.show_to_the_second(pairs.now())
        stale = f", not live: {tables.printable(seen.trouble)}" if seen.trouble else ""
        document = tables.printable_document(seen.tree.document())
        lines = tree_text.fitting(document, None if height is None else height - 1, terminal.of_state)
        return Text.from_ansi("\n".join((f"{moment}{stale}", *lines)), no_wrap=True, overflow="crop", end="")


class _Printed:
    def __init__(self, form: str) -> None:
        self._form = form
        self._known: dict[tuple[str, ...], str] | None = None
        self._trouble = ""

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        return

    def show(self, seen: Seen) -> None:
        if seen.trouble and seen.trouble != self._trouble:
            click.echo(f"not live: {tables.printable(seen.trouble)}; trying again", err=True)
        self._trouble = seen.trouble
        document: dict[str, Any] = seen.tree.document()
        parts = dict(_parts(document))
        if parts == self._known:
            return
        if self._form == "json":
            click.echo(json.dumps(document, ensure_ascii=False))
        elif self._form == "yaml":
            click.echo("---")
            output.echo_yaml([document])
        else:
            output.echo_lines(_lines(parts, self._known))
        self._known = parts


def _parts(document: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each part by its way from the top, with what is said of it."""
    way = (*above, document["subject"])
    comment = f", {document['message']}" if document["message"] else ""
    lines = [line["message"] for line in document["lines"] if line["message"] != document["message"]]
    yield way, "; ".join((f"{document['state']}{comment}", *lines))
    for child in document["children"]:
        yield from _parts(child, way)


def _lines(parts: dict[tuple[str, ...], str], before: dict[tuple[str, ...], str] | None) -> Iterator[str]:
    moment = instants.show_to_the_second(pairs.now())
    known = before or {}
    for way, part_text in parts.items():
        if known.get(way) != part_text:
            yield tables.printable(f"{moment}  {_named(way)}: {part_text}")
    for way in known:
        if way not in parts and way[:-1] in parts:
            yield tables.printable(f"{moment}  {_named(way)}: gone")


def _named(way: tuple[str, ...]) -> str:
    """The top is the same in every line."""
    return " / ".join(way[1:] or way)


def options(function: Callable[..., None]) -> Callable[..., None]:
    function = click.option("--timeout", metavar="DURATION", help="End after so long, such as 30m.")(function)
    return click.option(
        "--until", type=click.Choice(["done"]), help="End when it is done, or nothing follows by itself."
    )(function)
