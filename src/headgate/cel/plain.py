"""Values of expressions as JSON, for documents made by templates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta

from headgate.cel.core import values
from headgate.cel.core.errors import EvaluationError
from headgate.cel.library import times


class Omitted:
    """What stands for a field that is left out of its document."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "omit()"


OMITTED = Omitted()


def plain(value: object) -> object:
    """A value of an expression as JSON, copied so that no two documents share a part."""
    kind = values.kind(value)
    match kind:
        case "null_type" | "bool" | "string":
            return value
        case "double":
            return _finite(value)  # type: ignore[arg-type]
        case "int" | "uint":
            return _whole_number(int(value))  # type: ignore[call-overload]
        case "list":
            made = [plain(item) for item in value]  # type: ignore[attr-defined]
            return [item for item in made if item is not OMITTED]
        case "map":
            return _plain_map(value)  # type: ignore[arg-type]
        case "optional_type":
            return plain(value.content) if value.present else OMITTED  # type: ignore[attr-defined]
        case "bytes":
            raise EvaluationError("gives bytes; encode them, for example with base64.encode(...)")
    if isinstance(value, datetime):
        return times.timestamp_text(value)
    if isinstance(value, timedelta):
        return times.duration_text(value)
    if value is OMITTED:
        return value
    as_document = getattr(value, "as_document", None)
    if as_document is not None:
        return plain(as_document())
    raise EvaluationError(f"gives a value of type {kind}, which has no place in a document")


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise EvaluationError(f"gives {value}, which has no place in a document")
    return value


def _whole_number(value: int) -> int:
    if value > values.INT_MAXIMUM:
        raise EvaluationError(f"gives {value}, which is more than a 64-bit integer")
    return value


def _plain_map(value: Mapping[object, object]) -> dict[str, object]:
    made: dict[str, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise EvaluationError(f"gives a map with the key {key!r}; keys of a document are strings")
        content = plain(item)
        if content is not OMITTED:
            made[key] = content
    return made
