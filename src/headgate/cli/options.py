"""Options that many commands share, so that they are spelled and explained once."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from headgate.cli.client import Client

P = ParamSpec("P")
R = TypeVar("R")
FORMATS = ("table", "wide", "json", "yaml", "name")


def with_server(function: Callable[..., R]) -> Callable[..., R]:
    """The command gets an open client as its first argument."""

    @click.option("--server", metavar="URL", help="The server; else HEADGATE_URL, or the context's.")
    @click.option("--token", metavar="TOKEN", help="Who you are; else HEADGATE_TOKEN, or the context's.")
    @click.option("--workspace", metavar="NAME", help="Else HEADGATE_WORKSPACE, or the context's.")
    @click.option(
        "--context",
        metavar="NAME",
        help="A stored server; else HEADGATE_CONTEXT, or the one in use.",
        shell_complete=_context_names,
    )
    @functools.wraps(function)
    def run(
        *, server: str | None, token: str | None, workspace: str | None, context: str | None, **given: Any
    ) -> R:
        with connect(server, token, workspace, context) as client:
            return function(client, **given)

    return run


def connect(server: str | None, token: str | None, workspace: str | None, context: str | None) -> "Client":
    from headgate.cli import client, contexts

    return client.Client(contexts.resolve(server, token, workspace, context))


def _context_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from headgate.cli import completions

    return completions.contexts(context, parameter, incomplete)


def output(default: str = "table") -> Callable[[Callable[P, R]], Callable[P, R]]:
    return click.option(
        "-o",
        "--output",
        "form",
        type=click.Choice(FORMATS),
        default=default,
        show_default=True,
        help="How it is printed.",
    )


def files(*, required: bool) -> Callable[[Callable[P, R]], Callable[P, R]]:
    return click.option(
        "-f",
        "--file",
        "paths",
        multiple=True,
        required=required,
        metavar="PATH",
        help="A file, a folder, or - for standard input; may be given several times.",
    )
