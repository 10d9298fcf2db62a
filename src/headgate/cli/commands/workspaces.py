import sys

import click

from headgate.cli import completions, failures, kinds, options, output
from headgate.cli.client import ApiClient, path
from headgate.cli.commands import retention


@click.group("workspace")
def command() -> None:
    """Creates, lists and deletes workspaces, and says how long they keep their history."""


command.add_command(retention.command)


@command.command("create")
@click.argument("name")
@click.option("--description", metavar="TEXT", help="For people.")
@options.output()
@options.with_server
def create(client: ApiClient, name: str, description: str | None, form: str) -> None:
    """Creates the workspace NAME.

    Exit codes: 0 created; 1 refused, for example because it is there already; 2 called wrongly;
    4 the server cannot be reached; 5 not allowed.
    """
    body = {"name": name, **({"description": description} if description else {})}
    workspace = client.send("POST", path("workspaces"), body, scoped=False)
    output.result(workspace, form, f"workspace {name} created", name)


@command.command("list")
@options.output()
@options.with_server
def list_(client: ApiClient, form: str) -> None:
    """Lists the workspaces that you may see.

    Exit codes: 0 listed; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    output.rows(kinds.find("workspaces"), list(client.pages(path("workspaces"), scoped=False)), form)


@command.command("delete")
@click.argument("name", shell_complete=completions.names("workspaces"))
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.output()
@options.with_server
def delete(client: ApiClient, name: str, yes: bool, form: str) -> None:
    """Deletes the workspace NAME with everything in it.

    Exit codes: 0 deleted; 1 there is none of that name, or you did not confirm it; 2 called wrongly;
    4 the server cannot be reached; 5 not allowed.
    """
    if not yes and not sys.stdin.isatty():
        raise failures.misused(
            f"workspace {name} goes with everything in it; give --yes to say that you want that"
        )
    if not yes:
        click.confirm(f"Delete workspace {name} with everything in it?", abort=True, err=True)
    client.send("DELETE", path("workspaces", name), scoped=False)
    output.result(
        {"kind": "workspace", "name": name, "action": "deleted"}, form, f"workspace {name} deleted", name
    )
