"""Regular expressions, by RE2: the time of a match grows with the text only, whatever the pattern."""

from __future__ import annotations

import functools
import re
from typing import Any

import re2

from headgate.cel.core import arithmetic, values
from headgate.cel.core.errors import EvaluationError
from headgate.cel.core.meter import Meter
from headgate.cel.core.values import Optional
from headgate.cel.library import checks
from headgate.cel.library.registry import Library

library = Library()

PATTERN_LIMIT = 2_000
MATCH_STEPS = 20
"""What it costs at least to look for a match: it leaves Python and comes back."""
FOUND_STEPS = 60
"""What it costs to take up one of many matches."""


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    return options


@functools.lru_cache(maxsize=256)
def compiled(pattern: str) -> Any:
    if len(pattern) > PATTERN_LIMIT:
        raise EvaluationError(
            f"the regular expression has {len(pattern)} characters; {PATTERN_LIMIT} are allowed"
        )
    try:
        return re2.compile(pattern, _options())
    except (re2.error, UnicodeError) as error:
        reason = error.args[0] if error.args else "not understood"
        cause = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise EvaluationError(f"regular expression {values.render_key(pattern)}: {cause}") from None


def _compiled(meter: Meter, pattern: str) -> Any:
    meter.charge(MATCH_STEPS + len(pattern))
    return compiled(pattern)


@library.metered("matches", 2)
def _matches(meter: Meter, value: object, pattern: object) -> bool:
    text, expression = checks.text("matches", value), checks.text("matches", pattern)
    meter.charge(len(text) // 4)
    return _compiled(meter, expression).search(text) is not None


_REFERENCE = re.compile(r"\\(.?)", re.DOTALL)


@library.metered("regex.replace", 3, 4)
def _replace(meter: Meter, value: object, pattern: object, by: object, limit: object = -1) -> str:
    text, expression, rewrite = (checks.text("regex.replace", each) for each in (value, pattern, by))
    most = checks.integer("regex.replace", limit)
    meter.charge(len(text) // 4)
    program = _compiled(meter, expression)
    parts = _rewrite_parts(rewrite, program.groups)
    pieces: list[str] = []
    end = 0
    for count, match in enumerate(program.finditer(text)):
        if 0 <= most <= count:
            break
        meter.charge(FOUND_STEPS)
        replacement = "".join(match.group(part) or "" if isinstance(part, int) else part for part in parts)
        arithmetic.produced_text(meter, len(replacement))
        pieces += (text[end : match.start()], replacement)
        end = match.end()
    arithmetic.produced_text(meter, len(text))
    return "".join(pieces) + text[end:]


def _rewrite_parts(rewrite: str, groups: int) -> list[str | int]:
    """The text of a rewrite and its references to groups, which are written \\1; a backslash is written twice."""
    parts: list[str | int] = []
    end = 0
    for reference in _REFERENCE.finditer(rewrite):
        parts.append(rewrite[end : reference.start()])
        end = reference.end()
        character = reference.group(1)
        if character == "\\":
            parts.append("\\")
        elif character.isascii() and character.isdigit() and int(character) <= groups:
            parts.append(int(character))
        else:
            raise EvaluationError(
                f"regex.replace: \\{character} refers to no group; the pattern has {groups}"
            )
    parts.append(rewrite[end:])
    return parts


def _captured(match: Any, groups: int) -> str | None:
    captured: str | None = match.group(1 if groups else 0)
    return captured


def _single_group(function: str, pattern: Any) -> int:
    groups: int = pattern.groups
    if groups > 1:
        raise EvaluationError(f"{function}: the pattern has {groups} groups; one or none is allowed")
    return groups


@library.metered("regex.extract", 2)
def _extract(meter: Meter, value: object, pattern: object) -> Optional:
    text, expression = checks.text("regex.extract", value), checks.text("regex.extract", pattern)
    meter.charge(len(text) // 4)
    program = _compiled(meter, expression)
    groups = _single_group("regex.extract", program)
    match = program.search(text)
    captured = None if match is None else _captured(match, groups)
    return values.NONE if captured is None else Optional(captured)


@library.metered("regex.extractAll", 2)
def _extract_all(meter: Meter, value: object, pattern: object) -> list[object]:
    text, expression = checks.text("regex.extractAll", value), checks.text("regex.extractAll", pattern)
    meter.charge(len(text) // 4)
    program = _compiled(meter, expression)
    groups = _single_group("regex.extractAll", program)
    extracted: list[object] = []
    for match in program.finditer(text):
        meter.charge(FOUND_STEPS)
        captured = _captured(match, groups)
        if captured is not None:
            arithmetic.produced_text(meter, len(captured))
            extracted.append(captured)
    return extracted
