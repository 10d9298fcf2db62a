"""Which server a command was told to talk to, on its command line."""

import click

NAMES = ("server", "token", "workspace", "context")


def given(context: click.Context) -> dict[str, str | None]:
    """Behind the command they win over those before it."""
    before = context.find_root().params
    return {name: context.params.get(name) or before.get(name) for name in NAMES}
