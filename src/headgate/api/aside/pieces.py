"""Pieces of work that are no route of their own: what a route does aside before it goes on where changes are made."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import msgspec

from headgate.api import levels_below, sets
from headgate.api.http import large_bodies
from headgate.api.http.calls import Answer, Request
from headgate.api.routes import manifests, resource_sets

Send = Callable[[bytes], Awaitable[None]]
Piece = Callable[[Request, Send], Awaitable[Answer]]


async def parse_set(call: Request, send: Send) -> Answer:
    """The provider, then the items."""
    resource_set = await asyncio.to_thread(_read_set, call)
    await send(msgspec.json.encode(resource_set.provider))
    for some in _in_parts(resource_set.items):
        await send(await asyncio.to_thread(msgspec.json.encode, some))
    return Answer(200, b"")


def _read_set(call: Request) -> sets.Set:
    return sets.read(large_bodies.decoded(call), call.workspace)


async def parse_manifests(call: Request, send: Send) -> Answer:
    """What is asked beside them, then the manifests."""
    given, documents_read = await manifests.read(call)
    await send(msgspec.json.encode(given))
    for some in _in_parts(documents_read):
        await send(await asyncio.to_thread(manifests.written, some))
    return Answer(200, b"")


async def explain_begun(call: Request, send: Send) -> Answer:
    return await levels_below.explain_begun(call)


async def rehearse(call: Request, send: Send) -> Answer:
    return await manifests.rehearse(call)


def _in_parts(things: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for first in range(0, len(things), large_bodies.PART):
        yield things[first : first + large_bodies.PART]


ALL: dict[str, Piece] = {
    resource_sets.PARSING: parse_set,
    manifests.PARSING: parse_manifests,
    manifests.REHEARSING: rehearse,
    levels_below.EXPLAINING: explain_begun,
}
