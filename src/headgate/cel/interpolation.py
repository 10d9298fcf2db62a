"""Text with `${...}` in it, taken apart: what is an expression and what is literal."""

from __future__ import annotations

import msgspec

OPENING = "${"


class Part(msgspec.Struct, frozen=True):
    """A piece of a text: literal, or the expression between `${` and `}` and where it starts in the text."""

    text: str
    is_expression: bool
    position: int


class NestedExpressionError(ValueError):
    """`${` stands inside an expression, outside its string literals."""

    def __init__(self, position: int) -> None:
        super().__init__(
            "an expression holds another ${; that is allowed in its string literals only, where it is plain text"
        )
        self.position = position


def parts_of(text: str) -> list[Part]:
    """The text in pieces. A `${` that is never closed is plain text, as in a shell script that holds one."""
    found: list[Part] = []
    literal_from = search_from = 0
    while (start := text.find(OPENING, search_from)) >= 0:
        end = _closing(text, start + len(OPENING))
        if end is None:
            search_from = start + len(OPENING)
            continue
        if start > literal_from:
            found.append(Part(text[literal_from:start], False, literal_from))
        found.append(Part(text[start + len(OPENING) : end], True, start + len(OPENING)))
        literal_from = search_from = end + 1
    if literal_from < len(text):
        found.append(Part(text[literal_from:], False, literal_from))
    return found


def _closing(text: str, start: int) -> int | None:
    depth, place = 1, start
    nested: int | None = None
    while place < len(text):
        character = text[place]
        if character in "\"'":
            place = _after_literal(text, place)
            continue
        if character == "{":
            if text[place - 1] == "$" and nested is None:
                nested = place - 1
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                if nested is not None:
                    raise NestedExpressionError(nested)
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


def single_expression(text: str) -> Part:
    """The one expression of a condition, with or without `${}` around it; raises ValueError."""
    stripped = text.strip()
    offset = text.index(stripped) if stripped else 0
    parts = parts_of(stripped)
    expressions = [part for part in parts if part.is_expression]
    if not expressions:
        return Part(stripped, True, offset)
    if len(parts) > 1:
        raise ValueError("only one expression is allowed here, with nothing before or after it")
    return Part(parts[0].text, True, parts[0].position + offset)
