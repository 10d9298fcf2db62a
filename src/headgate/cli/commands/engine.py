from typing import Any

import click

from headgate.cli.commands.up import health_options, process_options, start


@click.command("engine")
@process_options
@health_options
def command(log_level: str, **given: Any) -> None:
    """Runs an engine worker alone. Of several, one decides for each workspace; another takes over if it falls silent."""
    from headgate.cli import serving

    start(serving.Options(serves=False, runs_agents=False, **given), log_level)
