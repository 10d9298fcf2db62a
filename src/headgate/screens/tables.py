"""Aligned lines for a terminal or a pipe. What comes from a server cannot steer the terminal."""

import unicodedata
from collections.abc import Callable, Collection, Sequence
from typing import Any

GAP = "  "
LEAST_LAST_COLUMN = 20


def aligned(
    lines: Sequence[Sequence[str]],
    *,
    cut_to: int | None = None,
    states: Collection[int] = (),
    paint: Callable[[str], str] = str,
) -> list[str]:
    """The last column is cut on a terminal, where a long line would break the table for the eye. Columns of states are
    painted, after they were measured: a colour has no width."""
    if not lines:
        return []
    widths = [max(width_of(cell) for cell in column) for column in zip(*lines)]
    before_last = sum(widths[:-1]) + len(GAP) * (len(widths) - 1)
    room = None if cut_to is None else max(cut_to - before_last, LEAST_LAST_COLUMN)
    rows = []
    for line in lines:
        last = line[-1] if room is None else cut(line[-1], room)
        padding = [" " * (width - width_of(cell)) for cell, width in zip(line[:-1], widths)]
        cells = [paint(cell) if index in states else cell for index, cell in enumerate([*line[:-1], last])]
        rows.append(GAP.join(cell + pad for cell, pad in zip(cells, [*padding, ""])).rstrip())
    return rows


def printable(text: str) -> str:
    """On one line, and without characters that move the cursor or turn the reading direction."""
    return "".join(_rendered(character) for character in text)


def printable_document(document: Any) -> Any:
    """Every text in it, as a terminal may be given it."""
    match document:
        case str():
            return printable(document)
        case list():
            return [printable_document(one) for one in document]
        case dict():
            return {key: printable_document(value) for key, value in document.items()}
    return document


def _rendered(character: str) -> str:
    if character in "\n\t":
        return " "
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return character.encode("unicode_escape", "backslashreplace").decode("ascii")
    return character


def width_of(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def cut(text: str, room: int) -> str:
    if width_of(text) <= room:
        return text
    kept = ""
    for character in text:
        if width_of(kept) + _width(character) > room - 1:
            break
        kept += character
    return kept.rstrip() + "…"
