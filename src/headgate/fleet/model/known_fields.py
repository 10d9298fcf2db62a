"""The fields that expressions may read of the objects of a fleet: a name that no object has is malformed.

What people write themselves stays open: the keys of `metadata`, and whatever is inside `config` and `variables`.
"""

from __future__ import annotations

import difflib
import re

from headgate import cel

FIELDS: dict[str, tuple[str, ...]] = {
    "resource": (
        "config", "createdAt", "id", "identifier", "kind", "metadata", "name", "variables", "version",
    ),
    "environment": ("createdAt", "id", "metadata", "name", "systems"),
    "deployment": ("createdAt", "id", "jobAgent", "jobAgentConfig", "metadata", "name", "systems"),
    "version": (
        "config", "createdAt", "deployment", "id", "message", "metadata", "name", "status", "tag",
    ),
    "jobAgent": ("config", "id", "metadata", "name", "type"),
}  # fmt: skip
"""By variable; what the objects show of themselves, which a test compares."""


def problems(program: cel.Program) -> list[cel.SyntaxProblem]:
    """Every field that is read of an object and that it never has, where it stands in the text."""
    unknown = {
        (path[0], path[1])
        for path in program.paths
        if len(path) > 1 and path[0] in FIELDS and path[1] not in FIELDS[path[0]]
    }
    return [_problem(program.text, *one) for one in sorted(unknown)]


def _problem(text: str, variable: str, field: str) -> cel.SyntaxProblem:
    close = difflib.get_close_matches(field, FIELDS[variable], n=1)
    hint = f"did you mean {close[0]}?" if close else f"allowed are {', '.join(FIELDS[variable])}"
    use = re.search(rf"\b{variable}\b\s*(?:\.\s*\??\s*|\[\s*\??\s*['\"])({re.escape(field)})\b", text)
    at = use.start(1) if use is not None else 0
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return cel.SyntaxProblem(f"{variable} has no field {field}; {hint}", line, column)
