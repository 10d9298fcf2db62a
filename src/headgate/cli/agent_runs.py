"""A pull agent in the foreground: it says what it runs, and ends in order when it is asked to."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from headgate.agents.agent_api_client import RefusedByServerError
from headgate.agents.exec import ExecAgent, ExecConfig
from headgate.agents.port import Assignment, JobProgress
from headgate.agents.pull import PullAgent
from headgate.cli import contexts, exit_codes, failures
from headgate.kernel import documents

_FIELDS = frozenset(field.encode_name for field in msgspec.structs.fields(ExecConfig))
_OF_THE_COMMAND = frozenset({"command", "env", "workingDirectory"})


class PulledCommands(ExecAgent):
    """Runs one command for every job, or each job's own."""

    def __init__(self, folder: Path, command_line: Sequence[str]) -> None:
        super().__init__(folder)
        self._command_line = list(command_line)

    def config_of(self, assignment: Assignment) -> ExecConfig:
        """Other fields are for the command to read. Beside a command of this machine, the server says nothing of how it
        runs: its environment alone could make another one of it."""
        config = {key: value for key, value in assignment.document.config.items() if key in _FIELDS}
        if self._command_line:
            config = {key: value for key, value in config.items() if key not in _OF_THE_COMMAND}
            config["command"] = self._command_line
        return documents.read(ExecConfig, config, "config")


def run(
    connection: contexts.Connection,
    name: str,
    *,
    concurrency: int,
    holder: str,
    folder: Path,
    drain_seconds: float,
    command_line: Sequence[str],
) -> None:
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise failures.misused(f"--folder: {folder} cannot be made: {error.strerror or error}") from None
    click.echo(f"takes jobs of {name} from {connection.url}", err=True)
    try:
        asyncio.run(
            _run(connection, name, concurrency, holder, PulledCommands(folder, command_line), drain_seconds)
        )
    except RefusedByServerError as error:
        code = exit_codes.NOT_ALLOWED if error.status in (401, 403) else exit_codes.FAILED
        raise failures.CommandFailure(f"{connection.url}: {error}", code) from None


async def _run(
    connection: contexts.Connection,
    name: str,
    concurrency: int,
    holder: str,
    handler: ExecAgent,
    drain_seconds: float,
) -> None:
    agent = PullAgent(
        connection.url,
        connection.token or "",
        name,
        handler,
        concurrency,
        workspace=connection.workspace,
        holder=holder,
        noticed=_say,
    )
    asked_to_end = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_number, asked_to_end.set)
    working = asyncio.create_task(agent.run())
    asked = asyncio.create_task(asked_to_end.wait())
    try:
        await asyncio.wait((working, asked), return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            click.echo(f"takes no more jobs; those that run have {drain_seconds:g}s to end", err=True)
    finally:
        asked.cancel()
        await agent.close(drain_seconds)
        await asyncio.gather(working, asked, return_exceptions=True)
    if not asked_to_end.is_set():
        working.result()


def _say(job: str, progress: JobProgress) -> None:
    last = (progress.message or "").strip().rpartition("\n")[2]
    click.echo(f"{job}  {progress.status}" + (f"  {last}" if last else ""))
