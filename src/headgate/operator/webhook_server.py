"""Serves admission over TLS. It bounds what it reads and how long it waits, and says nothing of its inside.

Judgements are made on the loop, one after another: each takes milliseconds. Bodies are read in places of their own, of
which the slowest reader loses its one to whoever comes next: API servers send theirs at once, and nobody can keep them
out by sending slowly.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

from aiohttp import web

from headgate.operator import admission
from headgate.operator.certificates import Certificates

PATHS: dict[str, admission.Stage] = {"/default": admission.DEFAULTING, "/validate": admission.VALIDATING}
LARGEST_BODY_BYTES = 8 * 1024 * 1024
"""The old object and the new one, of which an API server stores 1.5 MB at most, and room."""
BODY_TIMEOUT_SECONDS = 5.0
FACTS_TIMEOUT_SECONDS = 4.0
"""With the body's within the ten seconds that API servers wait."""
MOST_AT_ONCE = 64
"""Reviews that are judged, the wait for what they are judged beside included."""
MOST_READ_AT_ONCE = 32
"""Bodies. All of them at their largest are a quarter of what a pod of the manifests may have."""
_KEEP_ALIVE_SECONDS = 75.0

_log = logging.getLogger(__name__)

Around = Callable[[object], Awaitable[admission.Surroundings]]
"""Given a review as it came, what it is to be judged beside."""
Outcome = Literal["allowed", "refused", "failed"]
Counted = Callable[[admission.Stage, Outcome, float], None]
"""Told of each answer, what became of the review, and how many seconds that took; of a failure no verdict came."""


def tls_context(certificates: Certificates) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    load(context, certificates)
    return context


def load(context: ssl.SSLContext, certificates: Certificates) -> None:
    """From now on new connections see these. The standard library reads them from files alone; they do not outlive
    this call."""
    with tempfile.TemporaryDirectory(prefix="headgate-") as folder:
        certificate, key = Path(folder, "tls.crt"), Path(folder, "tls.key")
        certificate.write_bytes(certificates.server.certificate)
        key.touch(mode=0o600)
        key.write_bytes(certificates.server.key)
        context.load_cert_chain(certificate, key)


class WebhookServer:
    def __init__(self, around: Around, certificates: Certificates, counted: Counted | None = None) -> None:
        self._around = around
        self._counted = counted
        self._context = tls_context(certificates)
        self._runner: web.AppRunner | None = None
        self._at_once = 0
        self._reading: dict[asyncio.Timeout, None] = {}
        """Of those whose body is on its way, the one that began first at the front."""

    def use(self, certificates: Certificates) -> None:
        """After a renewal, without a restart."""
        load(self._context, certificates)

    async def start(self, host: str, port: int) -> int:
        """The port that is listened on; 0 takes a free one."""
        application = web.Application(client_max_size=LARGEST_BODY_BYTES)
        for path in PATHS:
            application.router.add_post(path, self._answer)
        self._runner = web.AppRunner(
            application,
            access_log=None,
            keepalive_timeout=_KEEP_ALIVE_SECONDS,
            handle_signals=False,
            shutdown_timeout=5.0,
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port, ssl_context=self._context)
        await site.start()
        address: tuple[Any, ...] = self._runner.addresses[0]
        return int(address[1])

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _answer(self, request: web.Request) -> web.Response:
        began = time.monotonic()
        answer, outcome = await self._read_and_judged(request)
        if self._counted is not None:
            self._counted(PATHS[request.path], outcome, time.monotonic() - began)
        return answer

    async def _read_and_judged(self, request: web.Request) -> tuple[web.Response, Outcome]:
        try:
            body = await self._body(request)
        except TimeoutError:
            return _refusal(408, f"the body did not arrive within {BODY_TIMEOUT_SECONDS:g}s"), "failed"
        except web.HTTPRequestEntityTooLarge:
            return _refusal(413, f"the body is larger than {LARGEST_BODY_BYTES} bytes"), "failed"
        if self._at_once >= MOST_AT_ONCE:
            return _refusal(503, "too many reviews at once"), "failed"
        self._at_once += 1
        try:
            return await self._judged(PATHS[request.path], body)
        finally:
            self._at_once -= 1

    async def _body(self, request: web.Request) -> bytes:
        """Raises TimeoutError when it does not come in time, or when others need the place."""
        if len(self._reading) >= MOST_READ_AT_ONCE:
            slowest = next(iter(self._reading))
            del self._reading[slowest]
            slowest.reschedule(asyncio.get_running_loop().time())
        async with asyncio.timeout(BODY_TIMEOUT_SECONDS) as patience:
            self._reading[patience] = None
            try:
                return await request.read()
            finally:
                self._reading.pop(patience, None)

    async def _judged(self, stage: admission.Stage, body: bytes) -> tuple[web.Response, Outcome]:
        try:
            review = json.loads(body)
        except (ValueError, RecursionError):
            return _refusal(400, "the body must be JSON"), "failed"
        try:
            async with asyncio.timeout(FACTS_TIMEOUT_SECONDS):
                around = await self._around(review)
            answer = admission.answer(review, stage, around)
        except admission.Malformed as malformed:
            return _refusal(400, str(malformed)), "failed"
        except Exception:
            # The API server hears that it failed, and the log why: a traceback is nobody's business there.
            _log.exception("a review could not be answered")
            return _refusal(
                500, "the review could not be answered; the log of the operator says why"
            ), "failed"
        return web.json_response(answer), "allowed" if answer["response"]["allowed"] else "refused"


def _refusal(status: int, message: str) -> web.Response:
    return web.Response(status=status, text=f"{message}\n")
