"""What must be known of a source text before it is parsed: where its words stand, and whether it may be parsed at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

LENGTH_LIMIT = 20_000
EXPANSION_LIMIT = 200_000

# Each word is replaced by a text of its own length, so that every position stays true to what the author wrote.
BOOLEAN_WORDS = {"AND": "&& ", "OR": "||", "NOT": "!  "}

_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<comment>//[^\n]*)
    | (?P<string>[bB]?[rR](?:'{3}.*?'{3}|"{3}.*?"{3}|'[^'\n\r]*'|"[^"\n\r]*")
        | (?:[bB])?(?:'{3}(?:\\.|[^\\])*?'{3}|"{3}(?:\\.|[^\\])*?"{3}|'(?:\\.|[^'\\\n\r])*'|"(?:\\.|[^"\\\n\r])*"))
    | (?P<quoted>`[^`\n]*`)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<number>[0-9][A-Za-z0-9_]*)
    | (?P<symbol>.)
    """,
    re.VERBOSE | re.DOTALL,
)


def _tokens(text: str) -> Iterator[re.Match[str]]:
    for match in _TOKEN.finditer(text):
        if match.lastgroup not in ("space", "comment"):
            yield match


def with_operators(text: str) -> str:
    """The text with AND, OR and NOT as operators, of the same length and with all else in its place."""
    if not any(word in text for word in BOOLEAN_WORDS):
        return text
    pieces: list[str] = []
    end = 0
    earlier = before = ""
    for match in _tokens(text):
        word = match.group()
        names_a_field = before == "." or (before == "?" and earlier == ".")
        if match.lastgroup == "word" and word in BOOLEAN_WORDS and not names_a_field:
            pieces += (text[end : match.start()], BOOLEAN_WORDS[word])
            end = match.end()
        earlier, before = before, word
    return "".join(pieces) + text[end:]


def expansion(text: str) -> int:
    """How long the text becomes when its macros are expanded, at the most.

    `target.optMap(...)` and `target.optFlatMap(...)` name their target twice once expanded, so a chain of them
    doubles with every link; nothing else grows by more than a constant factor.
    """
    if "optMap" not in text and "optFlatMap" not in text:
        return len(text)
    # One pair for each open bracket: doublings in the operand being read, and the most in an operand before it.
    levels: list[list[int]] = [[0, 0]]
    most = 0
    for match in _tokens(text):
        token = match.group()
        if token in "([{":
            levels.append([0, 0])
        elif token in ")]}" and len(levels) > 1:
            inner = max(levels.pop())
            levels[-1][0] = max(levels[-1][0], inner)
        elif token in ("optMap", "optFlatMap"):
            levels[-1][0] += 1
            most = max(most, levels[-1][0])
        elif match.lastgroup == "symbol" and token not in ".?":
            levels[-1] = [0, max(levels[-1])]
    return len(text) << min(most, 32)
