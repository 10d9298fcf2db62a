"""Literals that can never work: a pattern, timestamp, duration or time zone written wrong is refused before it is stored."""

from __future__ import annotations

from collections.abc import Callable

from headgate.cel import syntax
from headgate.cel.core.errors import EvaluationError
from headgate.cel.decode import RefusalError
from headgate.cel.library import regex, times
from headgate.cel.syntax import SyntaxNode

_ZONED = "getFullYear getMonth getDate getDayOfMonth getDayOfWeek getDayOfYear getHours getMinutes getSeconds getMilliseconds"

# By function: the place of the argument and what it must pass.
_CHECKS: dict[str, tuple[int, Callable[[str], object]]] = {
    "timestamp": (0, times.parsed_timestamp),
    "duration": (0, times.parsed_duration),
    "matches": (1, regex.compiled),
    "regex.replace": (1, regex.compiled),
    "regex.extract": (1, regex.compiled),
    "regex.extractAll": (1, regex.compiled),
    **dict.fromkeys(_ZONED.split(), (1, times.zone)),
}


def refuse_malformed(root: SyntaxNode) -> None:
    for node in syntax.walk(root):
        if not isinstance(node, syntax.Call) or node.function not in _CHECKS:
            continue
        place, check = _CHECKS[node.function]
        argument = node.arguments[place] if place < len(node.arguments) else None
        if isinstance(argument, syntax.Constant) and isinstance(argument.value, str):
            try:
                check(argument.value)
            except EvaluationError as error:
                raise RefusalError(error.message, argument.position) from None
