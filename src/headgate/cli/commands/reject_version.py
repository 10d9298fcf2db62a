import click

from headgate.cli import asking, completions, concerns, options, output
from headgate.cli.client import ApiClient, path


@click.command("reject-version")
@click.argument("deployment", shell_complete=completions.names("deployments"))
@click.argument("tag")
@click.option(
    "--reason", metavar="TEXT", required=True, help="What is wrong with it; everyone who asks is told."
)
@click.option("--rollback", is_flag=True, help="Also take it back where it runs.")
@asking.YES
@options.output()
@options.with_server
def command(
    client: ApiClient, deployment: str, tag: str, reason: str, rollback: bool, yes: bool, form: str
) -> None:
    """Marks version TAG of DEPLOYMENT as bad: it starts nowhere any more, also not after `headgate resume` or on new
    resources. With --rollback it goes back where it runs, before anything new starts.

    Setting its status to ready again in the API lifts that: PATCH of /v1/deployments/DEPLOYMENT/versions/TAG.

    Exit codes: 0 marked; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    back = " and take it back where it runs" if rollback else ""
    asking.be_sure(f"Mark {deployment} {tag} as bad{back}?", yes=yes)
    body = {"reason": reason, "rollback": rollback}
    answer = client.send("POST", path("deployments", deployment, "versions", tag, "reject"), body)
    goes = ", and goes back where it runs" if rollback else ""
    sentence = f"{deployment} {tag} starts nowhere any more{goes}"
    output.result(answer, form, concerns.message_of(sentence, answer), tag)
