from typing import Any

import click

from headgate.cli import completions, options, output
from headgate.cli.client import ApiClient, path
from headgate.screens import tables


@click.group("policy")
def command() -> None:
    """Says what policies ask for."""


@command.command("text")
@click.argument("name", shell_complete=completions.names("policies"))
@options.output()
@options.with_server
def text(client: ApiClient, name: str, form: str) -> None:
    """Says what the policy NAME asks for: whom it binds, and one sentence for each of its rules.

    Exit codes: 0 said; 1 there is no such policy; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    answer: dict[str, Any] = client.get(path("policies", name, "text"))
    output.result(answer, form, lambda: _printed(tables.printable_document(answer)), name)


def _printed(answer: dict[str, Any]) -> str:
    rules = tables.aligned([[f"  {rule['name']}", rule["text"]] for rule in answer["rules"]])
    return "\n".join([f"{answer['policy']}: {answer['text']}", *rules])
