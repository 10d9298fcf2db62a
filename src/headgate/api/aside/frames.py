"""What goes between a server and a process beside it: a question, and the parts of its answer."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

_LENGTH_BYTES = 8
NEVER_MIND = ""
"""As `work`: nobody waits for the answer to the question of this id any more."""
_ENCODER = msgspec.msgpack.Encoder()


class Question(msgspec.Struct, frozen=True):
    """A call without what the process has itself. `work` is the operation of a route, or the name of a piece of work."""

    id: int
    work: str
    workspace: str
    user: str
    grants: dict[str, list[str]]
    agents: list[str] = []
    roles: list[str] = []
    path: dict[str, str] = {}
    query: dict[str, Any] = {}
    headers: dict[str, str] = {}
    request_id: str = ""
    raw_body: bytes = b""


class FramePart(msgspec.Struct, frozen=True):
    """Of an answer; work may have several before the last."""

    id: int
    status: int
    body: bytes
    headers: dict[str, str] = {}
    media_type: str = "application/json"
    is_last: bool = True


async def read(stream: asyncio.StreamReader) -> bytes | None:
    """None where the other side has ended."""
    try:
        length = int.from_bytes(await stream.readexactly(_LENGTH_BYTES), "big")
        return await stream.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


async def write(stream: asyncio.StreamWriter, frame: msgspec.Struct) -> None:
    content = _ENCODER.encode(frame)
    stream.write(len(content).to_bytes(_LENGTH_BYTES, "big"))
    stream.write(content)
    await stream.drain()


read_question = msgspec.msgpack.Decoder(Question).decode
read_part = msgspec.msgpack.Decoder(FramePart).decode
