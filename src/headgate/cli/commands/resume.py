import click

from headgate.cli import completions, options, output
from headgate.cli.client import ApiClient, path


@click.command("resume")
@click.argument("rule")
@click.option(
    "--policy", metavar="NAME", help="The rule's policy.", shell_complete=completions.names("policies")
)
@click.option(
    "--environment", metavar="NAME", help="Only there.", shell_complete=completions.names("environments")
)
@click.option("--value", metavar="TEXT", help="Only for this value of the rule's groupBy.")
@options.REASON
@options.output()
@options.with_server
def command(
    client: ApiClient,
    rule: str,
    policy: str | None,
    environment: str | None,
    value: str | None,
    reason: str | None,
    form: str,
) -> None:
    """Goes on after the failure budget RULE stopped the line; failures so far no longer count.

    RULE is an id or a name, or a number in the given policy; `headgate get budgets` lists them.

    Exit codes: 0 it goes on; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    given = {"rule": rule, "policy": policy, "environment": environment, "value": value}
    body = {key: value for key, value in given.items() if value is not None}
    answer = client.send("POST", path("budgets", "resume"), body, query=options.reason_query(reason))
    where = (f" in {environment}" if environment else "") + (f" for {value}" if value else "")
    output.result(answer, form, f"rule {rule} lets rollouts go on{where}", rule)
