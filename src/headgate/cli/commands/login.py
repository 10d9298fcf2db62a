import sys

import click

from headgate.cli import client, contexts, failures
from headgate.cli.client import path


@click.command("login")
@click.option("--server", metavar="URL", help="Its address; the one in use if absent.")
@click.option("--token", metavar="TOKEN", help="Asked for if absent, or read from standard input.")
@click.option("--workspace", metavar="NAME", help="The workspace to work in.")
@click.option("--context", metavar="NAME", help="The name to store it under; the server's host if absent.")
def command(server: str | None, token: str | None, workspace: str | None, context: str | None) -> None:
    """Stores a server and a token, and uses them from now on. The token is tried first.

    Exit codes: 0 stored; 1 the file cannot be written; 2 called wrongly; 4 the server cannot be reached;
    5 the token is not accepted.
    """
    stored = contexts.load()
    url = contexts.address(server, "--server") if server else _url_in_use(stored, context)
    secret = contexts.checked_token(token or _asked())
    with client.ApiClient(contexts.Connection(url, secret, workspace)) as opened:
        who = opened.get(path("whoami"), scoped=False)
    name = context or _name_for(url)
    stored.contexts[name] = contexts.ServerContext(url, secret, workspace)
    stored.current = name
    contexts.save(stored)
    click.echo(f"you are {who['user']} at {url}; context {name} is in use, stored in {contexts.path()}")


def _url_in_use(stored: contexts.Contexts, name: str | None) -> str:
    name = name or stored.current
    if name is None or name not in stored.contexts:
        raise failures.misused("--server: is missing; give the address, such as https://headgate.example.com")
    return stored.contexts[name].server


def _asked() -> str:
    """Typed unseen by a person, or piped by a program; never an argument that others can see in a process list."""
    if sys.stdin.isatty():
        return str(click.prompt("Token", hide_input=True, err=True)).strip()
    token = sys.stdin.readline().strip()
    if not token:
        raise failures.misused("--token: is missing; give it, or write it to standard input")
    return token


def _name_for(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]
