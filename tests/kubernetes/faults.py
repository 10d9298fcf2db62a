"""A proxy between the operator and a real API server that makes of some requests what a bad day makes of them.

Some never arrive, some arrive and are answered with something else, or with nothing; watches break. Faults come at random
and each of them in turn, so that none is left out; the same seed draws the same ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Literal

import aiohttp
from aiohttp import web
from yarl import URL

from agents.support import drop, serving
from headgate.kubernetes import kubeconfig
from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.client import Client
from headgate.kubernetes.transport import Transport
from kube import ControlPlane

Fault = Literal["conflict", "patience", "broken", "busy", "lost", "unanswered", "misanswered", "silent"]
OF_WRITES: tuple[Fault, ...] = (
    "conflict",
    "patience",
    "broken",
    "busy",
    "lost",
    "unanswered",
    "misanswered",
    "silent",
)
"""The first five never arrive. The last three have happened when the connection breaks, when a 504 is answered, and when
nothing is."""
OF_READS: tuple[Fault, ...] = ("patience", "broken", "busy", "lost")
_STATUSES: dict[str, tuple[int, str]] = {
    "conflict": (409, "Conflict"),
    "patience": (429, "TooManyRequests"),
    "broken": (500, "InternalError"),
    "busy": (503, "ServiceUnavailable"),
    "misanswered": (504, "Timeout"),
}
CUT = "cut"
"""What happens to a watch."""
_SHARE_OF_WRITES, _SHARE_OF_READS = 0.2, 0.1
_SHORTEST_WATCH_SECONDS, _LONGEST_WATCH_SECONDS = 0.1, 3.0
PATIENCE_SECONDS = 3.0
"""How long the client of the proxy waits for an answer."""
_OF_ONE_HOP = {"transfer-encoding", "content-length", "connection", "host", "content-encoding"}


Illness = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class FaultyProxy:
    """`counts` says how often each fault was dealt; `is_well` says that none is at random. Requests whose path has one of
    the words in `ill` are answered by what stands there, whatever they ask for."""

    def __init__(self, access: ClusterAccess, session: aiohttp.ClientSession, seed: int) -> None:
        self._access = access
        self._session = session
        self._chance = random.Random(seed)
        self._decks: dict[tuple[Fault, ...], list[Fault]] = {OF_WRITES: [], OF_READS: []}
        self.counts: Counter[str] = Counter()
        self.is_well = False
        self.ill: dict[str, Illness] = {}

    def has_dealt_all(self, times: int) -> bool:
        return all(self.counts[fault] >= times for fault in (*OF_WRITES, CUT))

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        for word, illness in self.ill.items():
            if word in request.path:
                return await illness(request)
        if "watch" in request.query:
            return await self._watched(request)
        is_read = request.method == "GET"
        fault = self._fault(
            OF_READS if is_read else OF_WRITES, _SHARE_OF_READS if is_read else _SHARE_OF_WRITES
        )
        if fault is None:
            return await self._forwarded(request)
        self.counts[fault] += 1
        if fault == "lost":
            return drop(request)
        if fault in ("unanswered", "misanswered", "silent"):
            await self._forwarded(request)
        if fault == "unanswered":
            return drop(request)
        if fault == "silent":
            await asyncio.sleep(PATIENCE_SECONDS * 2)
            return web.Response(status=504)
        return _status(fault)

    def _fault(self, faults: tuple[Fault, ...], share: float) -> Fault | None:
        if self.is_well or self._chance.random() >= share:
            return None
        deck = self._decks[faults]
        if not deck:
            deck.extend(self._chance.sample(faults, len(faults)))
        return deck.pop()

    async def _forwarded(self, request: web.BaseRequest) -> web.Response:
        body = await request.read()
        async with self._onward(request, body) as answer:
            return web.Response(status=answer.status, body=await answer.read(), headers=_kept(answer.headers))

    async def _watched(self, request: web.BaseRequest) -> web.StreamResponse:
        """Passed on piece by piece, until it is cut in the midst of one."""
        lasts = (
            None if self.is_well else self._chance.uniform(_SHORTEST_WATCH_SECONDS, _LONGEST_WATCH_SECONDS)
        )
        async with self._onward(request, b"") as answer:
            response = web.StreamResponse(status=answer.status, headers=_kept(answer.headers))
            await response.prepare(request)
            try:
                async with asyncio.timeout(lasts):
                    async for piece in answer.content.iter_any():
                        await response.write(piece)
            except TimeoutError:
                self.counts[CUT] += 1
                with contextlib.suppress(OSError):
                    await response.write(b'{"type":"MODIFIED","object":{"meta')
                drop(request)
            except (OSError, aiohttp.ClientError):
                drop(request)
            return response

    def _onward(self, request: web.BaseRequest, body: bytes) -> aiohttp.client._RequestContextManager:
        return self._session.request(
            request.method,
            URL(self._access.server + request.raw_path, encoded=True),
            data=body or None,
            headers=_kept(request.headers) | {"Accept-Encoding": "identity"},
            timeout=aiohttp.ClientTimeout(total=None),
        )


def _kept(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _OF_ONE_HOP}


def _status(fault: Fault) -> web.Response:
    code, reason = _STATUSES[fault]
    document = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": f"a fault of the test: {reason}",
        "reason": reason,
        "code": code,
    }
    headers = {"Retry-After": "1"} if fault == "patience" else {}
    return web.json_response(document, status=code, headers=headers)


@asynccontextmanager
async def faulty(plane: ControlPlane, seed: int) -> AsyncIterator[tuple[FaultyProxy, Client]]:
    """And a client that reaches the cluster through it alone."""
    access = kubeconfig.load(path=str(plane.kubeconfig), environ={})
    identity = await access.identities.identity()
    connector = aiohttp.TCPConnector(ssl=access.trust(identity.certificate), limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        proxy = FaultyProxy(access, session, seed)
        async with serving(proxy) as url:
            near = ClusterAccess(url, access.identities)
            async with Client(Transport(near), timeout_seconds=PATIENCE_SECONDS) as client:
                yield proxy, client
