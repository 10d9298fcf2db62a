"""A provider (an inventory, a cloud account) hands in all of its resources; what it no longer has is deleted."""

from __future__ import annotations

import asyncio

import msgspec

from headgate.api import sets, stepping
from headgate.api.documents import bodies, views
from headgate.api.http import large_bodies, replies
from headgate.api.http.calls import Answer, Request, Route

PARSING = "parseResourceSet"


async def put_set(call: Request) -> Answer:
    wanted = await _read(call)
    sets.check_permissions(call, wanted)
    return replies.answer(await sets.put(call, wanted))


async def _read(call: Request) -> sets.Set:
    if not large_bodies.is_large(call):
        return await asyncio.to_thread(sets.read, large_bodies.decoded(call), call.workspace)
    provider, *parts = [part async for part in large_bodies.parts(call, PARSING)]
    items: list[sets.SetItem] = []
    for part in parts:
        items += await asyncio.to_thread(_ITEMS.decode, part)
    return sets.Set(msgspec.json.decode(provider, type=str), items)


_ITEMS = msgspec.json.Decoder(list[sets.SetItem])


ROUTES = (
    Route(
        "PUT",
        "/v1/resources/set",
        "putResourceSet",
        "Replace the resources of a provider",
        put_set,
        "resource:write",
        "resources",
        {200: views.ResourceSetResult},
        body=bodies.ResourceSetInput,
        mutates=True,
        reads_body=True,
        problems=(409,),
        description=(
            "The provider has exactly these resources afterwards: others of the same provider are deleted. A resource "
            f"that has no provider yet is taken over. Up to {stepping.STEP} changes are made all or nothing. A larger set is "
            "checked whole before anything is stored, then put in steps, between which others are served: what it brings "
            "first, what it no longer has last. If it is interrupted, put the same set again. A resource may bring "
            "`current`, a map from deployments to the versions that it runs already: they are recorded, without jobs, for "
            "targets of which nothing is known yet; that needs the permission target:adopt too."
        ),
    ),
)
