"""Query parameters and headers, checked against what the route declares before its handler sees them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

from headgate.api.calls import Parameter, Refusal
from headgate.kernel import documents, instants
from headgate.runtime.commands import Idempotency

LONGEST_KEY = 255
MOST_PARAMETERS = 100
_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,19}")
_NUMBER = re.compile(r"-?[0-9]{1,19}(\.[0-9]{1,19})?([eE][+-]?[0-9]{1,3})?")
_ENTITY_TAGS = re.compile(r'\*|(W/)?"[\x21\x23-\x7e]*"(\s*,\s*(W/)?"[\x21\x23-\x7e]*")*')
_TITLE = "A query parameter is wrong"


def parse_query(raw: bytes, declared: Sequence[Parameter], *, takes_others: bool = False) -> dict[str, Any]:
    """Defaults are filled in; every flaw is named at once."""
    given = _pairs(raw)
    by_name = {parameter.name: parameter for parameter in declared}
    errors: list[tuple[str, str]] = []
    values: dict[str, Any] = {}
    for name, texts in given.items():
        if name not in by_name and takes_others:
            continue
        if name not in by_name:
            allowed = ", ".join(by_name) if by_name else "none here"
            errors.append((name, f"is not a known query parameter; allowed are {allowed}"))
            continue
        try:
            values[name] = _value(by_name[name].schema, texts)
        except ValueError as error:
            errors.append((name, str(error)))
    for name, parameter in by_name.items():
        if name not in given and parameter.required:
            errors.append((name, "is required"))
        elif name not in given and "default" in parameter.schema:
            values[name] = parameter.schema["default"]
    if errors:
        raise Refusal(400, _TITLE, f"{errors[0][0]} {errors[0][1]}", tuple(errors))
    return values


def _pairs(raw: bytes) -> dict[str, list[str]]:
    if _BROKEN_ESCAPE.search(raw):
        raise Refusal(400, _TITLE, "the query has a '%' without two hexadecimal digits")
    try:
        pairs = parse_qsl(
            raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS
        )
    except UnicodeDecodeError:
        raise Refusal(400, _TITLE, "the query is not percent-encoded UTF-8") from None
    except ValueError:
        raise Refusal(400, _TITLE, f"the query has more than {MOST_PARAMETERS} parameters") from None
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def _value(schema: dict[str, Any], texts: list[str]) -> Any:
    if schema.get("type") == "array":
        return [_one(schema.get("items", {}), text) for text in texts]
    if len(texts) > 1:
        raise ValueError(f"is given {len(texts)} times; allowed is once")
    return _one(schema, texts[0])


def _one(schema: dict[str, Any], text: str) -> Any:
    flaw = documents.text_flaw(text)
    if flaw:
        raise ValueError(flaw)
    match schema.get("type"):
        case "integer":
            return _bounded(schema, _whole_number(text))
        case "number":
            return _bounded(schema, _number(text))
        case "boolean":
            return _boolean(text)
        case _:
            return _text(schema, text)


def _whole_number(text: str) -> int:
    if not _WHOLE_NUMBER.fullmatch(text) or not -(2**63) <= int(text) < 2**63:
        raise ValueError(f"must be a whole number, not {documents.describe(text)}")
    return int(text)


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"must be a number, not {documents.describe(text)}")
    return float(text)


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"must be true or false, not {documents.describe(text)}")
    return text == "true"


def _bounded(schema: dict[str, Any], value: float) -> float:
    if "minimum" in schema and value < schema["minimum"]:
        raise ValueError(f"must be at least {schema['minimum']}, not {value}")
    if "maximum" in schema and value > schema["maximum"]:
        raise ValueError(f"must be at most {schema['maximum']}, not {value}")
    return value


def _text(schema: dict[str, Any], text: str) -> str:
    if "enum" in schema and text not in schema["enum"]:
        allowed = ", ".join(str(choice) for choice in schema["enum"])
        raise ValueError(f"is {documents.describe(text)}; allowed are {allowed}")
    if len(text) < schema.get("minLength", 0):
        raise ValueError(
            "must not be empty" if not text else f"needs at least {schema['minLength']} characters"
        )
    if len(text) > schema.get("maxLength", len(text)):
        raise ValueError(f"is too long: {len(text)}, allowed are {schema['maxLength']} characters")
    if "pattern" in schema and not re.search(schema["pattern"], text):
        raise ValueError(f"is {documents.describe(text)}; allowed is what matches {schema['pattern']}")
    if schema.get("format") == "date-time":
        instants.parse(text)
    return text


def idempotency_key(value: str | None) -> str | None:
    if value is None:
        return None
    if not 1 <= len(value) <= LONGEST_KEY or not (value.isascii() and value.isprintable()):
        raise Refusal(
            400,
            "The Idempotency-Key is wrong",
            f"Idempotency-Key has {len(value)} characters; allowed are 1 to {LONGEST_KEY}, printable ASCII only",
        )
    return value


def idempotency(identity: str, key: str, fingerprint: str) -> Idempotency:
    """A key is its caller's own: who uses the key of somebody else is neither answered with theirs nor in their way."""
    digest = hashlib.sha256(f"{len(identity)} {identity} {key}".encode()).hexdigest()
    return Idempotency(digest, fingerprint)


def if_match(value: str | None) -> str | None:
    if value is not None and not _ENTITY_TAGS.fullmatch(value.strip()):
        raise Refusal(
            400,
            "If-Match is wrong",
            f"If-Match is {documents.describe(value)}; allowed is the ETag of an answer with its quotes, or *",
        )
    return value.strip() if value is not None else None
