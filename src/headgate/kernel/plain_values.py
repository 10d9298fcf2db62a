"""Values without structure, as documents write them: text, numbers, choices, moments, JSON; and the words that refuse them.

Every reader takes a value, its path and the problems so far.
"""

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from headgate.kernel import instants
from headgate.kernel.problems import Problem

Reader = Callable[[Any, str, list[Problem]], object]
"""Takes a value, its path and the problems so far. What it returns counts if it added none."""

DEEPEST_NESTING = 64
MOST_PROBLEMS = 1_000
"""Nobody reads more; a document can have millions, and each takes time and memory."""
_INT64 = 2**63


class _Invalid:
    def __repr__(self) -> str:
        return "INVALID"


INVALID = _Invalid()
"""Stands for a value whose problems have been reported."""


def field_path(path: str, key: str) -> str:
    if not key.replace("-", "_").isidentifier():
        return f"{path}[{key!r}]"
    return f"{path}.{key}" if path else key


def item_path(path: str, index: int) -> str:
    return f"{path}[{index}]"


def are_equal(value: Any, other: Any) -> bool:
    """In JSON, true is not 1, although Python says so; 1 and 1.0 are one number."""
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(are_equal(value[key], other[key]) for key in value)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(are_equal, value, other))
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _read_json(value: object, path: str, problems: list[Problem]) -> object:
    check_json(value, path, problems)
    return value


def _read_bool(value: object, path: str, problems: list[Problem]) -> object:
    if isinstance(value, bool):
        return value
    return refuse(problems, path, f"must be true or false, not {describe(value)}")


def read_text(value: object, path: str, problems: list[Problem]) -> object:
    if not isinstance(value, str):
        hint = "; write it in quotes" if isinstance(value, bool | int | float) else ""
        return refuse(problems, path, f"must be a string, not {describe(value)}{hint}")
    problem = text_problem(value)
    return refuse(problems, path, problem) if problem else value


def text_problem(text: str) -> str | None:
    """Text that cannot be stored everywhere: databases refuse NUL, UTF-8 refuses lone surrogates."""
    if "\x00" in text:
        return "must not contain the character NUL"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return "must be valid Unicode text; it contains half of a surrogate pair"
    return None


def _read_whole_number(value: object, path: str, problems: list[Problem]) -> object:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return refuse(problems, path, f"must be a whole number, not {describe(value)}")
    if not -_INT64 <= value < _INT64:
        return refuse(problems, path, "is too large; allowed are 64-bit integers")
    return value


def _read_number(value: object, path: str, problems: list[Problem]) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return refuse(problems, path, f"must be a number, not {describe(value)}")
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        return refuse(problems, path, "is too large; allowed are 64-bit integers")
    if not math.isfinite(value):
        return refuse(problems, path, f"must be a finite number, not {value}")
    return float(value)


PLAIN_READERS: dict[Any, Reader] = {
    object: _read_json,
    Any: _read_json,
    str: read_text,
    bool: _read_bool,
    int: _read_whole_number,
    float: _read_number,
}


def read_instant(value: object, path: str, problems: list[Problem]) -> object:
    if not isinstance(value, str):
        return refuse(problems, path, f"must be a time such as 2026-03-01T09:00:00Z, not {describe(value)}")
    try:
        return instants.parse(value)
    except ValueError as error:
        return refuse(problems, path, str(error))


def check_bounds(bounds: msgspec.Meta, value: Any, path: str, problems: list[Problem]) -> None:
    if bounds.ge is not None and value < bounds.ge:
        refuse(problems, path, f"must be at least {bounds.ge}, not {value}")
    if bounds.gt is not None and value <= bounds.gt:
        refuse(problems, path, f"must be more than {bounds.gt}, not {value}")
    if bounds.le is not None and value > bounds.le:
        refuse(problems, path, f"must be at most {bounds.le}, not {value}")
    if bounds.min_length is not None and len(value) < bounds.min_length:
        at_least = "must not be empty" if bounds.min_length == 1 else f"needs at least {bounds.min_length}"
        refuse(problems, path, at_least)
    if bounds.max_length is not None and len(value) > bounds.max_length:
        refuse(problems, path, f"is too long: {len(value)}, allowed are {bounds.max_length}")


def read_choice(choices: Sequence[Any], value: object, path: str, problems: list[Problem]) -> object:
    if isinstance(value, str) and value in choices:
        return value
    return refuse(
        problems, path, f"is {describe(value)}; allowed are {listed(choices)}{suggest(value, choices)}"
    )


def is_plain(value: object) -> bool:
    """Text with nothing in it that would have to be looked at closer."""
    return type(value) is str and value.isascii() and "\x00" not in value


def check_json(value: object, path: str, problems: list[Problem], depth: int = 0) -> None:
    """Any JSON value, within what every store and every reader can hold."""
    if len(problems) >= MOST_PROBLEMS:
        return
    if depth > DEEPEST_NESTING:
        refuse(problems, path, f"is nested more than {DEEPEST_NESTING} levels deep")
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                refuse(problems, path, f"has the key {key!r}; keys are strings, write it in quotes")
            elif problem := text_problem(key):
                refuse(problems, path, f"has a key that {problem}")
            else:
                check_json(item, field_path(path, key), problems, depth + 1)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            check_json(item, item_path(path, index), problems, depth + 1)
    elif isinstance(value, str):
        read_text(value, path, problems)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _read_number(value, path, problems)
    elif value is not None and not isinstance(value, bool):
        refuse(problems, path, f"must be a JSON value, not {describe(value)}")


def describe(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {str(value)[:40]}"
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:57]}..."'
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, list | tuple):
        return "a list"
    return f"a {type(value).__name__}"


def listed(choices: Sequence[str] | Mapping[str, object]) -> str:
    return ", ".join(choices)


def suggest(value: object, choices: Sequence[str]) -> str:
    if not isinstance(value, str):
        return ""
    by_lower_case = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(value.lower()[:80], by_lower_case, n=1, cutoff=0.7)
    return f"; did you mean {by_lower_case[close[0]]}?" if close else ""


def refuse(problems: list[Problem], path: str, message: str) -> _Invalid:
    problems.append(Problem(path, message))
    return INVALID
