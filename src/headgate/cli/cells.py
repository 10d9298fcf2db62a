"""What stands in a cell of a table: a field of a document in the words a person reads."""

import json
from collections.abc import Callable
from typing import Any

from headgate.cli import pairs
from headgate.cli.columns import Row, ShownColumn
from headgate.kernel import instants
from headgate.screens import words
from headgate.screens.words import NOTHING


def field(name: str) -> Callable[[Row], str]:
    """`name` may lead into inner documents: `job.status`."""
    return lambda row: text_of(inner(row, name))


def inner(row: Row, name: str) -> Any:
    value: Any = row
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def text_of(value: Any) -> str:
    if value is None or value in ("", {}, []):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(text_of(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key}={_short(item)}" for key, item in value.items())
    return str(value)


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def ago(moment: Any) -> str:
    """`3m ago` or `in 2h`: two units at most, because nobody reads more."""
    if not isinstance(moment, str):
        return NOTHING
    try:
        seconds = (pairs.now() - instants.parse(moment)) // instants.MICROSECONDS_PER_SECOND
    except ValueError:
        return moment
    if abs(seconds) < 1:
        return "now"
    return f"in {words.length(-seconds)}" if seconds < 0 else f"{words.length(seconds)} ago"


def column(title: str, name: str, *, wide: bool = False) -> ShownColumn:
    return ShownColumn(title, field(name), wide)


def state(title: str, name: str, *, wide: bool = False) -> ShownColumn:
    return ShownColumn(title, field(name), wide, is_state=True)


def time(title: str, name: str, *, wide: bool = False) -> ShownColumn:
    """Relative in a table, absolute in a wide one."""
    return ShownColumn(title, lambda row: ago(inner(row, name)), wide, wide_text=field(name))
