"""What an expression gives and which fields it reads, by the schemas of what it reads.

A schema that is not known is None, and everything may be asked of it.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from headgate import cel
from headgate.cel import syntax
from headgate.cel.syntax import Loop, SyntaxNode
from headgate.kernel.documents import describe

Schema = Mapping[str, Any]

_BOOLEAN: Schema = {"type": "boolean"}
_INTEGER: Schema = {"type": "integer"}
_STRING: Schema = {"type": "string"}
_SAME_AS_RECEIVER = frozenset(("sort", "reverse", "distinct", "slice", "@sortByAssociatedKeys", "or"))
_ELEMENT_OF_RECEIVER = frozenset(("first", "last", "min", "max"))
_CONTENT_OF_RECEIVER = frozenset(("value", "orValue", "optional.of", "optional.ofNonZeroValue", "dyn"))


class TypeProblem(Exception):  # noqa: N818
    """A field that the schema does not have, and where in the text it is asked for."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


def schema_of(program: cel.Program, variables: Mapping[str, Schema | None]) -> Schema | None:
    """Raises TypeProblem at the first field that cannot be there."""
    return _Walk(variables).schema(program.root)


def is_open(schema: Schema | None) -> bool:
    """Whether anything at all may be below."""
    return (
        schema is None
        or "type" not in schema
        or bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        or bool(schema.get("x-kubernetes-int-or-string"))
        or (
            schema["type"] == "object" and "properties" not in schema and "additionalProperties" not in schema
        )
    )


class _Walk:
    def __init__(self, variables: Mapping[str, Schema | None]) -> None:
        self._variables = variables
        self._slots: dict[int, Schema | None] = {}

    def schema(self, node: SyntaxNode) -> Schema | None:
        match node:
            case syntax.Variable(name=name):
                return self._variables.get(name)
            case syntax.Local(slot=slot):
                return self._slots.get(slot)
            case syntax.Constant(value=value):
                return _of_constant(value)
            case syntax.Select(operand=operand, field_name=name):
                return _property(self.schema(operand), name, node.position)
            case syntax.Has(operand=operand, field_name=name):
                _property(self.schema(operand), name, node.position)
                return _BOOLEAN
            case syntax.Call():
                return self._call(node)
            case syntax.ListLiteral(elements=elements):
                schemas = [self.schema(each) for each in elements]
                return {"type": "array", "items": schemas[0] if schemas and _alike(schemas) else None}
            case syntax.MapLiteral(entries=entries):
                return self._map(entries)
            case syntax.Bind(slot=slot, value=value, body=body):
                self._slots[slot] = self.schema(value)
                return self.schema(body)
            case syntax.Fold():
                return self._fold(node)
        return None

    def _call(self, node: syntax.Call) -> Schema | None:
        schemas = [self.schema(each) for each in node.arguments]
        name = node.function
        if name in ("_[_]", "_[?_]", "_?._"):
            return _element(schemas[0], node.arguments[1], node.position)
        if name == "_?_:_":
            return schemas[1] if _alike(schemas[1:]) else None
        if name in _SAME_AS_RECEIVER:
            return schemas[0] if schemas else None
        if name in _ELEMENT_OF_RECEIVER:
            return schemas[0].get("items") if schemas and schemas[0] is not None else None
        if name in _CONTENT_OF_RECEIVER:
            return schemas[0] if schemas else None
        if name == "_+_" and schemas[0] is not None and schemas[0].get("type") == "array":
            return schemas[0] if _alike(schemas) else {"type": "array"}
        return of_type(node.type)

    def _map(self, entries: tuple[syntax.MapEntry, ...]) -> Schema:
        properties: dict[str, Schema | None] = {}
        is_fixed = True
        for entry in entries:
            self.schema(entry.key)
            content = self.schema(entry.value)
            if isinstance(entry.key, syntax.Constant) and isinstance(entry.key.value, str):
                properties[entry.key.value] = content
            else:
                is_fixed = False
        if is_fixed and properties:
            return {"type": "object", "properties": properties}
        return {"type": "object", "additionalProperties": None}

    def _fold(self, node: syntax.Fold) -> Schema | None:
        self._bind_rounds(self.schema(node.source), node.slots)
        schemas = {id(part): self.schema(part) for part in node.body()}
        match node.loop:
            case Loop.ALL | Loop.EXISTS | Loop.EXISTS_ONE:
                return _BOOLEAN
            case Loop.LIST:
                return {"type": "array", "items": schemas.get(id(node.item))}
            case Loop.MAP:
                return {"type": "object", "additionalProperties": schemas.get(id(node.item))}
        return {"type": "object", "additionalProperties": None}

    def _bind_rounds(self, source: Schema | None, slots: tuple[int, ...]) -> None:
        is_list = source is not None and source.get("type") == "array"
        key: Schema | None = None if source is None else (_INTEGER if is_list else _STRING)
        value = None if source is None else source.get("items" if is_list else "additionalProperties")
        if len(slots) == 1:
            self._slots[slots[0]] = value if is_list else key
        else:
            self._slots[slots[0]], self._slots[slots[1]] = key, value


