from collections import Counter

import click

from headgate.cli import options, output
from headgate.cli.client import ApiClient, path
from headgate.screens import tables


@click.command("export")
@options.output("yaml")
@options.with_server
def command(client: ApiClient, form: str) -> None:
    """Prints all objects of the workspace as manifests, which `headgate apply -f` takes.

    Exit codes: 0 printed; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    _print(client.get(path("export")), form)


def _print(answer: dict[str, list[dict[str, dict[str, str]]]], form: str) -> None:
    manifests = answer["manifests"]
    if form == "json":
        output.echo_json(answer)
    elif form == "yaml":
        output.echo_yaml(manifests)
    elif form == "name":
        output.echo_lines(f"{one['kind']}/{one['metadata']['name']}" for one in manifests)
    else:
        counts = Counter(str(one["kind"]) for one in manifests)
        lines = [["KIND", "OBJECTS"], *([kind, str(count)] for kind, count in counts.items())]
        output.echo_lines(tables.aligned(lines))
