"""How large one object may be: it is in memory, in every answer about it, and in the audit log with each change."""

from __future__ import annotations

import msgspec

from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected

LARGEST_BYTES = 1024 * 1024
"""Of its spec as JSON without spaces."""
_encode = msgspec.json.Encoder(order="deterministic").encode


def flaw(thing: msgspec.Struct, path: str) -> Problem | None:
    """Names the field that takes most of it."""
    if len(_encode(thing)) <= LARGEST_BYTES:
        return None
    sizes = {
        field.encode_name: len(_encode(getattr(thing, field.name)))
        for field in msgspec.structs.fields(type(thing))
    }
    size, largest = sum(sizes.values()), max(sizes, key=lambda name: sizes[name])
    message = (
        f"has {sizes[largest]:,} bytes as JSON, of {size:,} that the object has; "
        f"allowed are {LARGEST_BYTES:,} for one object"
    )
    return Problem(documents.field_path(path, largest), message)


def check(thing: msgspec.Struct, path: str) -> None:
    found = flaw(thing, path)
    if found is not None:
        raise Rejected((found,))
