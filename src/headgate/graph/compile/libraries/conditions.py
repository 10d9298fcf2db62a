"""runtime.newCondition and runtime.condition: conditions that an author computes for the status of an instance."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headgate import cel
from headgate.cel.core import values

KEYS = ("type", "status", "reason", "message")
STATUSES = ("True", "False", "Unknown")


class Runtime:
    """What the word `runtime` stands for; it has methods and no fields."""

    __slots__ = ()


RUNTIME = Runtime()


def new_condition(receiver: object, fields: Mapping[str, Any]) -> dict[str, str]:
    _check_receiver(receiver)
    for key, value in fields.items():
        if key not in KEYS:
            raise ValueError(f"unknown key {key!r}; allowed are {', '.join(KEYS)}")
        if not isinstance(value, str):
            raise ValueError(f"{key} must be a string, not {values.kind(value)}")
    for key in ("type", "status"):
        if not fields.get(key):
            raise ValueError(f"{key} is required and must not be empty")
    if fields["status"] not in STATUSES:
        raise ValueError(f"status is {fields['status']!r}; allowed are {', '.join(STATUSES)}")
    return {key: fields.get(key, "") for key in KEYS}


def condition(receiver: object, holder: Any, wanted: str) -> dict[str, str]:
    """The condition of that type in the status of an object; one with empty fields if there is none."""
    _check_receiver(receiver)
    try:
        status = holder["status"] if isinstance(holder, Mapping) else holder.__cel_field__("status")
        status_conditions = status.get("conditions", [])
    except (KeyError, AttributeError):
        status_conditions = []
    for each in status_conditions:
        if each.get("type") == wanted:
            return {key: str(each.get(key, "")) for key in KEYS}
    return dict.fromkeys(KEYS, "")


def _check_receiver(receiver: object) -> None:
    if not isinstance(receiver, Runtime):
        raise ValueError("it is a method of runtime only")


def as_document(value: object) -> dict[str, str]:
    if isinstance(value, Mapping) and value.get("type") and value.get("status") in STATUSES:
        return {key: str(value.get(key, "")) for key in KEYS}
    raise cel.EvaluationError(
        "the entry gives no condition; write it as runtime.newCondition({type: ..., status: ...})"
    )


_CALL = re.compile(r"\bnewCondition\s*\(\s*\{")
_BARE_KEY = re.compile(r"[{,]\s*(" + "|".join(KEYS) + r")\s*:")


def with_quoted_keys(text: str) -> str:
    """The keys of newCondition are written bare, {type: 'Ready'}; the language wants them as strings."""
    if not _CALL.search(text):
        return text
    literals = [
        (match.start(), match.end()) for match in re.finditer(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", text)
    ]

    def quoted(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in literals):
            return match.group(0)
        return match.group(0).replace(match.group(1), f'"{match.group(1)}"', 1)

    return _BARE_KEY.sub(quoted, text)


FUNCTIONS = (
    cel.Function(
        "newCondition", (cel.DYN, cel.map_of(cel.STRING, cel.DYN)), cel.DYN, new_condition, member=True
    ),
    cel.Function("condition", (cel.DYN, cel.DYN, cel.STRING), cel.DYN, condition, member=True),
)
