"""Structural schemas of the model's Structs, from the same annotations that read documents.

A schema says what a field may hold, and no more: rules between fields, bounds with a sentence and unknown words are for
admission, which answers with every problem at once. So objects keep fields they do not know. If the API server dropped
them, a misspelt word of a strategy would be gone before anybody could name it. A null field is an absent one
everywhere in these APIs, so what may be absent may be null.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from headgate.kernel import documents
from headgate.kernel.documents import Aliases
from headgate.kernel.quantities import Quantity
from headgate.operator.crds import descriptions
from headgate.workload.model import Delay

Schema = dict[str, Any]

ANYTHING: Schema = {"x-kubernetes-preserve-unknown-fields": True}
_ANY_MAP: Schema = {"type": "object", **ANYTHING}
_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    object: ANYTHING,
    Any: ANYTHING,
}
_NOTATIONS: dict[type, Schema] = {
    Quantity: {"x-kubernetes-int-or-string": True},
    Delay: {"type": "string"},
}
"""Of the types that documents write in a notation of their own, and of those derived from them."""
_BOUNDS = {
    "ge": "minimum",
    "le": "maximum",
    "pattern": "pattern",
}
_LENGTHS = {
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "string": {"min_length": "minLength", "max_length": "maxLength"},
}


def of(kind: Any, only: Sequence[str] | None = None) -> Schema:
    """`only` names the fields that are meant, if the kind has others that do not stand there."""
    origin = get_origin(kind)
    if origin is Annotated:
        return _annotated(kind)
    if origin is Union or origin is types.UnionType:
        return _optional(kind)
    if origin is Literal:
        return {"type": "string", "enum": list(get_args(kind))}
    if origin in (tuple, list, Sequence):
        return _list(get_args(kind)[0])
    if origin in (dict, Mapping):
        return _map(get_args(kind)[1])
    for notation, schema in _NOTATIONS.items():
        if isinstance(kind, type) and issubclass(kind, notation):
            return dict(schema)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _struct(kind, only)
    if kind not in _PLAIN:
        raise TypeError(f"no schema is known for {kind!r}")
    return dict(_PLAIN[kind])


def _annotated(kind: Any) -> Schema:
    base, *markers = get_args(kind)
    schema = of(base)
    for marker in markers:
        if isinstance(marker, msgspec.Meta):
            names = {**_BOUNDS, **_LENGTHS.get(schema.get("type", ""), {})}
            given = ((word, getattr(marker, name)) for name, word in names.items())
            schema.update({word: value for word, value in given if value is not None})
        elif isinstance(marker, Aliases):
            schema["enum"] = list(dict.fromkeys((*schema["enum"], *marker.spellings)))
    return schema


def _optional(kind: Any) -> Schema:
    kinds = [each for each in get_args(kind) if each is not types.NoneType]
    if len(kinds) != 1:
        raise TypeError(f"a structural schema cannot choose between the kinds of {kind!r}")
    return of(kinds[0])


def _list(item: Any) -> Schema:
    """Entries with a name are the same entry for every writer, wherever they stand in the list."""
    schema: Schema = {"type": "array", "items": of(item)}
    if isinstance(item, type) and issubclass(item, msgspec.Struct):
        named = documents.fields_of(item).get("name")
        if named is not None and named.required:
            schema["x-kubernetes-list-type"] = "map"
            schema["x-kubernetes-list-map-keys"] = ["name"]
    return schema


def _map(value: Any) -> Schema:
    if value in (Any, object):
        return dict(_ANY_MAP)
    return {"type": "object", "additionalProperties": of(value)}


def _struct(kind: type[msgspec.Struct], only: Sequence[str] | None) -> Schema:
    fields = documents.fields_of(kind)
    wanted = {key: field for key, field in fields.items() if only is None or key in only}
    field_texts = descriptions.OF_FIELDS.get(kind.__name__, {})
    schema: Schema = {
        "type": "object",
        "properties": {key: _field(field, field_texts.get(key)) for key, field in wanted.items()},
        **ANYTHING,
    }
    required = [key for key, field in wanted.items() if field.required]
    if required:
        schema["required"] = required
    return schema


def _field(field: msgspec.structs.FieldInfo, description: str | None) -> Schema:
    schema = of(field.type)
    if description is not None:
        schema = {"description": description, **schema}
    if field.required or "enum" in schema:
        # An API server drops a null where it may not stand. To allow it among words is nothing that kubectl takes.
        return schema
    return {**schema, "nullable": True}
