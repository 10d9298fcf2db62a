"""The stream of a watch, line by line."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Literal

import msgspec

from headgate.kubernetes import errors
from headgate.kubernetes.errors import NonsenseError
from headgate.kubernetes.resources import Document
from headgate.kubernetes.transport import ApiRequest, Transport

LARGEST_LINE_BYTES = 16 * 1024 * 1024
"""An object has 1.5 MB at most, and managed fields with it."""
_KINDS: dict[str, Literal["added", "modified", "deleted", "bookmark"]] = {
    "ADDED": "added",
    "MODIFIED": "modified",
    "DELETED": "deleted",
    "BOOKMARK": "bookmark",
}


class WatchEvent(msgspec.Struct, frozen=True):
    """A bookmark has nothing in its object but the version up to which everything was told."""

    kind: Literal["added", "modified", "deleted", "bookmark"]
    document: Document

    @property
    def resource_version(self) -> str:
        return str(self.document["metadata"]["resourceVersion"])


class _Line(msgspec.Struct, frozen=True):
    type: str
    object: Document


_DECODER = msgspec.json.Decoder(_Line)


async def events(transport: Transport, request: ApiRequest) -> AsyncGenerator[WatchEvent, None]:
    """Ends when the server ends it. What it says instead of an event is raised, and so is silence."""
    async with transport.open(request) as response:
        unfinished = bytearray()
        async for piece in response.content.iter_any():
            unfinished += piece
            *lines, rest = unfinished.split(b"\n")
            unfinished = rest
            if len(unfinished) > LARGEST_LINE_BYTES:
                raise NonsenseError("a line of the watch has no end")
            for line in lines:
                if line:
                    yield _event(bytes(line))


def _event(line: bytes) -> WatchEvent:
    try:
        read = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise NonsenseError("a line of the watch is not an event") from None
    if read.type == "ERROR":
        raise errors.of_status(read.object)
    kind = _KINDS.get(read.type)
    if kind is None or "resourceVersion" not in (read.object.get("metadata") or ()):
        raise NonsenseError(f"a line of the watch is a {read.type[:40]} without the version of an object")
    return WatchEvent(kind, read.object)
