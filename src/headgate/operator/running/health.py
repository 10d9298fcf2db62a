"""Answers how the process is, to probes and to Prometheus: /healthz, /readyz, /metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aiohttp import web

from headgate.operator.running import meter
from headgate.operator.running.meter import OperatorMeter


class HealthServer:
    """`problems` says what keeps it from being ready, as sentences."""

    def __init__(self, figures: OperatorMeter, problems: Callable[[], list[str]]) -> None:
        self._meter = figures
        self._problems = problems
        self._runner: web.AppRunner | None = None

    async def start(self, host: str, port: int) -> int:
        """The port that is listened on; 0 takes a free one."""
        application = web.Application()
        application.router.add_get("/healthz", self._healthz)
        application.router.add_get("/readyz", self._readyz)
        application.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(application, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        address: tuple[Any, ...] = self._runner.addresses[0]
        return int(address[1])

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _healthz(self, _: web.Request) -> web.Response:
        """That it answers at all is the answer: the loop runs."""
        return web.Response(text="ok\n")

    async def _readyz(self, _: web.Request) -> web.Response:
        problems = self._problems()
        return web.Response(status=503 if problems else 200, text="\n".join(problems or ["ok"]) + "\n")

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(body=self._meter.text(), headers={"Content-Type": meter.MEDIA_TYPE})
