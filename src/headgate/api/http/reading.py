"""What a request carries, as it is read: the query and headers by what the route declares, the body up to its limit.

A handler sees none of it before it is checked; what is wrong is refused with its name or its place.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, NoReturn
from urllib.parse import parse_qsl

import msgspec

from headgate.api.http.calls import Parameter, Refusal
from headgate.kernel import documents, instants
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import Idempotency

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

LONGEST_KEY = 255
MOST_PARAMETERS = 100
_QUERY_TITLE = "A query parameter is wrong"
_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,19}")
_NUMBER = re.compile(r"-?[0-9]{1,19}(\.[0-9]{1,19})?([eE][+-]?[0-9]{1,3})?")
_ENTITY_TAGS = re.compile(r'\*|(W/)?"[\x21\x23-\x7e]*"(\s*,\s*(W/)?"[\x21\x23-\x7e]*")*')

_BODY_TITLE = "The body cannot be read"
_LARGE_BODY_BYTES = 128 * 1024
STRANGERS_BODY_BYTES = 1024 * 1024
STRANGERS_BODY_SECONDS = 10.0
_LONGEST_NUMBER = 400
_SUSPICIOUS = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])|[0-9]{19}")
"""NUL, halves of surrogate pairs, huge numbers: a body without these needs no second look."""


class BodyLimits(msgspec.Struct, frozen=True):
    body_bytes: int = 32 * 1024 * 1024
    body_seconds: float = 30.0
    json_depth: int = 100

    def of_stranger(self) -> BodyLimits:
        """For bodies of those who have shown no token: little is kept, and not for long, before they are known."""
        return msgspec.structs.replace(
            self,
            body_bytes=min(self.body_bytes, STRANGERS_BODY_BYTES),
            body_seconds=min(self.body_seconds, STRANGERS_BODY_SECONDS),
        )


class ClientGoneError(Exception):
    """The client hung up before its request was complete; there is nobody to answer."""


def parse_query(raw: bytes, declared: Sequence[Parameter], *, takes_others: bool = False) -> dict[str, Any]:
    """Defaults are filled in; every problem is named at once."""
    given = _pairs(raw) if raw else {}
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
        raise Refusal(400, _QUERY_TITLE, f"{errors[0][0]} {errors[0][1]}", tuple(errors))
    return values


def _pairs(raw: bytes) -> dict[str, list[str]]:
    if _BROKEN_ESCAPE.search(raw):
        raise Refusal(400, _QUERY_TITLE, "the query has a '%' without two hexadecimal digits")
    try:
        pairs = parse_qsl(
            raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS
        )
    except UnicodeDecodeError:
        raise Refusal(400, _QUERY_TITLE, "the query is not percent-encoded UTF-8") from None
    except ValueError:
        raise Refusal(400, _QUERY_TITLE, f"the query has more than {MOST_PARAMETERS} parameters") from None
    by_name: dict[str, list[str]] = {}
    for name, value in pairs:
        by_name.setdefault(name, []).append(value)
    return by_name


def _value(schema: dict[str, Any], texts: list[str]) -> Any:
    if schema.get("type") == "array":
        return [_read_value(schema.get("items", {}), text) for text in texts]
    if len(texts) > 1:
        raise ValueError(f"is given {len(texts)} times; allowed is once")
    return _read_value(schema, texts[0])


def _read_value(schema: dict[str, Any], text: str) -> Any:
    problem = documents.text_problem(text)
    if problem:
        raise ValueError(problem)
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


def check_idempotency_key(value: str) -> None:
    if not 1 <= len(value) <= LONGEST_KEY or not (value.isascii() and value.isprintable()):
        raise Refusal(
            400,
            "The Idempotency-Key is wrong",
            f"Idempotency-Key has {len(value)} characters; allowed are 1 to {LONGEST_KEY}, printable ASCII only",
        )


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


async def read_body(receive: Receive, declared_length: str | None, limits: BodyLimits) -> bytes:
    """The declared length saves reading what is too long; what counts is what comes."""
    if declared_length is not None and declared_length.isdigit() and len(declared_length) <= 18:
        _check_size(int(declared_length), limits)
    body = bytearray()
    try:
        async with asyncio.timeout(limits.body_seconds):
            has_more = True
            while has_more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGoneError
                body += message.get("body", b"")
                _check_size(len(body), limits)
                has_more = message.get("more_body", False)
    except TimeoutError:
        detail = f"the body did not arrive within {limits.body_seconds:g} seconds"
        raise Refusal(408, "The request took too long", detail) from None
    return bytes(body)


def _check_size(size: int, limits: BodyLimits) -> None:
    if size > limits.body_bytes:
        raise Refusal(413, "The body is too large", f"allowed are {limits.body_bytes} bytes")


def media_type(content_type: str | None, allowed: tuple[str, ...], content_encoding: str | None) -> str:
    listed = " or ".join(allowed)
    if content_encoding not in (None, "", "identity"):
        raise Refusal(
            415, "The encoding is not supported", f"Content-Encoding is {content_encoding}; allowed is none"
        )
    if not content_type:
        raise Refusal(415, "The media type is missing", f"Content-Type is required; allowed is {listed}")
    essence, _, parameters = content_type.partition(";")
    essence = essence.strip().lower()
    if essence not in allowed:
        raise Refusal(
            415, "The media type is not supported", f"Content-Type is {essence[:100]}; allowed is {listed}"
        )
    charset = re.search(r'charset\s*=\s*"?([\w-]+)', parameters, re.IGNORECASE)
    if charset is not None and charset.group(1).lower() not in ("utf-8", "utf8"):
        raise Refusal(
            415, "The encoding is not supported", f"charset is {charset.group(1)}; allowed is utf-8"
        )
    return essence


def is_json(essence: str) -> bool:
    return essence == "application/json" or essence.endswith("+json")


async def decode_json(body: bytes, limits: BodyLimits) -> Any:
    """Large bodies are decoded beside the event loop, so that others are answered meanwhile."""
    if len(body) > _LARGE_BODY_BYTES:
        return await asyncio.to_thread(parse_document, body, limits)
    return parse_document(body, limits)


def parse_document(body: bytes, limits: BodyLimits) -> Any:
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise Refusal(400, _BODY_TITLE, f"it is not UTF-8 at byte {error.start + 1}") from None
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_short,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise Refusal(400, _BODY_TITLE, f"it is not JSON at {place}: {error.msg}") from None
    except RecursionError:
        raise _too_deep(limits) from None
    except ValueError as error:
        raise Refusal(400, _BODY_TITLE, _printable(str(error))) from None
    if value is None:
        raise Rejected([Problem("", "must be a map, not null")])
    if body.count(b"{") + body.count(b"[") > limits.json_depth:
        _check_depth(value, limits)
    if _SUSPICIOUS.search(body):
        _check_storable(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    as_object = dict(pairs)
    if len(as_object) == len(pairs):
        return as_object
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise ValueError(f"an object has the key {documents.describe(key)} twice")
        seen.add(key)
    return as_object


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:40]} is too large for a number")
    return value


def _short(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"a number has {len(text)} digits; allowed are {_LONGEST_NUMBER}")
    return int(text)


def _check_depth(value: Any, limits: BodyLimits) -> None:
    level = [value]
    for _ in range(limits.json_depth):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return
    if any(isinstance(item, dict | list) for item in level):
        raise _too_deep(limits)


def _too_deep(limits: BodyLimits) -> Refusal:
    return Refusal(400, _BODY_TITLE, f"it is nested more than {limits.json_depth} levels deep")


def _check_storable(value: Any) -> None:
    problems: list[Problem] = []
    documents.check_json(value, "", problems)
    if problems:
        raise Rejected(problems)


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def fingerprint(method: str, raw_path: bytes, query: bytes, body: bytes) -> str:
    """Tells requests apart that come with the same Idempotency-Key."""
    digest = hashlib.sha256()
    for part in (method.encode(), raw_path, query, body):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()
