"""Few at once, in turn, and a bound on who waits."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from headgate.api.aside.turns import Bounds, Requester, Turns
from headgate.api.http.calls import Refusal

BOUNDS = Bounds(at_once=2, at_once_each=1, waiting=6, waiting_each=3, longest_wait_seconds=5)
ADA, BOB = Requester("shop", "ada"), Requester("shop", "bob")
ELSE = Requester("elsewhere", "eve")


class Served:
    """Who had their turn, in order; each turn lasts until it is ended."""

    def __init__(self, bounds: Bounds = BOUNDS) -> None:
        self.turns = Turns(bounds)
        self.order: list[str] = []
        self._ends: list[asyncio.Event] = []

    async def ask(self, client: Requester) -> None:
        async with self.turns.turn(client):
            self.order.append(client.user)
            end = asyncio.Event()
            self._ends.append(end)
            await end.wait()

    def begin(self, *clients: Requester) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self.ask(client)) for client in clients]

    async def end_one(self) -> None:
        self._ends.pop(0).set()
        await settle()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def run(test: Callable[[Served], Awaitable[None]], bounds: Bounds = BOUNDS) -> None:
    async def all_of_it() -> None:
        served = Served(bounds)
        await test(served)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    asyncio.run(all_of_it())


def test_a_caller_has_one_turn_at_a_time_and_leaves_the_other_place_to_others() -> None:
    async def test(served: Served) -> None:
        served.begin(ADA, ADA, ADA)
        await settle()
        assert served.order == ["ada"]
        served.begin(BOB)
        await settle()
        assert served.order == ["ada", "bob"]

    run(test)


def test_whoever_was_served_longest_ago_is_next_first_of_workspaces_then_of_callers() -> None:
    async def test(served: Served) -> None:
        served.begin(ADA, ADA, ADA, BOB, ELSE)
        for _ in range(4):
            await settle()
            await served.end_one()
        assert served.order == ["ada", "eve", "bob", "ada", "ada"]

    run(test, Bounds(1, 1, 10, 10, 5))


def test_more_than_may_wait_are_refused_with_a_time() -> None:
    async def test(served: Served) -> None:
        served.begin(ADA, ADA, ADA, ADA)
        await settle()
        with pytest.raises(Refusal) as refused:
            await served.ask(ADA)
        assert refused.value.status == 429
        served.begin(BOB, BOB, BOB, BOB)
        await settle()
        with pytest.raises(Refusal) as full:
            await served.ask(ELSE)
        assert full.value.status == 503

    run(test)


def test_whoever_stops_waiting_leaves_no_gap() -> None:
    async def test(served: Served) -> None:
        first, second, _ = served.begin(ADA, ADA, ADA)
        await settle()
        second.cancel()
        first.cancel()
        await settle()
        assert served.order == ["ada", "ada"]

    run(test)


def test_a_turn_that_does_not_come_in_time_is_refused() -> None:
    async def test(served: Served) -> None:
        served.begin(ADA)
        await settle()
        with pytest.raises(Refusal) as refused:
            await served.ask(ADA)
        assert refused.value.status == 503

    run(test, Bounds(1, 1, 5, 5, 0.01))
