"""What the service says about itself, to anybody: health, figures, the description of its API."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from headgate.api.http import metrics
from headgate.api.http.calls import Answer, Request, Route
from headgate.api.http.problems import unavailable
from headgate.store.port import UnavailableError

PING_SECONDS = 3.0

Ready = Callable[[], Sequence[str]]
"""What is wrong or missing, sentence by sentence; empty when requests can be answered."""

_HEALTH: dict[str, Any] = {
    "title": "Health",
    "type": "object",
    "properties": {"status": {"type": "string"}},
    "required": ["status"],
}
_DOCS_POLICY = "default-src 'none'; {styles}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


def routes(
    ready: Ready,
    figures: metrics.Metrics,
    openapi: Callable[[], bytes],
    docs: Callable[[], tuple[bytes, str]],
) -> tuple[Route, ...]:
    """`docs` gives the page and the hash of its style, the only one that a browser shall apply."""

    async def healthz(call: Request) -> Answer:
        return Answer(200, {"status": "alive"})

    async def readyz(call: Request) -> Answer:
        reasons = ready()
        if reasons:
            raise unavailable("; ".join(reasons))
        await _ping(call)
        return Answer(200, {"status": "ready"})

    async def metrics_page(call: Request) -> Answer:
        return Answer(200, figures.render(), media_type=metrics.MEDIA_TYPE)

    async def openapi_document(call: Request) -> Answer:
        return Answer(200, openapi())

    async def docs_page(call: Request) -> Answer:
        page, style_hash = docs()
        policy = _DOCS_POLICY.format(styles=f"style-src 'sha256-{style_hash}'")
        headers = {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}
        return Answer(200, page, headers, "text/html; charset=utf-8")

    return (
        _route("/healthz", "isAlive", "Whether the process answers.", healthz, _HEALTH),
        _route("/readyz", "isReady", "Whether requests can be answered.", readyz, _HEALTH, problems=(503,)),
        _route("/metrics", "getMetrics", "Figures for Prometheus.", metrics_page, media_type="text/plain"),
        _route("/openapi.json", "getOpenApi", "This description.", openapi_document, {"type": "object"}),
        _route("/docs", "getDocs", "This description for people.", docs_page, media_type="text/html"),
    )


async def _ping(call: Request) -> None:
    try:
        async with asyncio.timeout(PING_SECONDS):
            await asyncio.to_thread(call.service.store.ping)
    except TimeoutError:
        raise UnavailableError(f"the database did not answer within {PING_SECONDS:g} seconds") from None


def _route(
    path: str,
    operation: str,
    summary: str,
    handler: Any,
    answer: dict[str, Any] | None = None,
    *,
    media_type: str = "application/json",
    problems: tuple[int, ...] = (),
) -> Route:
    return Route(
        method="GET",
        path=path,
        operation=operation,
        summary=summary,
        handler=handler,
        permission=None,
        tag="service",
        answers={200: answer if answer is not None else {"type": "string"}},
        scope="service",
        problems=problems,
        media_type=media_type,
    )
