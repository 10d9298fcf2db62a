"""Documents of the audit log, where each change of a large object would be kept twice more: parts that are long are named
by their size and their digest."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

LARGEST_BYTES = 64 * 1024
"""Of a document that is kept as it is."""
_LONGEST_PART_BYTES = 2 * 1024
_DEEPEST = 3
_encode = msgspec.json.Encoder(order="deterministic").encode


def abridged(document: bytes | None) -> bytes | None:
    if document is None or len(document) <= LARGEST_BYTES:
        return document
    value = msgspec.json.decode(document)
    found = _encode(_without_long_parts(value))
    return found if len(found) <= LARGEST_BYTES else _encode(_digest(_encode(value)))


def _without_long_parts(value: Any, depth: int = 0) -> Any:
    """Down to the members of a field of its spec."""
    encoded = _encode(value)
    if len(encoded) <= _LONGEST_PART_BYTES:
        return value
    if isinstance(value, dict) and depth < _DEEPEST:
        return {key: _without_long_parts(item, depth + 1) for key, item in value.items()}
    return _digest(encoded)


def _digest(encoded: bytes) -> dict[str, object]:
    """Two of them are equal if what they stand for is."""
    return {"bytes": len(encoded), "sha256": hashlib.sha256(encoded).hexdigest()}
