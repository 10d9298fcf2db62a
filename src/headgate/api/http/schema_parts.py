"""Small pieces of JSON Schema, each from one thing that a declaration says."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import NODEFAULT

from headgate.api.http.schema_words import TEXT_PATTERN, JsonSchema
from headgate.kernel import documents

_INT64 = {"minimum": -(2**63), "maximum": 2**63 - 1}
_QUOTED_FIELD = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")
_NULL: JsonSchema = {"type": "null"}

_PLAIN: dict[Any, Callable[[], JsonSchema]] = {
    str: lambda: {"type": "string"},
    bool: lambda: {"type": "boolean"},
    int: lambda: {"type": "integer", "format": "int64"},
    float: lambda: {"type": "number", "format": "double"},
    object: dict,
    Any: dict,
    types.NoneType: lambda: {"type": "null"},
}


def plain(kind: Any, *, is_input: bool) -> JsonSchema:
    if kind not in _PLAIN:
        raise TypeError(f"no schema describes {kind!r}")
    schema = _PLAIN[kind]()
    if is_input and kind is str:
        schema["pattern"] = TEXT_PATTERN
    if is_input and kind is int:
        schema |= _INT64
    return schema


def bounds(meta: msgspec.Meta, type_: Any) -> JsonSchema:
    unit = {"array": "Items", "object": "Properties"}.get(str(type_), "Length")
    named = {
        "minimum": meta.ge,
        "exclusiveMinimum": meta.gt,
        "maximum": meta.le,
        "exclusiveMaximum": meta.lt,
        "multipleOf": meta.multiple_of,
        "pattern": meta.pattern,
        f"min{unit}": meta.min_length,
        f"max{unit}": meta.max_length,
        "description": meta.description,
        "examples": meta.examples,
    }
    return {key: value for key, value in named.items() if value is not None}


def nullable(schema: JsonSchema) -> JsonSchema:
    if not schema or isinstance(schema.get("type"), list) or _NULL in schema.get("anyOf", ()):
        return schema
    if "type" not in schema:
        return {"anyOf": [schema, _NULL]}
    widened = {**schema, "type": [schema["type"], "null"]}
    return {**widened, "enum": [*schema["enum"], None]} if "enum" in schema else widened


def with_default(schema: JsonSchema, field: msgspec.structs.FieldInfo) -> JsonSchema:
    """Says in words what an absent field means: only what a person could have written in the same place.

    As the keyword `default`, generators take it for a promise that the field is always there, in requests too.
    """
    value = field.default_factory() if field.default_factory is not NODEFAULT else field.default
    if value is NODEFAULT or value is None or value in ("", (), {}, []) or field.type == documents.Moment:
        return schema
    written = value.to_document() if hasattr(value, "to_document") else msgspec.to_builtins(value)
    default_words = f"`{msgspec.json.encode(written).decode()}` if absent."
    before = schema.get("description")
    return {**schema, "description": f"{before} {default_words}" if before else default_words}


def in_words(docstring: str) -> str:
    text = " ".join(docstring.split())
    return _QUOTED_FIELD.sub(lambda match: f"`{_camel(match.group(1))}`", text)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def reference(name: str) -> JsonSchema:
    return {"$ref": f"#/components/schemas/{name}"}


def is_hashable(kind: Any) -> bool:
    try:
        hash(kind)
    except TypeError:
        return False
    return True
