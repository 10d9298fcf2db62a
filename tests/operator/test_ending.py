"""Tasks that end other tasks can be ended themselves."""

from __future__ import annotations

import asyncio
import contextlib

from headgate.operator.running import ending


async def _slow_to_end(turns: int = 5) -> None:
    """As a watch is, which closes its connection first."""
    try:
        await asyncio.Event().wait()
    finally:
        for _ in range(turns):
            await asyncio.sleep(0)


def test_who_waits_for_the_end_of_a_task_stops_when_asked_to() -> None:
    """An operator that stops to watch a kind at the moment of a TERM signal went on for ever."""

    async def story() -> None:
        watch = asyncio.create_task(_slow_to_end())
        await asyncio.sleep(0)

        async def stop_and_go_on() -> None:
            await ending.end([watch])
            await asyncio.Event().wait()

        waiter = asyncio.create_task(stop_and_go_on())
        await asyncio.sleep(0)
        waiter.cancel()
        await asyncio.wait([waiter], timeout=5)
        assert waiter.cancelled()
        with contextlib.suppress(asyncio.CancelledError):
            await watch

    asyncio.run(story())


def test_all_of_them_are_over_whatever_they_raise() -> None:
    async def fail() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("not this way")

    async def story() -> None:
        tasks = [asyncio.create_task(_slow_to_end()), asyncio.create_task(fail())]
        await asyncio.sleep(0)
        await ending.end(tasks)
        assert all(task.done() for task in tasks)
        await ending.end([])

    asyncio.run(story())
