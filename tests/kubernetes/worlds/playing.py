"""Stories played in both worlds, several at once."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Sequence

import kube
from headgate.kernel.instants import Instant
from headgate.kubernetes.resources import PODS
from kube import ControlPlane

from . import simulated, stories
from .comparing import differences
from .history import History
from .live import LiveWorld
from .stories import Story

AT_ONCE = 6


def differences_of(plane: ControlPlane, names: Iterable[str]) -> dict[str, list[str]]:
    """Of those stories that are not the same in both worlds.

    What takes a processor is done before and after: while it lasts nobody would answer a server that waits.
    """
    found = [stories.load(name) for name in names]
    expected = [simulated.play(story) for story in found]
    lived = live(plane, [(story, history.end) for story, history in zip(found, expected, strict=True)])
    compared = {
        story.name: differences(one, other) for story, one, other in zip(found, expected, lived, strict=True)
    }
    return {name: said for name, said in compared.items() if said}


def live(plane: ControlPlane, played: Sequence[tuple[Story, Instant]]) -> list[History]:
    """Each story up to an instant."""

    async def all_of_them() -> list[History]:
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(story: Story, end: Instant) -> History:
            async with turns:
                return await _lived(plane, story, end)

        return await asyncio.gather(*(one(story, end) for story, end in played))

    return asyncio.run(all_of_them())


async def _lived(plane: ControlPlane, story: Story, end: Instant) -> History:
    namespace = f"world-{uuid.uuid4().hex[:10]}"
    await kube.make_namespace(plane, namespace)
    try:
        return await LiveWorld(plane, story, namespace).play(end)
    finally:
        await _leave(plane, namespace)


async def _leave(plane: ControlPlane, namespace: str) -> None:
    """Nobody would ever end the pods that nodes leave alone, and they take room."""
    async with plane.client() as client:
        await client.ask("DELETE", PODS.path(namespace), document={"gracePeriodSeconds": 0})
    await kube.delete_namespace(plane, namespace)
