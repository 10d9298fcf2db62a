"""What an operator does to one release target."""

import click

from headgate.cli import completions, failures, options, output
from headgate.cli.client import Client, path

_TARGET = click.argument("target", shell_complete=completions.names("release-targets"))


@click.command("retry")
@click.argument("target", required=False, shell_complete=completions.names("release-targets"))
@click.option(
    "--group", metavar="ID", help="A failed group instead.", shell_complete=completions.names("groups")
)
@options.output()
@options.with_server
def retry(client: Client, target: str | None, group: str | None, form: str) -> None:
    """Tries the failed TARGET again, which is named deployment/environment/resource, or a failed group.

    Exit codes: 0 ordered; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    if bool(target) == bool(group):
        raise failures.misused("give TARGET, or --group ID")
    if group:
        answer = client.send("POST", path("groups", group, "retry"))
        output.result(answer, form, f"group {group} is tried again", group)
    else:
        _act(client, str(target), "retry", "is tried again", form)


@click.command("rollback")
@_TARGET
@options.output()
@options.with_server
def rollback(client: Client, target: str, form: str) -> None:
    """Takes TARGET, which is named deployment/environment/resource, back to the version that ran before.

    Exit codes: 0 ordered; 1 refused, for example because there is no version before; 2 called wrongly;
    4 the server cannot be reached; 5 not allowed.
    """
    _act(client, target, "rollback", "goes back to its version before", form)


@click.command("redeploy")
@_TARGET
@options.output()
@options.with_server
def redeploy(client: Client, target: str, form: str) -> None:
    """Runs the version that TARGET has, which is named deployment/environment/resource, once more.

    Exit codes: 0 ordered; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    _act(client, target, "redeploy", "runs its version once more", form)


def _act(client: Client, target: str, action: str, what: str, form: str) -> None:
    check_name(target)
    answer = client.send("POST", path("release-targets", target, action))
    output.result(answer, form, f"{target} {what}; see `headgate explain {target}`", target)


def check_name(target: str) -> None:
    """An id has no slash; a name has two."""
    if target.count("/") not in (0, 2):
        raise failures.misused(
            f'TARGET: is "{target}"; allowed are deployment/environment/resource, or an id'
        )
