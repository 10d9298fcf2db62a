import click

from headgate.cli import completions, concerns, options, output
from headgate.cli.client import ApiClient, path

_DEPLOYMENT = click.argument("deployment", shell_complete=completions.names("deployments"))
_ENVIRONMENT = click.option(
    "-e",
    "--environment",
    required=True,
    metavar="NAME",
    help="Where.",
    shell_complete=completions.names("environments"),
)
_REASON = click.option("--reason", metavar="TEXT", help="Shown to everyone who waits.")


@click.command("approve")
@_DEPLOYMENT
@click.argument("tag")
@_ENVIRONMENT
@_REASON
@options.output()
@options.with_server
def approve(
    client: ApiClient, deployment: str, tag: str, environment: str, reason: str | None, form: str
) -> None:
    """Approves version TAG of DEPLOYMENT for an environment; another vote of yours is replaced.

    Exit codes: 0 the vote counts; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    _vote(client, "approved", deployment, tag, environment, reason, form)


@click.command("reject")
@_DEPLOYMENT
@click.argument("tag")
@_ENVIRONMENT
@_REASON
@options.output()
@options.with_server
def reject(
    client: ApiClient, deployment: str, tag: str, environment: str, reason: str | None, form: str
) -> None:
    """Rejects version TAG of DEPLOYMENT for an environment; another vote of yours is replaced.

    Exit codes: 0 the vote counts; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    _vote(client, "rejected", deployment, tag, environment, reason, form)


@click.command("withdraw-vote")
@_DEPLOYMENT
@click.argument("tag")
@_ENVIRONMENT
@options.REASON
@options.output()
@options.with_server
def withdraw(
    client: ApiClient, deployment: str, tag: str, environment: str, reason: str | None, form: str
) -> None:
    """Takes back your own vote on version TAG of DEPLOYMENT for an environment.

    Exit codes: 0 it counts no longer; 1 refused, for example because there is none; 2 called wrongly; 4 the server
    cannot be reached; 5 not allowed.
    """
    place = path("approvals", f"{deployment}/{tag}", environment)
    vote = client.send("DELETE", place, query=options.reason_query(reason)) or {}
    sentence = f"your vote on {deployment} {tag} for {environment} is withdrawn"
    output.result(vote, form, concerns.message_of(sentence, vote), f"{deployment}/{tag}")


def _vote(
    client: ApiClient, status: str, deployment: str, tag: str, environment: str, reason: str | None, form: str
) -> None:
    body = {"deployment": deployment, "tag": tag, "environment": environment, "status": status}
    if reason:
        body["reason"] = reason
    vote = client.send("POST", path("approvals"), body)
    sentence = f"{status} {deployment} {tag} for {environment}"
    output.result(vote, form, concerns.message_of(sentence, vote), f"{deployment}/{tag}")
