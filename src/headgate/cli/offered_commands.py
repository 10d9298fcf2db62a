"""Commands that people are offered, as they can be pasted: they go where the command went that offers them.

What was given on the command line is said again, but for the token, which is nobody else's to read; what comes from the
environment or a stored context is there for the next command too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from headgate.cli import server_options
from headgate.kernel import command_lines


def offered(action: str, *names: str, options: Sequence[str] = ()) -> str:
    """To be put into a sentence, between backticks."""
    return going_there(command_lines.command_line(action, *names, options=options))


def going_there(command: str) -> str:
    """Also one that the server offers."""
    return command_lines.with_options(command, _given())


def with_actions(document: Any) -> Any:
    """An explanation whose actions go there."""
    match document:
        case {"command": str(command)}:
            return {**document, "command": going_there(command)}
        case list():
            return [with_actions(one) for one in document]
        case dict():
            return {
                key: with_actions(value) if key in ("actions", "reasons") else value
                for key, value in document.items()
            }
    return document


def _given() -> list[str]:
    context = click.get_current_context(silent=True)
    if context is None:
        return []
    values = {**server_options.given(context), "token": None}
    return [word for name, value in values.items() if value for word in (f"--{name}", value)]
