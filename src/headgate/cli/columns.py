"""Tables of documents: what each column shows of a row, in a narrow table and in a wide one."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from headgate.cli import terminal
from headgate.screens import tables

Row = dict[str, Any]


class ShownColumn(msgspec.Struct, frozen=True):
    title: str
    text: Callable[[Row], str]
    is_wide: bool = False
    """Shown in wide tables only."""
    wide_text: Callable[[Row], str] | None = None
    """What wide tables show instead."""
    is_state: bool = False
    """Coloured by its word on a terminal."""


def render(
    columns: Sequence[ShownColumn], rows: Sequence[Row], *, wide: bool = False, header: bool = True
) -> list[str]:
    columns_shown = [column for column in columns if wide or not column.is_wide]
    texts = [column.wide_text if wide and column.wide_text else column.text for column in columns_shown]
    cells = [[tables.printable(text(row)) for text in texts] for row in rows]
    lines = [[column.title for column in columns_shown], *cells] if header else cells
    states = {index for index, column in enumerate(columns_shown) if column.is_state}
    cut_to = None if wide else terminal.width()
    return tables.aligned(lines, cut_to=cut_to, states=states, paint=terminal.of_state)
