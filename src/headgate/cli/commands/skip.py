import click

from headgate.cli import completions, concerns, options, output, pairs
from headgate.cli.client import ApiClient, path
from headgate.cli.offered_commands import offered


@click.command("skip")
@click.argument("rule")
@click.option("--reason", required=True, metavar="TEXT", help="Shown to everyone who asks why it passed.")
@click.option(
    "--policy", metavar="NAME", help="The rule's policy.", shell_complete=completions.names("policies")
)
@click.option(
    "--deployment", metavar="NAME", help="Only there.", shell_complete=completions.names("deployments")
)
@click.option("--tag", metavar="TAG", help="Only this version of the deployment.")
@click.option(
    "--environment", metavar="NAME", help="Only there.", shell_complete=completions.names("environments")
)
@click.option("--resource", metavar="NAME", help="Only there.", shell_complete=completions.names("resources"))
@click.option("--for", "length", metavar="DURATION", help="It is over after so long, such as 2h.")
@click.option("--until", metavar="TIME", help="It is over then, such as 2026-03-01T09:00:00Z.")
@options.output()
@options.with_server
def command(
    client: ApiClient,
    rule: str,
    reason: str,
    policy: str | None,
    deployment: str | None,
    tag: str | None,
    environment: str | None,
    resource: str | None,
    length: str | None,
    until: str | None,
    form: str,
) -> None:
    """Lets what is named pass RULE, which is an id, a name, or what is printed for a rule without one, such as approval[0];
    or a number in the given policy.

    A skip is taken back with `headgate delete skip ID`.

    Exit codes: 0 it passes; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    given = {
        "rule": rule,
        "reason": reason,
        "policy": policy,
        "deployment": deployment,
        "tag": tag,
        "environment": environment,
        "resource": resource,
        "expiresAt": pairs.expiry(length, until),
    }
    skip = client.send(
        "POST", path("skips"), {key: value for key, value in given.items() if value is not None}
    )
    end = offered("delete", "skip", skip["id"])
    sentence = f"rule {rule} is skipped; take it back with `{end}`"
    output.result(skip, form, concerns.message_of(sentence, skip), skip["id"])
