"""`get --watch`: the list, then every object again that has changed."""

import json
import time

import click

from headgate.cli import columns, event_stream, exit_codes, failures, listing, output, refusals
from headgate.cli.client import ApiClient
from headgate.cli.kinds import Collection
from headgate.cli.watch_feed import Feed
from headgate.screens import tables

LEAST_BETWEEN_LISTS_SECONDS = 1.0
_PACE_SECONDS = 0.25


def follow(
    client: ApiClient,
    kind: Collection,
    names: tuple[str, ...],
    query: listing.Query,
    form: str,
    *,
    header: bool = True,
) -> None:
    try:
        with Feed(client) as feed:
            _follow(feed, client, kind, names, query, form, header)
    except KeyboardInterrupt:
        raise SystemExit(exit_codes.INTERRUPTED) from None


def _follow(
    feed: Feed,
    client: ApiClient,
    kind: Collection,
    names: tuple[str, ...],
    query: listing.Query,
    form: str,
    header: bool,
) -> None:
    rows_shown: dict[str, columns.Row] = {}
    is_first = is_stale = True
    listed_at = 0.0
    while True:
        if is_stale and time.monotonic() - listed_at >= LEAST_BETWEEN_LISTS_SECONDS:
            listed_at = time.monotonic()
            rows_now = _listed(client, kind, names, query, is_first)
            if rows_now is None:
                continue
            _print(
                kind, [item for key, item in rows_now.items() if rows_shown.get(key) != item], form, header
            )
            header = False
            for key in rows_shown.keys() - rows_now.keys():
                click.echo(f"{kind.singular} {tables.printable(key)} is gone", err=True)
            rows_shown, is_first, is_stale = rows_now, False, False
        for item in feed.batch(_PACE_SECONDS):
            is_stale = is_stale or not isinstance(item, event_stream.Lost)


def _listed(
    client: ApiClient, kind: Collection, names: tuple[str, ...], query: listing.Query, is_first: bool
) -> dict[str, columns.Row] | None:
    """None while a server that was there is away; it is asked again."""
    try:
        return {kind.identity(item): item for item in listing.fetch(client, kind, names, query)}
    except failures.CommandFailure as failure:
        if is_first or not refusals.may_pass(failure):
            raise
        return None


def _print(kind: Collection, items: list[columns.Row], form: str, with_header: bool) -> None:
    if not items:
        return
    if form == "json":
        click.echo("\n".join(json.dumps(item, ensure_ascii=False) for item in items))
    elif form in ("table", "wide"):
        click.echo("\n".join(columns.render(kind.columns, items, wide=form == "wide", header=with_header)))
    else:
        if form == "yaml" and not with_header:
            click.echo("---")
        output.rows(kind, items, form, header=with_header)
