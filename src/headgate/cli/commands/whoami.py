from typing import Any

import click

from headgate.cli import options, output
from headgate.cli.client import ApiClient, path
from headgate.screens import tables


@click.command("whoami")
@options.output()
@options.with_server
def command(client: ApiClient, form: str) -> None:
    """Shows who you are, and what you may do in which workspace.

    Exit codes: 0 shown; 2 called wrongly; 4 the server cannot be reached; 5 the token is not accepted.
    """
    answer = client.get(path("whoami"), scoped=False)
    output.result(answer, form, lambda: _text(client.connection.url, answer), answer["user"])


def _text(url: str, answer: dict[str, Any]) -> str:
    lines = [
        ["all workspaces" if name == "*" else tables.printable(name), ", ".join(permissions)]
        for name, permissions in answer["workspaces"].items()
    ]
    head = f"{tables.printable(answer['user'])} at {url}"
    rows = [[f"  {name}", permissions] for name, permissions in lines]
    return "\n".join([head, *tables.aligned(rows)] if rows else [head, "  may do nothing"])
