"""A server that answers as it is told, for what a real API server does not do on demand: fail, dawdle, talk nonsense."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from agents.support import serving
from headgate.kernel.backoffs import Backoff
from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.client import Client
from headgate.kubernetes.identities import ApiIdentity, FixedIdentity, IdentitySource
from headgate.kubernetes.transport import Transport

Answering = Callable[[web.BaseRequest], web.StreamResponse | Awaitable[web.StreamResponse]]


def says(status: int, document: Any = None, **headers: str) -> Answering:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    if isinstance(document, str):
        return lambda request: web.Response(status=status, text=document, headers=names)
    return lambda request: web.json_response(document, status=status, headers=names)


class Imitation:
    """Remembers every request. The last answer repeats; `waits` are the pauses that its client made."""

    def __init__(self, *answers: Answering) -> None:
        self.answers = list(answers)
        self.requests: list[web.BaseRequest] = []
        self.waits: list[float] = []

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        given = answer(request)
        return await given if isinstance(given, Awaitable) else given

    @asynccontextmanager
    async def client(self, identities: IdentitySource | None = None) -> AsyncIterator[Client]:
        async def wait(seconds: float) -> None:
            self.waits.append(seconds)

        async with serving(self) as url:
            access = ClusterAccess(url, identities or FixedIdentity(ApiIdentity("token")))
            backoff = Backoff(first_seconds=1.0, chance=lambda: 1.0)
            async with Client(Transport(access, backoff=backoff, sleep=wait)) as client:
                yield client
