import click

from headgate.cli import completions, concerns, failures, options, output
from headgate.cli.client import ApiClient, path
from headgate.cli.offered_commands import offered


@click.command("pause-version")
@click.argument("deployment", shell_complete=completions.names("deployments"))
@click.argument("tag")
@click.option("--message", metavar="TEXT", help="Why; shown beside the status.")
@options.REASON
@options.output()
@options.with_server
def pause(
    client: ApiClient, deployment: str, tag: str, message: str | None, reason: str | None, form: str
) -> None:
    """Pauses version TAG of DEPLOYMENT: it starts nowhere until `headgate unpause-version`, and stays where it runs.

    Exit codes: 0 paused; 1 refused, for example because it is not ready; 2 called wrongly; 4 the server cannot be
    reached; 5 not allowed.
    """
    body = {"status": "paused", **({"message": message} if message is not None else {})}
    answer = _changed(client, deployment, tag, "ready", body, reason)
    end = offered("unpause-version", deployment, tag)
    sentence = f"{deployment} {tag} is paused; end it with `{end}`"
    output.result(answer, form, concerns.message_of(sentence, answer), tag)


@click.command("unpause-version")
@click.argument("deployment", shell_complete=completions.names("deployments"))
@click.argument("tag")
@options.REASON
@options.output()
@options.with_server
def unpause(client: ApiClient, deployment: str, tag: str, reason: str | None, form: str) -> None:
    """Makes version TAG of DEPLOYMENT, which was paused, ready again: policies decide when each target gets it.

    Exit codes: 0 ready; 1 refused, for example because it is not paused; 2 called wrongly; 4 the server cannot be
    reached; 5 not allowed.
    """
    answer = _changed(client, deployment, tag, "paused", {"status": "ready"}, reason)
    output.result(answer, form, concerns.message_of(f"{deployment} {tag} is ready", answer), tag)


def _changed(
    client: ApiClient,
    deployment: str,
    tag: str,
    wanted: str,
    body: dict[str, str],
    reason: str | None,
) -> dict[str, object]:
    """Only from the status that is meant: to make ready what was rejected is another decision."""
    place = path("deployments", deployment, "versions", tag)
    status = client.get(place)["status"]
    if status != wanted:
        raise failures.CommandFailure(f"{deployment} {tag} is {status}, not {wanted}")
    answer: dict[str, object] = client.send("PATCH", place, body, query=options.reason_query(reason))
    return answer
