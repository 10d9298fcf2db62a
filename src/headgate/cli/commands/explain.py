from typing import Any

import click

from headgate.cli import completions, failures, offered_commands, options, output, pairs, terminal
from headgate.cli.client import ApiClient, path
from headgate.cli.commands import targets
from headgate.screens import explanation_text, tables

NARROWEST = 40


@click.command("explain")
@click.argument("target", shell_complete=completions.names("release-targets"))
@click.option("-e", "--environment", metavar="NAME", help="Of a deployment, only there.")
@options.output()
@options.with_server
def command(client: ApiClient, target: str, environment: str | None, form: str) -> None:
    """Says why TARGET, which is named deployment/environment/resource, has not changed yet.

    Of a DEPLOYMENT it says it of all its targets, grouped by reason. It begins with what can change them next, and ends
    with what you can do and who may.

    Exit codes: 0 said; 1 there is no such target or deployment; 2 called wrongly; 4 the server cannot be reached; 5
    not allowed.
    """
    if "/" not in target:
        _explain_deployment(client, target, environment, form)
        return
    if environment is not None:
        raise failures.misused("--environment: is for a deployment; a target names its environment")
    targets.check_name(target)
    explanation = client.get(path("release-targets", target, "explain"))
    output.result(
        explanation,
        form,
        lambda: "\n".join(explanation_text.render(_for_people(explanation), pairs.now(), width=_width())),
        target,
    )


def _explain_deployment(client: ApiClient, name: str, environment: str | None, form: str) -> None:
    query = {} if environment is None else {"environment": environment}
    answer: dict[str, Any] = client.get(path("deployments", name, "explain"), query)
    output.result(
        answer,
        form,
        lambda: "\n".join(explanation_text.of_deployment(_for_people(answer), pairs.now(), _width())),
        name,
    )


def _for_people(explanation: Any) -> Any:
    return tables.printable_document(offered_commands.with_actions(explanation))


def _width() -> int:
    """Sentences are not longer than the eye likes, and not wider than the terminal."""
    return max(min(terminal.width() or explanation_text.WIDTH, explanation_text.WIDTH), NARROWEST)
