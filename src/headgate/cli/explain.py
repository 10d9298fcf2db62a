import click

from headgate.cli import completions, explanation_text, options, output, pairs, targets
from headgate.cli.client import Client, path


@click.command("explain")
@click.argument("target", shell_complete=completions.names("release-targets"))
@options.output()
@options.with_server
def command(client: Client, target: str, form: str) -> None:
    """Says why TARGET, which is named deployment/environment/resource, has not changed yet.

    Exit codes: 0 said; 1 there is no such target; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    targets.check_name(target)
    explanation = client.get(path("release-targets", target, "explain"))
    output.result(
        explanation, form, lambda: "\n".join(explanation_text.render(explanation, pairs.now())), target
    )
