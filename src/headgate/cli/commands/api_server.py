from pathlib import Path
from typing import Any

import click

from headgate.cli.commands.up import api_options, process_options, read_oidc, start


@click.command("api")
@process_options
@api_options
def command(log_level: str, oidc_file: Path | None, **given: Any) -> None:
    """Runs an API server alone. Any number may share one PostgreSQL; an engine must run beside them."""
    from headgate.cli import serving

    options = serving.Options(**read_oidc(oidc_file), decides=False, runs_agents=False, **given)
    start(options, log_level)
