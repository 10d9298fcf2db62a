"""What connected clusters hold, told again whenever it has become otherwise.

A cluster tells this server nothing by itself, so it is asked while somebody looks: now and then, aside as every other
question about it, and only a different answer is sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec

from headgate.api.documents import cluster_views
from headgate.api.http import problems, replies, sse
from headgate.api.http.calls import Answer, Parameter, Refusal, Request, Route
from headgate.api.http.schemas import PageSchema
from headgate.api.routes import levels
from headgate.kernel.problems import Problem, Rejected

POLL_SECONDS = 3.0
LARGEST_PAGE = 1_000
Look = Callable[[Request], Awaitable[Answer]]
_LISTS: dict[str, tuple[str, Look]] = {
    "clusters": ("listClusters", levels.list_clusters),
    "workloads": ("listWorkloads", levels.list_workloads),
    "graphs": ("listGraphs", levels.list_graphs),
}
_ONE: dict[str, tuple[str, Look]] = {
    "workload": ("getWorkload", levels.get_workload),
    "graph": ("getGraph", levels.get_graph),
}


async def follow(call: Request) -> Answer:
    given = {name: str(call.query[name]) for name in ("list", *_ONE) if call.query.get(name)}
    if len(given) > 1:
        raise Rejected(
            [Problem("list", f"is given beside {', '.join(list(given)[1:])}; allowed is one of them")]
        )
    ((name, value),) = given.items() or [("list", "clusters")]
    operation, look = _LISTS[value] if name == "list" else _ONE[name]
    query: dict[str, Any] = {"limit": LARGEST_PAGE} if name == "list" else {}
    path = {} if name == "list" else {name: value}
    asked = msgspec.structs.replace(call, path=path, query=query)
    if "application/json" in call.headers.get("accept", ""):
        return await _look(asked, operation, look)
    return Answer(200, stream=_stream(asked, operation, look), media_type="text/event-stream")


async def _stream(call: Request, operation: str, look: Look) -> AsyncIterator[bytes]:
    """Until the client has to come back with its token."""
    ends = time.monotonic() + sse.LONGEST_STREAM_SECONDS
    yield sse.RETRY
    sent_last, number, spoke_at = b"", 0, time.monotonic()
    while time.monotonic() < ends:
        kind, body = await _looked(call, operation, look)
        if kind + body != sent_last:
            sent_last, number, spoke_at = kind + body, number + 1, time.monotonic()
            yield sse.written(number, kind.decode(), body)
        elif time.monotonic() - spoke_at >= sse.HEARTBEAT_SECONDS:
            yield sse.STILL_HERE
            spoke_at = time.monotonic()
        await asyncio.sleep(POLL_SECONDS)


async def _look(call: Request, operation: str, look: Look) -> Answer:
    aside = call.service.aside
    return await (look(call) if aside is None else aside.answer("clusters", operation, call))


async def _looked(call: Request, operation: str, look: Look) -> tuple[bytes, bytes]:
    """The answer that a question would get now, or the refusal: a cluster that is away comes back."""
    try:
        answer = await _look(call, operation, look)
    except Exception as error:
        refusal = problems.refusal_for(error)
        if refusal is None:
            raise
        return b"trouble", _trouble(refusal)
    body = replies.encoded(answer).document
    if answer.status != 200:
        return b"trouble", body
    return b"seen", body


def _trouble(refusal: Refusal) -> bytes:
    return msgspec.json.encode({"status": refusal.status, "title": refusal.title, "detail": refusal.detail})


ROUTES = (
    Route(
        "GET", "/v1/clusters/follow", "followClusters", "Follow what connected clusters hold",
        follow, "read", "clusters", {200: PageSchema(cluster_views.ConnectedClusterView)},
        query=(
            Parameter("list", {"type": "string", "enum": [*_LISTS]}, "The list of these; of clusters if nothing is given."),
            Parameter("workload", {"type": "string"}, "This one, by its id."),
            Parameter("graph", {"type": "string"}, "This one, by its id."),
        ),
        media_type="text/event-stream", streams=True, problems=(422,), lane="clusters",
        description=(
            "Server-sent events, for one of `list`, `workload` and `graph`; with `Accept: application/json` it answers once. `event: seen` has what `GET` of it answers, at "
            f"first and whenever that is otherwise, which is looked for every {POLL_SECONDS:g} seconds while somebody "
            "follows; `event: trouble` has the problem if there is one. Of a list the first "
            f"{LARGEST_PAGE:,} are followed."
        ),
    ),
)  # fmt: skip
