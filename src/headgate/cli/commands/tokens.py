import click

from headgate.cli import kinds, options, output, pairs
from headgate.cli.client import ApiClient, path

ROLES = ("viewer", "deployer", "approver", "operator", "admin")


@click.group("token")
def command() -> None:
    """Creates, lists and deletes API tokens."""


@command.command("create")
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), help="What it may do.")
@click.option(
    "--permission", "permissions", multiple=True, metavar="NAME", help="Also this, such as job:run."
)
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Only jobs of these agents.")
@click.option("--all-workspaces", is_flag=True, help="Good for all workspaces, not only for this one.")
@click.option("--for", "length", metavar="DURATION", help="It is good for so long, such as 90d.")
@click.option("--until", metavar="TIME", help="It is good until then, such as 2027-01-01T00:00:00Z.")
@options.REASON
@options.output()
@options.with_server
def create(
    client: ApiClient,
    name: str,
    role: str | None,
    permissions: tuple[str, ...],
    agents: tuple[str, ...],
    all_workspaces: bool,
    length: str | None,
    until: str | None,
    reason: str | None,
    form: str,
) -> None:
    """Creates a token called NAME. Its secret is printed once and stored nowhere.

    Exit codes: 0 created; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    given: dict[str, object] = {
        "name": name,
        "role": role,
        "permissions": list(permissions),
        "agents": list(agents),
        "allWorkspaces": all_workspaces,
        "expiresAt": pairs.expiry(length, until),
    }
    body = {key: value for key, value in given.items() if value}
    token = client.send("POST", path("tokens"), body, query=options.reason_query(reason))
    if form not in ("json", "yaml"):
        click.echo(f"token {name} is created; its secret is shown this once:", err=True)
    output.result(token, form, token["secret"], token["secret"])


@command.command("list")
@options.output()
@options.with_server
def list_(client: ApiClient, form: str) -> None:
    """Lists tokens, without their secrets.

    Exit codes: 0 listed; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    output.rows(kinds.find("tokens"), list(client.pages(path("tokens"))), form)


@command.command("delete")
@click.argument("name", metavar="TOKEN")
@options.REASON
@options.output()
@options.with_server
def delete(client: ApiClient, name: str, reason: str | None, form: str) -> None:
    """Deletes TOKEN, which is a name or an id; it is refused from then on.

    Exit codes: 0 deleted; 1 there is none of that name; 2 called wrongly; 4 the server cannot be reached;
    5 not allowed.
    """
    client.send("DELETE", path("tokens", name), query=options.reason_query(reason))
    output.result({"kind": "token", "name": name, "action": "deleted"}, form, f"token {name} deleted", name)
