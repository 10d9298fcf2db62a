"""The process itself: a store and a worker that only follows, and the same handlers as everywhere.

`python -m headgate.api.aside.process DESCRIPTOR`; the database is named in the environment, where others do not see it.
It ends when the server that began it does.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import resource
import signal
import socket
import sys
from functools import partial
from typing import Any

import msgspec

from headgate.agents.clusters import Clusters
from headgate.api.aside import frames, pieces
from headgate.api.clusters.connected_clusters import ConnectedClusters
from headgate.api.http import problems, reading, replies
from headgate.api.http.calls import Answer, Principal, Request, Route, Service
from headgate.api.http.reading import BodyLimits
from headgate.api.levels_below import ClusterLevels, looking
from headgate.api.routes import ALL
from headgate.runtime import holders
from headgate.runtime.wiring import WorkerClient
from headgate.runtime.worker import Worker, WorkerSettings, wall_clock
from headgate.store.sql.opening import open_store

DATABASE = "HEADGATE_ASIDE_DATABASE"
CLUSTERS = "HEADGATE_ASIDE_CLUSTERS"
"""Which may be asked, as JSON; null for all."""
MOST_BYTES = "HEADGATE_ASIDE_BYTES"
NICENESS = 5
"""What is decided and stored comes before what is asked."""
_log = logging.getLogger("headgate.aside")


class Answering:
    def __init__(self, service: Service, writer: asyncio.StreamWriter) -> None:
        self._service = service
        self._writer = writer
        self._routes: dict[str, Route] = {route.operation: route for route in ALL}
        self._limits = BodyLimits()
        self._door = asyncio.Lock()

    async def answer(self, question: frames.Question) -> None:
        try:
            if question.work in pieces.ALL:
                send = partial(self._send_part, question.id)
                answer = await pieces.ALL[question.work](_call(self._service, question, None), send)
            else:
                answer = await self._asked(question)
        except Exception as error:
            refusal = problems.refusal_for(error)
            if refusal is None:
                _log.exception("%s failed, request %s", question.work, question.request_id)
                refusal = problems.unexpected(question.request_id)
            answer = replies.of_refusal(refusal, question.request_id)
        await self._send(
            frames.FramePart(question.id, answer.status, answer.document, answer.headers, answer.media_type)
        )

    async def _send_part(self, id_: int, body: bytes) -> None:
        await self._send(frames.FramePart(id_, 200, body, is_last=False))

    async def _send(self, part: frames.FramePart) -> None:
        async with self._door:
            await frames.write(self._writer, part)

    async def _asked(self, question: frames.Question) -> Answer:
        route = self._routes[question.work]
        body = None
        if question.raw_body and not route.reads_body and reading.is_json(_media_type(question)):
            body = await asyncio.to_thread(reading.parse_document, question.raw_body, self._limits)
        answer = await route.handler(_call(self._service, question, body))
        return await asyncio.to_thread(replies.encoded, answer)


class _OnlyLooking(WorkerClient):
    """Whatever is asked of this process, it changes nothing."""

    async def submit(self, *given: Any, **named: Any) -> Any:
        raise AssertionError("changes are made by the server, not beside it")


def _media_type(question: frames.Question) -> str:
    """The server has checked it."""
    return question.headers.get("content-type", "").partition(";")[0].strip().lower()


def _call(service: Service, question: frames.Question, body: object) -> Request:
    grants = {workspace: frozenset(granted) for workspace, granted in question.grants.items()}
    roles = {question.workspace: frozenset(question.roles)}
    principal = Principal(question.user, grants, frozenset(question.agents), roles)
    return Request(
        service=service,
        principal=principal,
        workspace=question.workspace,
        path=question.path,
        query=question.query,
        body=body,
        headers=question.headers,
        request_id=question.request_id,
        raw_body=question.raw_body,
    )


async def serve(descriptor: int, database: str, allowed_clusters: list[str] | None) -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor))
    store = open_store(database)
    worker = Worker(store, WorkerSettings(f"{holders.this_process()}-aside", decides=False))
    worker.start()
    clusters = Clusters(allowed_clusters)
    service = Service(
        worker_client=_OnlyLooking(worker),
        store=store,
        clock=wall_clock,
        levels=ClusterLevels(clusters, looking(wall_clock)),
        clusters=ConnectedClusters(clusters, wall_clock),
    )
    answering = Answering(service, writer)
    tasks: dict[int, asyncio.Task[None]] = {}
    while (frame := await frames.read(reader)) is not None:
        question = frames.read_question(frame)
        if question.work == frames.NEVER_MIND:
            if question.id in tasks:
                tasks[question.id].cancel()
            continue
        task = tasks[question.id] = asyncio.create_task(answering.answer(question))
        task.add_done_callback(partial(_forget, tasks, question.id))


def _forget(tasks: dict[int, asyncio.Task[None]], id_: int, task: asyncio.Task[None]) -> None:
    del tasks[id_]


def main(descriptor: str) -> None:
    """Whatever it is doing when nobody listens any more is not worth finishing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    logging.basicConfig(level="WARNING", format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    _limit_memory(os.environ.pop(MOST_BYTES, None))
    allowed = msgspec.json.decode(os.environ.pop(CLUSTERS, "[]"), type=list[str] | None)
    asyncio.run(_until_alone(int(descriptor), os.environ.pop(DATABASE), allowed))


def _limit_memory(most_bytes: str | None) -> None:
    """What takes more fails here, instead of somebody else's process."""
    if most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_AS, (int(most_bytes), int(most_bytes)))


async def _until_alone(descriptor: int, database: str, allowed_clusters: list[str] | None) -> None:
    await serve(descriptor, database, allowed_clusters)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
