"""Text with `${...}` in it, taken apart: what is an expression and what is literal."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

OPENING = "${"


class InterpolatedPart(msgspec.Struct, frozen=True):
    """A piece of a text: literal, or the expression between `${` and `}` and where it starts in the text."""

    text: str
    is_expression: bool
    position: int


class InterpolationError(ValueError):
    """The text cannot be taken apart; `position` is where in it."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


_NESTED = (
    "an expression holds another ${; that is allowed in its string literals only, where it is plain text"
)
_SIGNIFICANT = re.compile("[\"'{}]")
_DEEPEST = 1_000
MOST_UNCLOSED = 20
"""Of expressions and of string literals: for each of them the text is read to its end."""


def parts_of(text: str) -> tuple[InterpolatedPart, ...]:
    """The text in pieces. A `${` that is never closed is plain text, as in a shell script that holds one.

    Short ones are remembered: that of a deployment is taken apart for each of its jobs.
    """
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _taken_apart(text)


def _taken_apart(text: str) -> tuple[InterpolatedPart, ...]:
    parts: list[InterpolatedPart] = []
    literal_from = search_from = unclosed = 0
    while (start := text.find(OPENING, search_from)) >= 0:
        end = _closing(text, start + len(OPENING))
        if end is None:
            search_from = start + len(OPENING)
            unclosed += 1
            if unclosed > MOST_UNCLOSED:
                raise InterpolationError(f"has more than {MOST_UNCLOSED} ${{ that are never closed", start)
            continue
        if start > literal_from:
            parts.append(InterpolatedPart(text[literal_from:start], False, literal_from))
        parts.append(InterpolatedPart(text[start + len(OPENING) : end], True, start + len(OPENING)))
        literal_from = search_from = end + 1
    if literal_from < len(text):
        parts.append(InterpolatedPart(text[literal_from:], False, literal_from))
    return tuple(parts)


_LONGEST_REMEMBERED = 4_000
_remembered = lru_cache(maxsize=1_000)(_taken_apart)


def _closing(text: str, start: int) -> int | None:
    """None where it is not closed, or where more is open than an expression may nest."""
    depth, place, open_literals = 1, start, 0
    nested: int | None = None
    while (
        depth <= _DEEPEST
        and open_literals <= MOST_UNCLOSED
        and (mark := _SIGNIFICANT.search(text, place)) is not None
    ):
        place = mark.start()
        character = text[place]
        if character in "\"'":
            after = _after_literal(text, place)
            open_literals += after == place + 1
            place = after
            continue
        if character == "{":
            if text[place - 1] == "$" and nested is None:
                nested = place - 1
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                if nested is not None:
                    raise InterpolationError(_NESTED, nested)
                return place
        place += 1
    return None


def _after_literal(text: str, start: int) -> int:
    """The place behind a string literal; behind its quote if it is never closed."""
    quote = text[start]
    fence = quote * 3 if text.startswith(quote * 3, start) else quote
    raw = text[start - 1 : start] in ("r", "R") and not text[max(0, start - 2) : start - 1].isalnum()
    place = start + len(fence)
    while place < len(text):
        if text[place] == "\\" and not raw:
            place += 2
        elif text.startswith(fence, place):
            return place + len(fence)
        else:
            place += 1
    return start + 1


def single_expression(text: str) -> InterpolatedPart:
    """The one expression of a condition, with or without `${}` around it; raises ValueError."""
    stripped = text.strip()
    offset = text.index(stripped) if stripped else 0
    parts = parts_of(stripped)
    expressions = [part for part in parts if part.is_expression]
    if not expressions:
        return InterpolatedPart(stripped, True, offset)
    if len(parts) > 1:
        raise ValueError("only one expression is allowed here, with nothing before or after it")
    return InterpolatedPart(parts[0].text, True, parts[0].position + offset)
