"""JSON merge patch (RFC 7396)."""

from __future__ import annotations

from typing import Any

from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected


def check_patch(patch: Any) -> None:
    """Anything but a map would replace the whole object."""
    if not isinstance(patch, dict):
        raise Rejected([Problem("", f"must be a map, not {documents.describe(patch)}")])
    problems: list[Problem] = []
    documents.check_json(patch, "", problems)
    if problems:
        raise Rejected(problems)


def merged(value: Any, patch: Any) -> Any:
    """The nesting of a patch is bounded by `check_patch`."""
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for key, item in patch.items():
        if item is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), item)
    return result
