"""The server's side: which process a question goes to, whose turn it is, and what happens if no answer comes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec

from headgate.api.aside import frames, process
from headgate.api.aside.turns import Bounds, Requester, Turns
from headgate.api.http.calls import Answer, Lane, Request
from headgate.api.http.problems import unavailable

_log = logging.getLogger("headgate.aside")
_WINDOW_BYTES = 1024 * 1024


class LaneSettings(msgspec.Struct, frozen=True):
    bounds: Bounds
    longest_seconds: float
    """Then the process is ended: whatever it does, it has done for long enough."""
    ends_when_left: bool = False
    """The process is ended too when whoever asked hangs up: what it does cannot be stopped otherwise."""
    most_bytes: int | None = None
    """What the process may take of the machine's memory."""


LANES: dict[Lane, LaneSettings] = {
    "lists": LaneSettings(Bounds(4, 2, 128, 32, 30.0), 30.0),
    "plans": LaneSettings(Bounds(2, 1, 16, 4, 60.0), 120.0),
    "history": LaneSettings(Bounds(2, 1, 32, 8, 60.0), 60.0),
    "bodies": LaneSettings(Bounds(2, 1, 16, 4, 60.0), 120.0),
    "clusters": LaneSettings(Bounds(4, 2, 32, 8, 30.0), 60.0),
    "simulations": LaneSettings(Bounds(1, 1, 16, 4, 60.0), 30.0, ends_when_left=True, most_bytes=4 * 1024**3),
}


class AsideProcesses:
    """All lanes of a server. A process is begun when it is needed, and again after it has ended."""

    def __init__(self, database: str, allowed_clusters: Sequence[str] | None = ()) -> None:
        """`allowed_clusters` as for agents: None are all that the server can reach."""
        environment = {
            process.DATABASE: database,
            process.CLUSTERS: msgspec.json.encode(allowed_clusters).decode(),
        }
        self._lanes = {name: _Lane(name, settings, environment) for name, settings in LANES.items()}

    def check(self, lane: Lane, workspace: str, user: str) -> None:
        self._lanes[lane].turns.check(Requester(workspace, user))

    async def answer(self, lane: Lane, work: str, call: Request) -> Answer:
        """What the route's handler answers there, a refusal included."""
        last: frames.FramePart | None = None
        async for part in self.parts(lane, work, call):
            last = part
        assert last is not None
        return Answer(last.status, last.body, last.headers, last.media_type)

    async def parts(self, lane: Lane, work: str, call: Request) -> AsyncIterator[frames.FramePart]:
        lane_process = self._lanes[lane]
        async with lane_process.turns.turn(Requester(call.workspace, call.principal.user)):
            async for part in lane_process.ask(_question(work, call)):
                yield part

    async def close(self) -> None:
        for lane in self._lanes.values():
            await lane.end()


def _question(work: str, call: Request) -> frames.Question:
    principal = call.principal
    return frames.Question(
        id=0,
        work=work,
        workspace=call.workspace,
        user=principal.user,
        grants={workspace: sorted(granted) for workspace, granted in principal.grants.items()},
        agents=sorted(principal.agents),
        roles=list(principal.roles_in(call.workspace)),
        path=call.path,
        query=call.query,
        headers={
            name: value for name, value in call.headers.items() if name not in ("authorization", "cookie")
        },
        request_id=call.request_id,
        raw_body=call.raw_body,
    )


class _Lane:
    def __init__(self, name: str, settings: LaneSettings, environment: Mapping[str, str]) -> None:
        self._name = name
        self._settings = settings
        limit = {} if settings.most_bytes is None else {process.MOST_BYTES: str(settings.most_bytes)}
        self._environment = {**environment, **limit}
        self._numbers = itertools.count(1)
        self._process: _Process | None = None
        self._begins = asyncio.Lock()
        self.turns = Turns(settings.bounds)

    async def ask(self, question: frames.Question) -> AsyncIterator[frames.FramePart]:
        numbered = msgspec.structs.replace(question, id=next(self._numbers))
        seconds = self._settings.longest_seconds
        process = await self._running()
        is_left = self._settings.ends_when_left
        try:
            async with asyncio.timeout(seconds):
                async for part in process.ask(numbered):
                    is_left = is_left and not part.is_last
                    yield part
        except TimeoutError:
            is_left = False
            _log.warning("%s took more than %g seconds; its process is ended", question.work, seconds)
            await self.end()
            raise unavailable(f"it took more than {seconds:g} seconds; ask for less at once") from None
        finally:
            if is_left:
                await self.end()

    async def _running(self) -> _Process:
        async with self._begins:
            if self._process is None or self._process.has_ended:
                self._process = await _Process.begin(self._name, self._environment)
            return self._process

    async def end(self) -> None:
        lane_process, self._process = self._process, None
        if lane_process is not None:
            await lane_process.end()


class _Process:
    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._asked: dict[int, asyncio.Queue[frames.FramePart | None]] = {}
        self._door = asyncio.Lock()
        self.has_ended = False
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def begin(cls, name: str, environment: Mapping[str, str]) -> _Process:
        ours, theirs = socket.socketpair()
        try:
            begun = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                process.__name__,
                str(theirs.fileno()),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={**os.environ, **environment},
            )
        except OSError as error:
            ours.close()
            _log.error("the process for %s cannot be begun: %s", name, error)
            raise unavailable("a process for this request cannot be begun") from None
        finally:
            theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours, limit=_WINDOW_BYTES)
        return cls(begun, reader, writer)

    async def ask(self, question: frames.Question) -> AsyncIterator[frames.FramePart]:
        parts: asyncio.Queue[frames.FramePart | None] = asyncio.Queue()
        self._asked[question.id] = parts
        is_over = False
        try:
            await self._send(question)
            while True:
                part = None if self.has_ended and parts.empty() else await parts.get()
                is_over = part is None or part.is_last
                if part is None:
                    raise unavailable("the process that worked on this has ended; try again")
                yield part
                if part.is_last:
                    return
        finally:
            del self._asked[question.id]
            if not is_over and not self.has_ended:
                await self._send(frames.Question(question.id, frames.NEVER_MIND, "", "", {}))

    async def _send(self, question: frames.Question) -> None:
        with contextlib.suppress(ConnectionError):
            async with self._door:
                await frames.write(self._writer, question)

    async def _listen(self) -> None:
        while (frame := await frames.read(self._reader)) is not None:
            part = frames.read_part(frame)
            waiting = self._asked.get(part.id)
            if waiting is not None:
                waiting.put_nowait(part)
        self.has_ended = True
        for waiting in self._asked.values():
            waiting.put_nowait(None)

    async def end(self) -> None:
        self.has_ended = True
        self._writer.close()
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        await self._listening
