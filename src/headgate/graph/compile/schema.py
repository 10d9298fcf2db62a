"""SimpleSchema: the fields of an instance, each a type with markers, as an OpenAPI schema.

field := type [ "|" markers ]
type  := string | integer | boolean | float | object | "[]" type | "map[string]" type | a custom type
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from headgate.graph.compile import markers
from headgate.graph.compile import openapi as openapi_checks
from headgate.kernel.documents import describe, field_path
from headgate.kernel.problems import Problem

Schema = dict[str, Any]

DEEPEST_TYPE = 16

_Read = tuple[Schema, bool] | None
"""The schema of a type, and whether a field of that type is required by it."""

_ATOMIC = {"string": "string", "integer": "integer", "boolean": "boolean", "float": "number"}
_CUSTOM_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def openapi_into(
    problems: list[Problem],
    fields: Mapping[str, Any],
    types: Mapping[str, Any] | None = None,
    *,
    path: str = "spec",
    types_path: str = "types",
) -> Schema:
    """The schema of an object with these fields. One that is wrong may hold anything, so that what reads the others can still
    be checked."""
    reader = _Reader(types or {}, types_path)
    reader.check_types()
    schema = reader.structure(fields, path, 0)
    problems.extend(sorted(set(reader.problems)))
    return schema


def _check_default(schema: Schema) -> None:
    problems: list[Problem] = []
    if "default" in schema:
        openapi_checks.accept(schema["default"], schema, "", problems)
    if problems:
        raise ValueError(
            f"the default {describe(schema['default'])} is not a value that is allowed: {problems[0]}"
        )


class _Reader:
    def __init__(self, types: Mapping[str, Any], types_path: str) -> None:
        self._types = types
        self._types_path = types_path
        self._known: dict[str, _Read] = {}
        self._open: list[str] = []
        self.problems: list[Problem] = []

    def check_types(self) -> None:
        for name in self._types:
            path = field_path(self._types_path, name)
            if not _CUSTOM_NAME.fullmatch(name) or name in _ATOMIC or name == "object":
                self._refuse(path, f"{name!r} cannot name a custom type; allowed are letters, digits and _")
            else:
                self._custom(name, path)

    def structure(self, fields: Mapping[str, Any], path: str, depth: int) -> Schema:
        schema: Schema = {"type": "object", "properties": {}}
        required: list[str] = []
        for name, value in fields.items():
            place = field_path(path, name)
            read = self._field(value, place, depth + 1)
            schema["properties"][name], is_required = read or ({}, False)
            if is_required:
                required.append(name)
        if required:
            schema["required"] = sorted(required)
        elif any("default" in child for child in schema["properties"].values()):
            # Without this the defaults inside would never be reached when the object itself is left out.
            schema["default"] = {}
        return schema

    def _field(self, value: object, path: str, depth: int) -> _Read:
        if depth > DEEPEST_TYPE:
            return self._refuse(path, f"types nest more than {DEEPEST_TYPE} levels deep")
        if isinstance(value, Mapping):
            return self.structure(value, path, depth), False
        if not isinstance(value, str):
            return self._refuse(
                path,
                f'must be a type such as "string | default=a", or a map of fields, not {describe(value)}',
            )
        name, _, marked = value.partition("|")
        read = self._type(name.strip(), path, depth)
        if read is None:
            return None
        schema, is_required = copy.deepcopy(read[0]), read[1]
        try:
            for marker in markers.parse(marked):
                if marker.name == "required":
                    is_required = markers.truth(marker)
                markers.apply(schema, marker)
            markers.check_together(schema)
            _check_default(schema)
        except ValueError as error:
            return self._refuse(path, f"{error} (in {describe(value)})")
        return schema, is_required

    def _type(self, name: str, path: str, depth: int) -> _Read:
        if depth > DEEPEST_TYPE:
            return self._refuse(path, f"types nest more than {DEEPEST_TYPE} levels deep")
        if not name:
            return self._refuse(path, 'has no type; allowed is a type such as "string"')
        if name in _ATOMIC:
            return {"type": _ATOMIC[name]}, False
        if name == "object":
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, False
        if name.startswith("[]"):
            element = self._type(name[2:].strip(), path, depth + 1)
            return element and ({"type": "array", "items": copy.deepcopy(element[0])}, False)
        if name.startswith("map["):
            return self._map(name, path, depth)
        return self._custom(name, path)

    def _map(self, name: str, path: str, depth: int) -> _Read:
        key, bracket, value = name.removeprefix("map[").partition("]")
        if not bracket:
            return self._refuse(path, f"the type {name!r} has a bracket that is not closed")
        if key.strip() != "string":
            return self._refuse(path, f"the keys of a map are of type string, not {key.strip()!r}")
        element = self._type(value.strip(), path, depth + 1)
        return element and ({"type": "object", "additionalProperties": copy.deepcopy(element[0])}, False)

    def _custom(self, name: str, path: str) -> _Read:
        if name in self._open:
            ring = " -> ".join([*self._open[self._open.index(name) :], name])
            return self._refuse(path, f"the type {name} contains itself: {ring}")
        if name not in self._types:
            known = ", ".join(["string", "integer", "boolean", "float", "object", *self._types])
            return self._refuse(
                path, f"unknown type {name!r}; allowed are {known}, []type and map[string]type"
            )
        if name not in self._known:
            self._open.append(name)
            self._known[name] = self._field(self._types[name], field_path(self._types_path, name), 1)
            self._open.pop()
        return self._known[name]

    def _refuse(self, path: str, message: str) -> _Read:
        self.problems.append(Problem(path, message))
        return None
