"""The markers behind a field's type: `required=true default="a b" validation="self > 1"`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from headgate import cel
from headgate.cel.library import regex

Schema = dict[str, Any]

NAMES = (
    "required",
    "default",
    "description",
    "minimum",
    "maximum",
    "validation",
    "enum",
    "immutable",
    "pattern",
    "uniqueItems",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "listType",
    "listMapKey",
)
VALIDATION = cel.CelEnvironment(
    {"self": cel.DYN, "oldSelf": cel.DYN}, boolean_words=False, mixed_numbers=False
)

_OPENING, _CLOSING = "{[", "}]"


class Marker(msgspec.Struct, frozen=True):
    name: str
    value: str


def parse(text: str) -> list[Marker]:
    """Markers are separated by white space; raises ValueError. A value may be quoted, or JSON in brackets."""
    markers: list[Marker] = []
    rest = text.strip()
    while rest:
        name, equals, rest = rest.partition("=")
        if not equals:
            raise ValueError(f"the marker {name.strip()!r} has no value; write it as {name.strip()}=...")
        name = name.strip()
        if not name:
            raise ValueError("a marker has no name before '='")
        if name not in NAMES:
            raise ValueError(f"unknown marker {name!r}; allowed are {', '.join(NAMES)}")
        length = _value_length(name, rest)
        markers.append(Marker(name, _unquoted(rest[:length])))
        rest = rest[length:].lstrip()
    return markers


def _value_length(name: str, text: str) -> int:
    """Up to the first white space outside quotes and brackets."""
    quoted = escaped = False
    depth = 0
    for place, character in enumerate(text):
        if escaped:
            escaped = False
        elif quoted:
            escaped = character == "\\"
            quoted = character != '"'
        elif character == '"':
            quoted = True
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
            if depth < 0:
                raise ValueError(f"the marker {name} closes a bracket that was never opened")
        elif character.isspace() and depth == 0:
            return place
    if quoted:
        raise ValueError(f"the marker {name} has a quote that is not closed")
    if depth:
        raise ValueError(f"the marker {name} has a bracket that is not closed")
    return len(text)


def _unquoted(value: str) -> str:
    if len(value) < 2 or not (value.startswith('"') and value.endswith('"')):
        return value
    pieces: list[str] = []
    characters = iter(value[1:-1])
    for character in characters:
        if character == "\\":
            following = next(characters, "")
            pieces.append(following if following in ('"', "\\") else "\\" + following)
        else:
            pieces.append(character)
    return "".join(pieces)


def apply(schema: Schema, marker: Marker) -> None:
    """Writes the marker into the field's schema; raises ValueError. `required` is the parent's, not here."""
    if marker.name != "required":
        _APPLIERS[marker.name](schema, marker.value)


def truth(marker: Marker) -> bool:
    if marker.value not in ("true", "false"):
        raise ValueError(f"the marker {marker.name} is {marker.value!r}; allowed are true and false")
    return marker.value == "true"


def _default(schema: Schema, value: str) -> None:
    match schema.get("type"):
        case "string":
            schema["default"] = value
        case "integer":
            schema["default"] = _whole_number("default", value)
        case "number":
            schema["default"] = _number("default", value)
        case "boolean":
            schema["default"] = truth(Marker("default", value))
        case kind:
            schema["default"] = _json(value, kind)


def _json(value: str, kind: object) -> object:
    try:
        read = json.loads(value)
    except ValueError:
        raise ValueError(f"the marker default is {value!r}, which is not JSON for the type {kind}") from None
    wanted: tuple[type, str] | None = {"array": (list, "a JSON list"), "object": (dict, "a JSON object")}.get(
        str(kind)
    )
    if wanted is not None and not isinstance(read, wanted[0]):
        raise ValueError(f"the marker default is {value!r}; allowed is {wanted[1]}")
    return read


def _whole_number(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"the marker {name} is {value!r}; allowed is a whole number") from None


def _number(name: str, value: str) -> int | float:
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"the marker {name} is {value!r}; allowed is a number") from None
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(f"the marker {name} is {value!r}; allowed is a finite number")
    return int(number) if number.is_integer() else number


def _bound(name: str) -> Callable[[Schema, str], None]:
    def apply_bound(schema: Schema, value: str) -> None:
        _only_for(schema, name, "integer", "number")
        schema[name] = _number(name, value)

    return apply_bound


def _count(name: str, kind: str) -> Callable[[Schema, str], None]:
    def apply_count(schema: Schema, value: str) -> None:
        _only_for(schema, name, kind)
        count = _whole_number(name, value)
        if count < 0:
            raise ValueError(f"the marker {name} is {count}; allowed is 0 or more")
        schema[name] = count

    return apply_count


def _only_for(schema: Schema, name: str, *kinds: str) -> None:
    if schema.get("type") not in kinds:
        allowed = " and ".join("float" if kind == "number" else kind for kind in kinds)
        raise ValueError(f"the marker {name} is for {allowed} only, not for {schema.get('type')}")


def _rule(schema: Schema, rule: str, message: str) -> None:
    schema.setdefault("x-kubernetes-validations", []).append({"rule": rule, "message": message})


def _validation(schema: Schema, value: str) -> None:
    if not value.strip():
        raise ValueError("the marker validation is empty; allowed is a CEL expression over self")
    try:
        VALIDATION.compile(value, expect=cel.BOOL)
    except cel.CompileError as error:
        raise ValueError(f"the marker validation is not a condition over self:\n{error}") from None
    _rule(schema, value, "validation failed")


def _immutable(schema: Schema, value: str) -> None:
    if truth(Marker("immutable", value)):
        _rule(schema, "self == oldSelf", "field is immutable")


def _enum(schema: Schema, value: str) -> None:
    _only_for(schema, "enum", "string", "integer")
    choices = [choice.strip() for choice in value.split(",")]
    if not all(choices):
        raise ValueError(f"the marker enum is {value!r}; every value between its commas must not be empty")
    if schema["type"] == "integer":
        schema["enum"] = [_whole_number("enum", choice) for choice in choices]
    else:
        schema["enum"] = choices


def _pattern(schema: Schema, value: str) -> None:
    _only_for(schema, "pattern", "string")
    if not value:
        raise ValueError("the marker pattern is empty; allowed is a regular expression")
    try:
        regex.compiled(value)
    except cel.EvaluationError as error:
        raise ValueError(f"the marker pattern is not a {error}") from None
    schema["pattern"] = value


def _unique_items(schema: Schema, value: str) -> None:
    _only_for(schema, "uniqueItems", "array")
    if truth(Marker("uniqueItems", value)):
        schema["x-kubernetes-list-type"] = "set"


def _list_type(schema: Schema, value: str) -> None:
    _only_for(schema, "listType", "array")
    if value not in ("atomic", "set", "map"):
        raise ValueError(f"the marker listType is {value!r}; allowed are atomic, set and map")
    schema["x-kubernetes-list-type"] = value


def _list_map_key(schema: Schema, value: str) -> None:
    _only_for(schema, "listMapKey", "array")
    schema["x-kubernetes-list-map-keys"] = [key.strip() for key in value.split(",")]


def check_together(schema: Schema) -> None:
    """What no marker can see alone; raises ValueError."""
    keys = schema.get("x-kubernetes-list-map-keys")
    if keys is not None and schema.get("x-kubernetes-list-type") != "map":
        raise ValueError("the marker listMapKey needs listType=map beside it")
    if keys is None and schema.get("x-kubernetes-list-type") == "map":
        raise ValueError("the marker listType=map needs listMapKey beside it")
    for least, most in (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")):
        if least in schema and most in schema and schema[least] > schema[most]:
            raise ValueError(f"{least} {schema[least]} is more than {most} {schema[most]}")


def _description(schema: Schema, value: str) -> None:
    schema["description"] = value


_APPLIERS: dict[str, Callable[[Schema, str], None]] = {
    "default": _default,
    "description": _description,
    "minimum": _bound("minimum"),
    "maximum": _bound("maximum"),
    "validation": _validation,
    "enum": _enum,
    "immutable": _immutable,
    "pattern": _pattern,
    "uniqueItems": _unique_items,
    "minLength": _count("minLength", "string"),
    "maxLength": _count("maxLength", "string"),
    "minItems": _count("minItems", "array"),
    "maxItems": _count("maxItems", "array"),
    "listType": _list_type,
    "listMapKey": _list_map_key,
}
