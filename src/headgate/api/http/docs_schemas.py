"""Schemas in the words of the docs page."""

from __future__ import annotations

import re
from html import escape
from typing import Any

Json = dict[str, Any]

_CODE = re.compile(r"`([^`]+)`")
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


def words(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))


def card(name: str, schema: Json) -> str:
    description = f"<p>{words(schema['description'])}</p>" if "description" in schema else ""
    table = fields(schema)
    return (
        f'<section class=card id="schema-{escape(name)}"><div class=line><code>{escape(name)}</code></div>'
        f"{description}{table or f'<p>{render(schema)}</p>'}</section>"
    )


def fields(schema: Json) -> str:
    """A table of the properties that the schema itself lists. An answer has all of them, which need not be said."""
    properties = schema.get("properties")
    if not properties:
        return ""
    is_answer = "additionalProperties" not in schema
    required = () if is_answer else schema.get("required", ())
    rows = "".join(_row(name, item, name in required) for name, item in properties.items())
    return f"<div class=wide><table><tbody>{rows}</tbody></table></div>"


def _row(name: str, schema: Json, is_required: bool) -> str:
    must = " <span class=must>required</span>" if is_required else ""
    notes = [words(schema["description"])] if "description" in schema else []
    if schema.get("readOnly"):
        notes.append("ignored in requests")
    return f"<tr><td><code>{escape(name)}</code>{must}</td><td>{render(schema)}</td><td>{'; '.join(notes)}</td></tr>"


def render(schema: Json) -> str:
    """The type in one line, with links to what it refers to."""
    bounds = "".join(f", {text}" for text in _bounds(schema))
    return _type(schema) + bounds


def _type(schema: Json) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#schema-{escape(name)}">{escape(name)}</a>'
    if "enum" in schema:
        return " | ".join(f"<code>{escape(_json(value))}</code>" for value in schema["enum"])
    if "const" in schema:
        return f"<code>{escape(_json(schema['const']))}</code>"
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return " or ".join(render(option) for option in schema[key])
    if "not" in schema:
        return "any other value"
    types = schema.get("type", "any value")
    return " or ".join(_plain(one, schema) for one in ([types] if isinstance(types, str) else types))


def _plain(kind: str, schema: Json) -> str:
    if kind == "array":
        return f"list of {render(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        values = render(schema["additionalProperties"])
        return f"map to ({values})" if " or " in values else f"map to {values}"
    if kind == "string" and schema.get("format") in ("date-time", "uuid"):
        return str({"date-time": "time", "uuid": "UUID"}[schema["format"]])
    return {"integer": "whole number", "boolean": "true or false"}.get(kind, escape(kind))


def _bounds(schema: Json) -> list[str]:
    bounds = [
        words.format(schema[key])
        for key, words in _BOUNDS.items()
        if key in schema and abs(schema[key]) < 2**63 - 1 and not (key == "minLength" and schema[key] == 1)
    ]
    if "examples" in schema:
        bounds.append(f"such as <code>{escape(_json(schema['examples'][0]))}</code>")
    return bounds


def _json(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value) if not isinstance(value, list) else ", ".join(map(_json, value)) or "[]"
