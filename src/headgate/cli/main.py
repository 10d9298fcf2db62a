"""The `headgate` command. Commands are imported when they are called: it has to start fast."""

import importlib
import os
import sys
from typing import NoReturn

import click

OK = 0
FAILED = 1
UNREADABLE = 2
PROMISE_BROKEN = 3

_COMMANDS = {
    "simulate": ("headgate.cli.simulate", "Plays a scenario in virtual time and shows what happens."),
    "test": ("headgate.cli.test", "Runs scenario files with their expectations."),
    "validate": ("headgate.cli.validate", "Checks manifests and scenarios without applying them."),
    "cel": ("headgate.cli.cel", "Checks a CEL expression; shows its value, type, reads and cost."),
    "version": ("headgate.cli.version", "Prints the version."),
}


class LazyGroup(click.Group):
    """Knows the names and one line of help of its commands without importing them."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_COMMANDS[name][0]).command
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 all is well; 1 a test or a check failed; 2 the input cannot be read; "
    "3 a promise was broken.",
)
def headgate() -> None:
    """Decides when each piece of production may change, and says why it has not changed yet."""


def main() -> NoReturn:
    """Never a traceback: what a person cannot act on is said in one line (HEADGATE_DEBUG=1 shows all)."""
    if os.environ.get("HEADGATE_DEBUG") == "1":
        headgate(prog_name="headgate")
        raise SystemExit(OK)
    try:
        headgate(prog_name="headgate")
    except Exception as error:
        click.echo(f"headgate: internal error: {type(error).__name__}: {error}", err=True)
        click.echo("Set HEADGATE_DEBUG=1 to see where it comes from.", err=True)
        raise SystemExit(UNREADABLE) from None
    raise SystemExit(OK)


def refuse(problems: object, *, code: int = UNREADABLE) -> NoReturn:
    """Says every problem on stderr and ends the command."""
    items = problems if isinstance(problems, list | tuple) else [problems]
    for problem in items:
        click.echo(str(problem), err=True)
    raise SystemExit(code)


def write_output(text: str, file: str | None) -> None:
    if file is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        with open(file, "w", encoding="utf-8", newline="\n") as output:
            output.write(text)
    except OSError as error:
        refuse(f"{file}: cannot be written: {error.strerror or error}")
