"""Stories played in both worlds, several at once."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterable

import kube
from headgate.kubernetes.resources import PODS
from kube import ControlPlane

from . import simulated, stories
from .comparing import differences
from .history import History
from .live import LiveWorld
from .stories import Story

AT_ONCE = 6
Edit = Callable[[Story], Story]


async def both(
    plane: ControlPlane, story: Story, edit: Edit = lambda story: story
) -> tuple[History, History]:
    """The simulated history and the live one, the latter of the story as it was edited."""
    expected = simulated.play(story)
    namespace = f"world-{uuid.uuid4().hex[:10]}"
    await kube.make_namespace(plane, namespace)
    try:
        return expected, await LiveWorld(plane, edit(story), namespace).play(expected.end)
    finally:
        await _leave(plane, namespace)


async def _leave(plane: ControlPlane, namespace: str) -> None:
    """Nobody would ever end the pods that nodes leave alone, and they take room."""
    async with plane.client() as client:
        await client.ask("DELETE", PODS.path(namespace), document={"gracePeriodSeconds": 0})
    await kube.delete_namespace(plane, namespace)


async def differences_of(
    plane: ControlPlane, names: Iterable[str], at_once: int = AT_ONCE
) -> dict[str, list[str]]:
    """Of those stories that are not the same in both worlds."""
    turns = asyncio.Semaphore(at_once)

    async def one(name: str) -> tuple[str, list[str]]:
        async with turns:
            expected, found = await both(plane, stories.load(name))
            return name, differences(expected, found)

    return {name: found for name, found in await asyncio.gather(*map(one, names)) if found}