def _property(schema: Schema | None, name: str, position: int) -> Schema | None:
    if schema is None or is_open(schema):
        return None
    if schema["type"] != "object":
        raise TypeProblem(f"{_article(schema)} has no fields, so no {name!r}", position)
    properties = schema.get("properties")
    if properties is not None and name in properties:
        return properties[name]  # type: ignore[no-any-return]
    if schema.get("additionalProperties") is not None or "additionalProperties" in schema:
        return schema["additionalProperties"]  # type: ignore[no-any-return]
    raise TypeProblem(f"there is no field {name!r} here{nearest(name, properties or ())}", position)


def _article(schema: Schema) -> str:
    return {"array": "a list", "integer": "an integer", "object": "an object"}.get(
        schema["type"], f"a {schema['type']}"
    )


def nearest(name: str, choices: Any) -> str:
    close = difflib.get_close_matches(name, list(choices), n=1, cutoff=0.7)
    if close:
        return f"; did you mean {close[0]!r}?"
    known = sorted(choices)
    if not known:
        return "; it has none"
    return f"; there are {', '.join(known[:12])}{' and more' if len(known) > 12 else ''}"


def _element(schema: Schema | None, key: SyntaxNode, position: int) -> Schema | None:
    if schema is None or is_open(schema):
        return None
    if schema["type"] == "array":
        return schema.get("items")
    if isinstance(key, syntax.Constant) and isinstance(key.value, str):
        return _property(schema, key.value, position)
    if schema["type"] == "object":
        return schema.get("additionalProperties")
    raise TypeProblem(f"{_article(schema)} has no elements", position)


def _alike(schemas: list[Schema | None]) -> bool:
    first = schemas[0]
    return all(
        each is not None and first is not None and each.get("type") == first.get("type") for each in schemas
    )


def _of_constant(value: object) -> Schema | None:
    match value:
        case bool():
            return _BOOLEAN
        case int():
            return _INTEGER
        case float():
            return {"type": "number"}
        case str():
            return _STRING
        case bytes():
            return {"type": "bytes"}
    return None


def of_type(type_: cel.Type) -> Schema | None:
    """The schema of a static type; None for one that can be anything."""
    match type_.name:
        case "bool":
            return _BOOLEAN
        case "int" | "uint":
            return _INTEGER
        case "double":
            return {"type": "number"}
        case "string":
            return _STRING
        case "bytes":
            return {"type": "bytes"}
        case "timestamp":
            return {"type": "string", "format": "date-time"}
        case "duration":
            return _STRING
        case "list":
            return {"type": "array", "items": of_type(type_.parameters[0])}
        case "map":
            return {"type": "object", "additionalProperties": of_type(type_.parameters[1])}
        case "optional":
            return of_type(type_.parameters[0])
    return None


def type_of(schema: Schema | None) -> cel.Type:
    """The static type of a field; times and bytes come as text and are left open."""
    if schema is None or is_open(schema) or "format" in schema:
        return cel.DYN
    match schema["type"]:
        case "boolean":
            return cel.BOOL
        case "integer":
            return cel.INT
        case "number":
            # A whole number in JSON is an integer, whatever the schema says.
            return cel.DYN
        case "string":
            return cel.STRING
        case "array":
            return cel.list_of(type_of(schema.get("items")))
        case "object" if "properties" not in schema:
            return cel.map_of(cel.STRING, type_of(schema.get("additionalProperties")))
    return cel.DYN


def mismatch(given: Schema | None, target: Schema | None) -> str | None:
    """Why a value of one schema cannot stand where another is wanted, or None."""
    if given is None or target is None or is_open(given) or is_open(target):
        return None
    wanted, has = target["type"], given["type"]
    if has == "bytes":
        return "gives bytes; encode them, for example with base64.encode(...)"
    if wanted == "number" and has == "integer":
        return None
    if wanted != has:
        return f"gives {_article(given)}; {_article(target)} is needed here"
    if has == "array":
        inner = mismatch(given.get("items"), target.get("items"))
        return inner and f"gives a list whose element {inner}"
    if has == "object":
        return _object_mismatch(given, target)
    return None


def _object_mismatch(given: Schema, target: Schema) -> str | None:
    if "properties" not in given:
        if "properties" in target:
            return None
        return mismatch(given.get("additionalProperties"), target.get("additionalProperties"))
    for name, schema in given["properties"].items():
        if "properties" in target and name not in target["properties"]:
            return f"gives an object with the field {name!r}, which is not known here{nearest(name, target['properties'])}"
        below = target["properties"][name] if "properties" in target else target.get("additionalProperties")
        inner = mismatch(schema, below)
        if inner is not None:
            return f"gives an object whose field {name!r} {inner}"
    return None


def literal_mismatch(value: object, schema: Schema) -> str | None:
    """Why a value that is written out cannot stand where the schema is wanted; containers are looked at one level."""
    if is_open(schema) or value is None:
        return None
    fits = {
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "array": isinstance(value, list | tuple),
        "object": isinstance(value, dict),
    }[schema["type"]]
    return None if fits else f"must be {_article(schema)}, not {describe(value)}"
