"""JSON Schema (2020-12) of what the API reads and writes, from the same declarations that read and write it.

Inputs and answers differ: an input may leave out what has a default, an answer has every field.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from headgate.api.documents import rollout_views
from headgate.api.http import schema_parts, schema_words
from headgate.api.http.schema_words import TEXT_PATTERN, JsonSchema
from headgate.fleet import rules
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.kernel import documents

Direction = Literal["input", "answer"]

OBJECTS: frozenset[type] = frozenset(kind.model for kind in kinds.ALL)
_UUID: JsonSchema = {"type": "string", "format": "uuid"}
_HIDDEN = frozenset({"workspace"})
_FILLED_IN = frozenset({"id", "createdAt"})
_READ_ONLY = frozenset({"updatedAt", "publishedAt", "setAt", "rejection"})
_OPTIONAL_IN_INPUT: dict[type, frozenset[str]] = {model.Version: frozenset({"name", "deployment", "tag"})}
_REQUIRED_BY_READER: dict[type, frozenset[str]] = {model.Policy: frozenset({"rules"})}
_ALWAYS_WRITTEN: dict[type, frozenset[str]] = {
    model.DeploymentVariable: frozenset({"default"}),
    model.VariableValue: frozenset({"value"}),
}
"""These leave out defaults even in answers."""
_COMPONENT_TITLE = re.compile(r"[A-Z][A-Za-z0-9]*")


class PageSchema(msgspec.Struct, frozen=True):
    """A list answer: items of this kind, and the cursor of the next page."""

    kind: Any


class Patch(msgspec.Struct, frozen=True):
    """A JSON merge patch (RFC 7396) of this kind: nothing is required, null takes a value away."""

    kind: Any


class Concerning(msgspec.Struct, frozen=True):
    """An answer of this kind, with whom the change to it concerns."""

    kind: Any


class Components:
    """Collects the schemas that others refer to. Ask for answers first: then inputs that differ get their own name."""

    def __init__(self) -> None:
        self.schemas: dict[str, JsonSchema] = {}
        self._names: dict[tuple[Any, Direction], str] = {}

    def of(self, schema: Any, direction: Direction) -> JsonSchema:
        """A type, a `PageSchema`, a `Patch`, or a ready schema, in which types may stand for their schemas."""
        if isinstance(schema, PageSchema):
            return self._page(schema)
        if isinstance(schema, Patch):
            return self._patch(schema.kind)
        if isinstance(schema, Concerning):
            return self._concerning(schema.kind)
        if isinstance(schema, Mapping):
            return self._ready(schema, direction)
        return self._kind(schema, direction)

    def _ready(self, schema: Mapping[str, Any], direction: Direction) -> JsonSchema:
        resolved = {key: self._resolved(item, direction) for key, item in schema.items()}
        title = schema.get("title")
        if isinstance(title, str) and _COMPONENT_TITLE.fullmatch(title):
            return self._named(title, resolved)
        return resolved

    def _resolved(self, value: Any, direction: Direction) -> Any:
        if isinstance(value, list | tuple) and not isinstance(value, msgspec.Struct):
            return [self._resolved(item, direction) for item in value]
        if value is None or isinstance(value, str | int | float | bool):
            return value
        return self.of(value, direction)

    def _named(self, name: str, schema: JsonSchema) -> JsonSchema:
        if self.schemas.setdefault(name, schema) != schema:
            raise ValueError(f"two different schemas are called {name}")
        return schema_parts.reference(name)

    def _page(self, page: PageSchema) -> JsonSchema:
        items = self.of(page.kind, "answer")
        schema: JsonSchema = {
            "type": "object",
            "properties": {
                "items": {"type": "array", "items": items},
                "next": {
                    "type": ["string", "null"],
                    "description": "The cursor of the next page; null on the last one.",
                },
            },
            "required": ["items", "next"],
        }
        if "$ref" not in items:
            return schema
        return self._named(f"{items['$ref'].rpartition('/')[2]}Page", schema)

    def _concerning(self, kind: type[msgspec.Struct]) -> JsonSchema:
        concerns = {"concerns": self._kind(rollout_views.Concerns, "answer")}
        more = {"type": "object", "properties": concerns, "required": ["concerns"]}
        schema: JsonSchema = {"allOf": [self._kind(kind, "answer"), more]}
        return self._named(f"{schema['allOf'][0]['$ref'].rpartition('/')[2]}WithConcerns", schema)

    def _patch(self, kind: type[msgspec.Struct]) -> JsonSchema:
        name = f"{kind.__name__}Patch"
        if name not in self.schemas:
            self.schemas[name] = {}
            properties = {key: self._patchable(kind, key, field) for key, field in _fields(kind).items()}
            self.schemas[name] = {
                "type": "object",
                "description": "A JSON merge patch: what is absent stays, null takes a value away.",
                "properties": properties,
                "additionalProperties": False,
            }
        return schema_parts.reference(name)

    def _patchable(self, kind: type, key: str, field: msgspec.structs.FieldInfo) -> JsonSchema:
        schema = self._field(kind, key, field, "input")
        if field.required or key in _FILLED_IN or key in _REQUIRED_BY_READER.get(kind, ()):
            return schema
        if isinstance(schema.get("additionalProperties"), dict):
            values = schema["additionalProperties"]
            is_text = values.get("type") == "string"
            schema["additionalProperties"] = (
                schema_parts.nullable(values) if is_text else self._kind(object, "input")
            )
        return schema_parts.nullable(schema)

    def _kind(self, kind: Any, direction: Direction) -> JsonSchema:
        if kind is model.Rule:
            return self._rule(direction)
        if schema_parts.is_hashable(kind):
            if kind in schema_words.NAMES:
                return {"type": "string"} if direction == "answer" else self._named(*schema_words.NAMES[kind])
            if kind in schema_words.TEXTS:
                return self._named(*schema_words.TEXTS[kind])
        origin = get_origin(kind)
        if origin is Annotated:
            return self._annotated(kind, direction)
        if origin is Union or origin is types.UnionType:
            return self._union(get_args(kind), direction)
        if origin is Literal:
            return {"type": "string", "enum": list(get_args(kind))}
        if origin in (tuple, list, Sequence):
            return {"type": "array", "items": self._kind(get_args(kind)[0], direction)}
        if origin in (dict, Mapping):
            return self._map(get_args(kind)[1], direction)
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            return {"type": "string", "enum": [member.value for member in kind]}
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self._struct(kind, direction)
        if kind in (object, Any) and direction == "input":
            return self._named("AnyValue", schema_words.ANY_VALUE)
        return schema_parts.plain(kind, is_input=direction == "input")

    def _map(self, values: Any, direction: Direction) -> JsonSchema:
        schema: JsonSchema = {"type": "object", "additionalProperties": self._kind(values, direction)}
        if direction == "input":
            schema["propertyNames"] = {"pattern": TEXT_PATTERN}
        return schema

    def _annotated(self, kind: Any, direction: Direction) -> JsonSchema:
        if kind == documents.Moment:
            return {"type": "string", "format": "date-time"}
        base, *markers = get_args(kind)
        schema = dict(self._kind(base, direction))
        for marker in markers:
            if isinstance(marker, msgspec.Meta):
                schema |= schema_parts.bounds(marker, schema.get("type"))
            if isinstance(marker, documents.Aliases) and direction == "input":
                schema["description"] = f"Also taken: {', '.join(marker.spellings)}."
        return schema

    def _union(self, kinds: Sequence[Any], direction: Direction) -> JsonSchema:
        others = [kind for kind in kinds if kind is not types.NoneType]
        if len(others) == 1:
            schema = self._kind(others[0], direction)
        else:
            schema = self._tagged(others, direction)
        return schema if len(others) == len(kinds) else schema_parts.nullable(schema)

    def _tagged(self, kinds: Sequence[Any], direction: Direction) -> JsonSchema:
        references = {kind.__struct_config__.tag: self._kind(kind, direction) for kind in kinds}
        return {
            "oneOf": list(references.values()),
            "discriminator": {
                "propertyName": kinds[0].__struct_config__.tag_field,
                "mapping": {tag: reference["$ref"] for tag, reference in references.items()},
            },
        }

    def _struct(self, kind: type[msgspec.Struct], direction: Direction) -> JsonSchema:
        if hasattr(kind, "from_document"):
            raise TypeError(f"{kind.__name__} has a notation of its own that no schema describes")
        if (kind, direction) not in self._names:
            name = self._free_name(kind, direction)
            self._names[kind, direction] = name
            self.schemas[name] = {}
            self.schemas[name] = self._object(kind, direction)
        return schema_parts.reference(self._names[kind, direction])

    def _free_name(self, kind: type, direction: Direction) -> str:
        name = schema_words.STRUCT_NAMES.get(kind, kind.__name__.removesuffix("View"))
        if kind in OBJECTS and direction == "input":
            name = f"{name}Input"
        if name in self.schemas and direction == "input" and (kind, "answer") in self._names:
            name = f"{name}Input"
        if name in self.schemas:
            raise ValueError(f"two different schemas are called {name}")
        return name

    def _object(self, kind: type[msgspec.Struct], direction: Direction) -> JsonSchema:
        fields = _fields(kind)
        schema: JsonSchema = {"type": "object"}
        if kind.__dict__.get("__doc__"):
            schema["description"] = schema_parts.in_words(kind.__dict__["__doc__"])
        schema["properties"] = {
            key: self._field(kind, key, field, direction) for key, field in fields.items()
        }
        required = [key for key, field in fields.items() if _is_required(kind, key, field, direction)]
        configuration = kind.__struct_config__
        if configuration.tag_field is not None:
            schema["properties"] = {
                configuration.tag_field: {"type": "string", "const": configuration.tag},
                **schema["properties"],
            }
            required.insert(0, configuration.tag_field)
        if required:
            schema["required"] = required
        if direction == "answer":
            return schema
        schema["additionalProperties"] = False
        if kind in schema_words.BETWEEN_FIELDS:
            schema["allOf"] = schema_words.BETWEEN_FIELDS[kind]
        return schema_words.shorthand(kind, schema) if hasattr(kind, "expand_shorthand") else schema

    def _field(
        self, kind: type, key: str, field: msgspec.structs.FieldInfo, direction: Direction
    ) -> JsonSchema:
        if kind in OBJECTS and key == "id":
            return dict(_UUID)
        schema = dict(self._kind(field.type, direction))
        if kind is model.Policy and key == "rules" and direction == "input":
            schema["maxItems"] = rules.MOST_RULES
        if (kind, key) in schema_words.FIELD_EXAMPLES:
            schema["examples"] = schema_words.FIELD_EXAMPLES[kind, key]
        if direction == "input":
            if kind in OBJECTS and key in _READ_ONLY:
                return {**schema_parts.nullable(schema), "readOnly": True}
            if key not in _REQUIRED_BY_READER.get(kind, ()):
                return schema_parts.with_default(schema, field)
        return schema

    def _rule(self, direction: Direction) -> JsonSchema:
        """Under the one spelling of its kind that answers have; what else is taken is said in words."""
        name = "Rule" if direction == "answer" else "RuleInput"
        if name not in self.schemas:
            self.schemas[name] = {}
            self.schemas[name] = {
                "description": "One rule under the key of its kind.",
                "oneOf": [self._one_rule(key, direction) for key in rules.KINDS],
            }
        return schema_parts.reference(name)

    def _one_rule(self, key: str, direction: Direction) -> JsonSchema:
        is_input = direction == "input"
        schema: JsonSchema = {
            "type": "object",
            "properties": {
                "id": schema_parts.nullable(_UUID) if is_input else dict(_UUID),
                "name": schema_parts.nullable(self._kind(model.Name, direction)),
                key: self._struct(rules.KINDS[key], direction),
            },
            "required": [key] if is_input else ["id", "name", key],
        }
        if is_input:
            schema["additionalProperties"] = False
        else:
            schema["description"] = "The answer to a change has `concerns`: whom it concerns."
            schema["properties"]["concerns"] = self._kind(rollout_views.Concerns, "answer")
        others = [alias for alias, kind in rules.KIND_ALIASES.items() if kind == key]
        if is_input and others:
            schema["description"] = f"The key may also be {', '.join(others)}."
        name = f"{key[0].upper()}{key[1:]}Rule{'Input' if is_input else ''}"
        return self._named(name, schema)


def _fields(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    hidden = _HIDDEN if kind in OBJECTS else frozenset()
    return {key: field for key, field in documents.fields_of(kind).items() if key not in hidden}


def _is_required(kind: type, key: str, field: msgspec.structs.FieldInfo, direction: Direction) -> bool:
    if direction == "answer":
        return key in _ALWAYS_WRITTEN.get(kind, (key,))
    if (kind in OBJECTS and key in _FILLED_IN) or key in _OPTIONAL_IN_INPUT.get(kind, ()):
        return False
    return field.required or key in _REQUIRED_BY_READER.get(kind, ())
