"""What an operator does to a group of a bracket."""

import click

from headgate.cli import completions, options, output
from headgate.cli.client import ApiClient, path

_GROUP = click.argument("group", shell_complete=completions.names("groups"))


@click.command("abort")
@_GROUP
@click.option("--no-post-hooks", is_flag=True, help="Not even the hooks that clean up.")
@options.REASON
@options.output()
@options.with_server
def abort(client: ApiClient, group: str, no_post_hooks: bool, reason: str | None, form: str) -> None:
    """Ends GROUP, which is an id: nothing further of it starts, post-hooks run.

    Exit codes: 0 ordered; 1 refused, for example because it has ended; 2 called wrongly;
    4 the server cannot be reached; 5 not allowed.
    """
    answer = client.send(
        "POST", path("groups", group, "abort"), options.with_reason(reason, {"postHooks": not no_post_hooks})
    )
    output.result(answer, form, f"group {group} is aborted", group)


@click.command("release-slot")
@_GROUP
@options.REASON
@options.output()
@options.with_server
def release_slot(client: ApiClient, group: str, reason: str | None, form: str) -> None:
    """Frees the slot that the failed GROUP, which is an id, holds, so that others can go on.

    Exit codes: 0 freed; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    answer = client.send("POST", path("groups", group, "release"), options.with_reason(reason))
    output.result(answer, form, f"group {group} holds no slot any more", group)


@click.command("skip-member")
@_GROUP
@click.argument("member", shell_complete=completions.names("deployments"))
@options.REASON
@options.output()
@options.with_server
def skip_member(client: ApiClient, group: str, member: str, reason: str | None, form: str) -> None:
    """Goes on in GROUP, which is an id, as if the deployment MEMBER had nothing to do there.

    Exit codes: 0 skipped; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    answer = client.send(
        "POST", path("groups", group, "skip-member"), options.with_reason(reason, {"member": member})
    )
    output.result(answer, form, f"{member} is skipped in group {group}", group)
