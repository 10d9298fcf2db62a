"""The kinds that every cluster has, with the schemas of their objects; any other kind is dynamic.

The data is derived from a published package by `scripts/kind_schemas.py` and shipped in compact form. A schema is
made when it is asked for, and types that hold themselves are made level by level as they are walked.
"""

from __future__ import annotations

import functools
import json
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Any

from headgate.kernel.object_kinds import ANYTHING, ObjectKind

Schema = dict[str, Any]


class BuiltInKinds:
    """What every cluster has; for use without one."""

    def find(self, api_version: str, name: str) -> ObjectKind | None:
        return find(api_version, name)


def find(api_version: str, name: str) -> ObjectKind | None:
    entry = _data()["kinds"].get(f"{api_version} {name}")
    if entry is None:
        return None
    type_name, plural, is_namespaced = entry
    return ObjectKind(api_version, name, plural, bool(is_namespaced), _structure(type_name))


def object_metadata() -> Schema:
    return _structure("meta_v1.ObjectMeta")


@functools.cache
def _data() -> dict[str, Any]:
    content = pkgutil.get_data("headgate.graph", "kinds.json")
    if content is None:
        raise RuntimeError("the package was installed without graph/kinds.json")
    return json.loads(content)  # type: ignore[no-any-return]


class _Properties(Mapping[str, Schema]):
    """The properties of one type; what they hold is read when it is reached, since types may hold themselves."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> Schema:
        return _schema(self._fields[name].removesuffix("!"))

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


@functools.cache
def _structure(type_name: str) -> Schema:
    fields = _data()["types"][type_name]
    schema: Schema = {"type": "object", "properties": _Properties(fields)}
    required = [name for name, written in fields.items() if written.endswith("!")]
    if required:
        schema["required"] = required
    return schema


_SIMPLE: dict[str, Schema] = {
    "s": {"type": "string"},
    "i": {"type": "integer"},
    "n": {"type": "number"},
    "b": {"type": "boolean"},
    "t": {"type": "string", "format": "date-time"},
    "B": {"type": "string", "format": "byte"},
    "*": ANYTHING,
}


@functools.cache
def _schema(written: str) -> Schema:
    if written in _SIMPLE:
        return _SIMPLE[written]
    if written.startswith("[]"):
        return {"type": "array", "items": _schema(written[2:])}
    if written.startswith("{}"):
        return {"type": "object", "additionalProperties": _schema(written[2:])}
    return _structure(written)
