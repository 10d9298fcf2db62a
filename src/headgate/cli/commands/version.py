import importlib.metadata

import click


@click.command("version")
def command() -> None:
    """Prints the version."""
    click.echo(f"headgate {importlib.metadata.version('headgate')}")
