"""The body of a request: read up to its limit, decoded strictly. What is not plain JSON is refused with its place."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NoReturn

import msgspec

from headgate.api.calls import Refusal
from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

_TITLE = "The body cannot be read"
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


async def read_body(receive: Receive, declared_length: str | None, limits: BodyLimits) -> bytes:
    """The declared length saves reading what is too long; what counts is what comes."""
    if declared_length is not None and declared_length.isdigit() and len(declared_length) <= 18:
        _check_size(int(declared_length), limits)
    try:
        async with asyncio.timeout(limits.body_seconds):
            return await _receive_all(receive, limits)
    except TimeoutError:
        detail = f"the body did not arrive within {limits.body_seconds:g} seconds"
        raise Refusal(408, "The request took too long", detail) from None


async def _receive_all(receive: Receive, limits: BodyLimits) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        chunk = message.get("body", b"")
        size += len(chunk)
        _check_size(size, limits)
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


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
        raise Refusal(400, _TITLE, f"it is not UTF-8 at byte {error.start + 1}") from None
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
        raise Refusal(400, _TITLE, f"it is not JSON at {place}: {error.msg}") from None
    except RecursionError:
        raise _too_deep(limits) from None
    except ValueError as error:
        raise Refusal(400, _TITLE, _printable(str(error))) from None
    if value is None:
        raise Rejected([Problem("", "must be a map, not null")])
    _check_depth(value, body, limits)
    if _SUSPICIOUS.search(body):
        _check_storable(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise ValueError(f"an object has the key {documents.describe(key)} twice")
        seen.add(key)
    return found


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


def _check_depth(value: Any, body: bytes, limits: BodyLimits) -> None:
    if body.count(b"{") + body.count(b"[") <= limits.json_depth:
        return
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
    return Refusal(400, _TITLE, f"it is nested more than {limits.json_depth} levels deep")


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
