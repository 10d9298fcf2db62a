"""The time of a story on a real cluster: it moves when the story says so, and to the operator it is the server's too."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter, deque
from collections.abc import AsyncGenerator
from typing import Any

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.client import Client
from headgate.kubernetes.identities import ApiIdentity
from headgate.kubernetes.resources import ApiResource, Document
from headgate.kubernetes.transport import TIMEOUT_SECONDS, ApiRequest, Transport
from headgate.kubernetes.watching import WatchEvent

OPERATOR, STORY = "operator", "story"
"""Who writes, as the audit log has it."""
EVERYBODYS = ("CustomResourceDefinition", "ResourceGraphDefinition", "GraphRevision")
"""Kinds that a cluster has only one set of: several stories are in it at once."""
GONE = "gone"
"""Instead of a version, of what is not there any more."""
_STAMPS = ("creationTimestamp", "deletionTimestamp")


class StoryClock:
    """What is done between two moves of it was done at one instant, however long that took."""

    def __init__(self, start: Instant) -> None:
        self.now = start
        self._stamps: dict[tuple[str, str], str] = {}

    def __call__(self) -> Instant:
        return self.now

    def agent(self, who: str) -> str:
        """With the instant, so that the audit log tells of each write when it was in the story."""
        return f"{who}/{instants.show(self.now)}"

    def told(self, document: Document) -> Document:
        """An object, or a list of them, with the moments at which the story first saw it made and deleted."""
        for item in document.get("items") or ():
            self._told(item)
        self._told(document)
        return document

    def _told(self, document: Document) -> None:
        metadata = document.get("metadata")
        if not isinstance(metadata, dict) or "uid" not in metadata:
            return
        for name in _STAMPS:
            if name in metadata:
                metadata[name] = self._stamps.setdefault(
                    (metadata["uid"], name), instants.show_to_the_second(self.now)
                )


_AGENT = re.compile(r"^(operator|story)/(\S+)$")


def author(agent: str) -> tuple[str, Instant] | None:
    """Who wrote and when, by what the audit log knows of a request."""
    found = _AGENT.match(agent)
    return (found[1], instants.parse(found[2])) if found else None


class _Signed(Transport):
    """Its requests say who sends them, and when that is in the story."""

    def __init__(self, access: ClusterAccess, clock: StoryClock, who: str) -> None:
        super().__init__(access)
        self._clock = clock
        self._who = who

    def _headers(self, request: ApiRequest, identity: ApiIdentity) -> list[tuple[str, str]]:
        found = super()._headers(request, identity)
        agent = ("User-Agent", self._clock.agent(self._who))
        return [agent if name == "User-Agent" else (name, value) for name, value in found]


class News:
    """What watches have brought. It can be held back, so that what happens at one instant is heard of at once, as it is
    in a simulation."""

    def __init__(self) -> None:
        self._free = asyncio.Event()
        self._free.set()
        self._here: set[tuple[str, str]] = set()
        self.kinds: Counter[str] = Counter()
        """Of which kinds something is heard, by how many watches."""

    def hold(self) -> None:
        self._free.clear()
        self._here.clear()

    def release(self) -> None:
        self._free.set()

    def has(self, uid: str, version: str) -> bool:
        return (uid, version) in self._here

    def note(self, event: WatchEvent) -> None:
        uid = event.document["metadata"].get("uid")
        if uid is not None:
            self._here.add((uid, event.resource_version))
            if event.kind == "deleted":
                self._here.add((uid, GONE))

    async def allowed(self) -> None:
        await self._free.wait()


class StoryClient(Client):
    """To whom uses it, the server's time is the story's, and of definitions there are only those with its mark; of
    everything, if that is where no namespace tells stories apart."""

    def __init__(
        self,
        transport: Transport,
        clock: StoryClock,
        mark: str,
        news: News | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        *,
        is_all_marked: bool = False,
    ) -> None:
        super().__init__(transport, timeout_seconds=timeout_seconds)
        self._clock = clock
        self._mark = mark
        self._is_all_marked = is_all_marked
        self.news = news or News()

    @classmethod
    def signed(
        cls, access: ClusterAccess, clock: StoryClock, who: str, mark: str, *, is_all_marked: bool
    ) -> StoryClient:
        return cls(_Signed(access, clock, who), clock, mark, is_all_marked=is_all_marked)

    def within(self, timeout_seconds: float) -> StoryClient:
        least = min(timeout_seconds, self._timeout_seconds)
        return StoryClient(
            self.transport, self._clock, self._mark, self.news, least, is_all_marked=self._is_all_marked
        )

    async def ask(self, *arguments: Any, **options: Any) -> Document:
        answer = await super().ask(*arguments, **options)
        if "items" in answer and self._is_shared(str(answer.get("kind", "")).removesuffix("List")):
            answer["items"] = [item for item in answer["items"] if self._is_ours(item)]
        return self._clock.told(answer)

    def _is_shared(self, kind: str) -> bool:
        return self._is_all_marked or kind in EVERYBODYS

    def _is_ours(self, document: Document) -> bool:
        return self._mark in document["metadata"]["name"]

    def _is_ours_or_bookmark(self, event: WatchEvent) -> bool:
        return event.kind == "bookmark" or self._is_ours(event.document)

    async def watch(
        self, resource: ApiResource, *arguments: Any, **options: Any
    ) -> AsyncGenerator[WatchEvent, None]:
        """Read as it comes, and handed on when that is allowed."""
        events = super().watch(resource, *arguments, **options)
        pending: deque[WatchEvent | BaseException | None] = deque()
        arrived = asyncio.Event()

        async def read() -> None:
            try:
                async for event in events:
                    if self._is_shared(event.document.get("kind", "")) and not self._is_ours_or_bookmark(
                        event
                    ):
                        continue
                    self._clock.told(event.document)
                    self.news.note(event)
                    pending.append(event)
                    arrived.set()
                pending.append(None)
            except Exception as error:
                pending.append(error)
            arrived.set()

        reading = asyncio.create_task(read())
        self.news.kinds[resource.kind] += 1
        try:
            while True:
                await arrived.wait()
                await self.news.allowed()
                arrived.clear()
                while pending:
                    event = pending.popleft()
                    if event is None:
                        return
                    if isinstance(event, BaseException):
                        raise event
                    yield event
        finally:
            self.news.kinds[resource.kind] -= 1
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading
            await events.aclose()
