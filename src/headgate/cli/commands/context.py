from collections.abc import Mapping

import click

from headgate.cli import completions, contexts, options, output
from headgate.kernel.command_lines import command_line
from headgate.screens import tables


@click.group("context")
def command() -> None:
    """Keeps the servers that commands talk to."""


@command.command("add")
@click.argument("name")
@click.option("--server", required=True, metavar="URL", help="Its address.")
@click.option("--token", metavar="TOKEN", help="Who you are there.")
@click.option("--workspace", metavar="NAME", help="The workspace to work in.")
def add(name: str, server: str, token: str | None, workspace: str | None) -> None:
    """Stores a server as NAME, or changes it. The first one is used at once.

    Exit codes: 0 stored; 1 the file cannot be written; 2 called wrongly.
    """
    stored = contexts.load()
    checked = contexts.checked_token(token) if token else None
    stored.contexts[name] = contexts.ServerContext(contexts.address(server, "--server"), checked, workspace)
    stored.current = stored.current or name
    contexts.save(stored)
    used = "in use" if stored.current == name else f"`{command_line('context use', name)}` uses it"
    click.echo(f"context {name} is stored in {contexts.path()}; {used}")


@command.command("use")
@click.argument("name", shell_complete=completions.contexts)
def use(name: str) -> None:
    """Uses the context NAME from now on.

    Exit codes: 0 in use; 1 the file cannot be written; 2 there is none of that name.
    """
    stored = contexts.load()
    server = contexts.named(stored, name).server
    stored.current = name
    contexts.save(stored)
    click.echo(f"context {name} is in use: {server}")


@command.command("list")
@options.output()
def list_(form: str) -> None:
    """Lists the contexts; the one in use has a star. Tokens are not shown.

    Exit codes: 0 listed; 2 the file cannot be read.
    """
    stored = contexts.load()
    rows = [
        {"name": name, "server": one.server, "workspace": one.workspace, "current": name == stored.current}
        for name, one in sorted(stored.contexts.items())
    ]
    if form == "json":
        output.echo_json({"items": rows})
    elif form == "yaml":
        output.echo_yaml([{"items": rows}])
    elif form == "name":
        output.echo_lines(sorted(stored.contexts))
    elif not rows:
        click.echo("no contexts; add one with `headgate context add NAME --server URL`", err=True)
    else:
        output.echo_lines(tables.aligned([["", "NAME", "SERVER", "WORKSPACE"], *map(_cells, rows)]))


def _cells(row: Mapping[str, object]) -> list[str]:
    return ["*" if row["current"] else "", str(row["name"]), str(row["server"]), str(row["workspace"] or "-")]


@command.command("remove")
@click.argument("name", shell_complete=completions.contexts)
def remove(name: str) -> None:
    """Forgets the context NAME and its token.

    Exit codes: 0 forgotten; 1 the file cannot be written; 2 there is none of that name.
    """
    stored = contexts.load()
    contexts.named(stored, name)
    del stored.contexts[name]
    stored.current = None if stored.current == name else stored.current
    contexts.save(stored)
    click.echo(f"context {name} is forgotten")
