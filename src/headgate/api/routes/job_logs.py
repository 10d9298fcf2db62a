"""What jobs print: agents hand it in while they run them, people read it page by page or as it comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from headgate.agents import credentials, log_lines
from headgate.api.documents import bodies, rollout_views
from headgate.api.http import refusals, sse
from headgate.api.http.calls import Answer, Parameter, Refusal, Request, Route
from headgate.api.routes import claims, jobs
from headgate.kernel import documents, rendering
from headgate.kernel.problems import Problem, Rejected
from headgate.store.job_lines import MOST_BYTES, MOST_LINES, JobLines

LARGEST_PAGE = 5_000
DEFAULT_PAGE = 1_000
MOST_PAGE_BYTES = 1024 * 1024
POLL_SECONDS = (0.1, 0.2, 0.5, 1.0)
"""Lines may come by another process, which tells only by writing."""
_READERS = ThreadPoolExecutor(2, thread_name_prefix="headgate-logs")
"""Few, and for nothing else: those who follow keep each other waiting, and nobody else."""


async def append(call: Request) -> Answer:
    given = documents.read(bodies.JobLinesInput, call.body)
    size = sum(len(line.encode()) for line in given.lines)
    if size > log_lines.MOST_BYTES_AT_ONCE:
        most = f"allowed are {log_lines.MOST_BYTES_AT_ONCE:,} in one request"
        raise Rejected((Problem("lines", f"have {size:,} bytes; {most}"),))
    order = await claims.claimed_dispatch(call)
    if order is None:
        job = await jobs.stored(call)
        jobs.check_agent(call, job)
        raise refusals.conflict(
            "The job is not claimed", f"job {job.id} is {job.status}, and no pull agent has it"
        )
    claims.check_claim(call, order, given.token)
    document: dict[str, Any] = msgspec.json.decode(order.document)
    lines = log_lines.kept(given.lines, credentials.scrubber_of(document))
    piece = JobLines(call.workspace, order.job, call.service.clock(), lines, given.offset)
    end = await asyncio.to_thread(call.service.store.append_job_lines, piece, given.token)
    if end is None:
        raise claims.lost(order.job)
    return Answer(200, {"nextOffset": end.lines, "isFull": end.is_full})


async def read(call: Request) -> Answer:
    offset = sse.last_event_id(call)
    offset = int(call.query.get("offset") or 0) if offset is None else offset
    if call.query.get("follow"):
        await jobs.stored(call)
        return Answer(200, stream=_stream(call, offset), media_type="text/event-stream")
    limit = int(call.query.get("limit") or DEFAULT_PAGE)
    return Answer(200, await asyncio.to_thread(_page, call, offset, limit))


def _page(call: Request, offset: int, limit: int) -> dict[str, Any]:
    """Whether the job has ended is asked first: then all its lines are there."""
    store = call.service.store
    row = store.job(call.workspace, call.path["job"])
    if row is None:
        raise refusals.not_found("job", call.path["job"])
    job = jobs.from_row(row)
    items: list[dict[str, Any]] = []
    size, line = 0, offset
    for at, texts in store.job_lines(call.workspace, job.id, offset, limit):
        for text in texts:
            if len(items) < limit and size < MOST_PAGE_BYTES:
                items.append({"line": line, "at": rendering.render(at), "text": text})
                line, size = line + 1, size + len(text)
    end = store.job_log_end(call.workspace, job.id)
    return {
        "items": items,
        "nextOffset": line,
        "hasEnded": job.completed_at is not None and line >= end.lines,
        "isFull": end.is_full,
    }


async def _stream(call: Request, offset: int) -> AsyncIterator[bytes]:
    """Until the job has ended and all is said, or the client has to come back with its token."""
    ends = time.monotonic() + sse.LONGEST_STREAM_SECONDS
    yield sse.RETRY
    spoke_at, looks = time.monotonic(), 0
    while time.monotonic() < ends:
        try:
            page = await asyncio.get_running_loop().run_in_executor(
                _READERS, _page, call, offset, DEFAULT_PAGE
            )
        except Refusal:  # the job is no longer kept
            return
        if page["items"] or page["hasEnded"]:
            yield sse.written(page["nextOffset"], "lines", msgspec.json.encode(page))
            spoke_at, looks, offset = time.monotonic(), 0, page["nextOffset"]
        elif time.monotonic() - spoke_at >= sse.HEARTBEAT_SECONDS:
            yield sse.STILL_HERE
            spoke_at = time.monotonic()
        if page["hasEnded"]:
            return
        await asyncio.sleep(POLL_SECONDS[min(looks, len(POLL_SECONDS) - 1)])
        looks += 1


ROUTES = (
    Route(
        "POST", "/v1/jobs/{job}/log", "appendJobLog", "Add lines to the log of a claimed job",
        append, "job:run", "jobs", {200: rollout_views.JobLineAdded},
        body=bodies.JobLinesInput, problems=(409, 422),
        description=(
            f"At most {log_lines.MOST_AT_ONCE:,} lines and {log_lines.MOST_BYTES_AT_ONCE:,} bytes at once, and "
            f"{MOST_LINES:,} lines and {MOST_BYTES:,} bytes of a job: what goes beyond is left out, and the answer says "
            "`isFull`. Only with the token of the claim. Secrets of the job's config are taken out, and lines of more "
            f"than {log_lines.LONGEST_LINE:,} characters are cut."
        ),
    ),
    Route(
        "GET", "/v1/jobs/{job}/log", "getJobLog", "Read or follow the log of a job",
        read, "read", "jobs", {200: rollout_views.JobLog},
        query=(
            Parameter("offset", {"type": "integer", "minimum": 0, "maximum": 1_000_000, "default": 0}, "From this line on; the first is 0."),
            Parameter(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": DEFAULT_PAGE},
                "So many lines; fewer if they are long.",
            ),
            Parameter("follow", {"type": "boolean", "default": False}, "As server-sent events, until the job has ended."),
        ),
        media_type="text/event-stream", streams=True,
        description=(
            "`nextOffset` is the `offset` of what comes next. Followed, each event `lines` has such a page, its `id` is "
            "`nextOffset`, and the header Last-Event-ID goes on there; after the page with `hasEnded` the stream ends."
        ),
    ),
)  # fmt: skip
