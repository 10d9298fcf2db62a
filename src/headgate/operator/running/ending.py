"""How tasks are ended by others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any


async def end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancels them and waits until they are over, whatever they raise.

    They are waited for and not awaited: whoever waits may be cancelled meanwhile, and must not take that for the end of
    the tasks and go on as if nobody had asked it to stop.
    """
    waited_for = tuple(tasks)
    for task in waited_for:
        task.cancel()
    if not waited_for:
        return
    done, _ = await asyncio.wait(waited_for)
    for task in done:
        if not task.cancelled():
            task.exception()
