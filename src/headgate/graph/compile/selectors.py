"""Label selectors of external references, as they are written: their shape, before expressions in them are known."""

from __future__ import annotations

from typing import Any

from headgate.cel.interpolation import OPENING
from headgate.graph.compile.checking import Checker
from headgate.kernel.documents import describe, item_path

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def check(selector: dict[str, Any] | None, path: str, label: str, checker: Checker) -> None:
    """An empty selector finds everything."""
    for key, value in (selector or {}).items():
        where = f"{path}.{key}"
        if key == "matchLabels":
            if not isinstance(value, dict) and not _is_expression(value):
                checker.refuse(where, f"{label}: must be a map of labels, not {describe(value)}")
        elif key != "matchExpressions":
            checker.refuse(where, f"{label}: is not a known key; allowed are matchLabels, matchExpressions")
        elif not isinstance(value, list):
            if not _is_expression(value):
                checker.refuse(where, f"{label}: must be a list, not {describe(value)}")
        else:
            for index, item in enumerate(value):
                _check_requirement(item, item_path(where, index), label, checker)


def _check_requirement(item: object, path: str, label: str, checker: Checker) -> None:
    if not isinstance(item, dict):
        checker.refuse(path, f"{label}: must be a map with key, operator and values, not {describe(item)}")
        return
    if not item.get("key"):
        checker.refuse(f"{path}.key", f"{label}: is required")
    operator = item.get("operator")
    if operator not in _OPERATORS and not _is_expression(operator):
        checker.refuse(
            f"{path}.operator", f"{label}: is {describe(operator)}; allowed are {', '.join(_OPERATORS)}"
        )
    if operator in ("In", "NotIn") and not item.get("values"):
        checker.refuse(f"{path}.values", f"{label}: needs at least one value for {operator}")
    if operator in ("Exists", "DoesNotExist") and item.get("values"):
        checker.refuse(f"{path}.values", f"{label}: must be empty for {operator}")


def _is_expression(value: object) -> bool:
    return isinstance(value, str) and OPENING in value
