"""Completion of names. A person waits for it at every key: the server gets a second, and a failure gives nothing."""

from collections.abc import Callable

import click

TIMEOUT_SECONDS = 1.0
MOST_NAMES = 200

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def names(collection: str) -> Completer:
    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        return _names(context, collection, incomplete)

    return complete


def names_of_kind(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of the kind that stands before them on the line."""
    kind = context.params.get("kind")
    return _names(context, str(kind), incomplete) if kind else []


def kinds(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from headgate.cli import kinds as known

    plural = [kind.collection for kind in known.ALL if kind.collection.startswith(incomplete)]
    return plural or [name for kind in known.ALL for name in kind.names if name.startswith(incomplete)]


def contexts(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from headgate.cli import contexts as stored

    try:
        return [name for name in sorted(stored.load().contexts) if name.startswith(incomplete)]
    except Exception:
        return []


def _names(context: click.Context, collection: str, incomplete: str) -> list[str]:
    try:
        return _asked(context, collection, incomplete)
    except Exception:
        return []


def _asked(context: click.Context, collection: str, incomplete: str) -> list[str]:
    from headgate.cli import client, kinds, server_options
    from headgate.cli import contexts as stored

    kind = kinds.find(collection)
    connection = stored.resolve(**server_options.given(context))
    with client.ApiClient(connection, timeout_seconds=TIMEOUT_SECONDS, attempts=1) as opened:
        page = opened.get(client.path(kind.collection), {"limit": 1000}, scoped=kind.is_scoped)
    identities = [kind.identity(item) for item in page["items"]]
    offered = [name for name in identities if name.startswith(incomplete) and is_safe(name, incomplete)]
    return offered[:MOST_NAMES]


def is_safe(name: str, incomplete: str) -> bool:
    """Whether it may be put on the line: what looks like an option is one, unless a person has begun it so."""
    return name.isprintable() and (not name.startswith("-") or incomplete.startswith("-"))
