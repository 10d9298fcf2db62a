"""Whose turn it is: few at once, callers and workspaces in turn, and a bound on how many wait."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from headgate.api.http.problems import busy, unavailable


class Bounds(msgspec.Struct, frozen=True):
    """How many are served at once, in all and of one caller; how many may wait for that, and for how long."""

    at_once: int
    at_once_each: int
    waiting: int
    waiting_each: int
    longest_wait_seconds: float


class Requester(msgspec.Struct, frozen=True):
    workspace: str
    user: str


class _Waiting(msgspec.Struct, eq=False):
    client: Requester
    number: int
    turn: asyncio.Future[None]


class Turns:
    """Whoever was served longest ago is next: first of workspaces, then of callers. A flood stands in its own way only."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._waiting: list[_Waiting] = []
        self._running: Counter[Requester] = Counter()
        self._served: dict[str | Requester, int] = {}
        self._number = 0

    @asynccontextmanager
    async def turn(self, client: Requester) -> AsyncIterator[None]:
        await self._wait(client)
        try:
            yield
        finally:
            self._running[client] -= 1
            self._running += Counter()
            self._admit()

    def check(self, client: Requester) -> None:
        """Refuses whoever could not even wait."""
        bounds = self._bounds
        of_client = sum(one.client == client for one in self._waiting)
        if of_client >= bounds.waiting_each:
            raise busy(f"{of_client} requests of {client.user} wait for their turn already")
        if len(self._waiting) >= bounds.waiting:
            raise unavailable(f"{len(self._waiting)} requests wait for their turn already")

    async def _wait(self, client: Requester) -> None:
        self.check(client)
        self._number += 1
        waiting = _Waiting(client, self._number, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._admit()
        try:
            async with asyncio.timeout(self._bounds.longest_wait_seconds):
                await waiting.turn
        except BaseException as error:
            self._give_up(waiting)
            if isinstance(error, TimeoutError):
                raise unavailable("others of this kind take long; its turn did not come") from None
            raise

    def _give_up(self, waiting: _Waiting) -> None:
        """Its turn may have come in the same moment."""
        if waiting in self._waiting:
            self._waiting.remove(waiting)
        elif waiting.turn.done() and not waiting.turn.cancelled():
            self._running[waiting.client] -= 1
        self._admit()

    def _admit(self) -> None:
        while self._running.total() < self._bounds.at_once:
            allowed = [one for one in self._waiting if self._running[one.client] < self._bounds.at_once_each]
            if not allowed:
                return
            following = min(allowed, key=self._place)
            self._waiting.remove(following)
            if following.turn.done():
                continue
            self._running[following.client] += 1
            self._remember(following.client)
            following.turn.set_result(None)

    def _place(self, waiting: _Waiting) -> tuple[int, int, int]:
        client = waiting.client
        return self._served.get(client.workspace, 0), self._served.get(client, 0), waiting.number

    def _remember(self, client: Requester) -> None:
        """Those who have nothing to wait for any more are forgotten."""
        self._number += 1
        self._served[client.workspace] = self._served[client] = self._number
        if len(self._served) > 4 * (self._bounds.waiting + self._bounds.at_once):
            here = {one.client for one in self._waiting} | {*self._running}
            kept = here | {one.workspace for one in here}
            self._served = {key: number for key, number in self._served.items() if key in kept}
