"""Follows one kind: a list, then everything that happens after it, for as long as one wants to know.

What it tells is complete in the end, though not in every step: states in between may be left out, and an object may be
gone without anybody having said so, when a list no longer has it. What it last told is always something that was.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import aclosing
from typing import Literal, Protocol

import msgspec

from headgate.cluster.port import ObjectChange
from headgate.kernel.backoffs import Backoff
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.kubernetes import objects
from headgate.kubernetes.client import CHUNK_SIZE, READ_SECONDS, Client
from headgate.kubernetes.errors import ApiError, GoneError
from headgate.kubernetes.resources import ApiResource, Document
from headgate.kubernetes.transport import Sleep

logger = logging.getLogger(__name__)

WATCH_SECONDS = 300
"""How long the server keeps a watch, to which up to as much again is added: not all of them end at once."""
SHORTEST_WATCH_SECONDS = 1.0
"""A watch that ends sooner than this, and brought nothing, counts as a failure."""


ReadObject = Callable[[Document, ApiResource], Object]
"""What is kept of a document: all that an object has, or what somebody reads of it."""


class Audience(Protocol):
    def observe(self, change: ObjectChange) -> None:
        """One change, in the order of versions of its object."""

    def replaced(self, group: str, kind: str, items: Iterable[Object]) -> None:
        """All objects of the kind anew, in older versions than were told: the cluster was restored from a backup. Told
        at once, so that nobody takes what is not listed yet for gone."""


class Reflector:
    """`clock` gives the moments of changes, `steady` counts seconds, `sleep` and `backoff` are how it waits."""

    def __init__(
        self,
        client: Client,
        resource: ApiResource,
        audience: Audience,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        chunk_size: int = CHUNK_SIZE,
        watch_seconds: int = WATCH_SECONDS,
        read_seconds: float = READ_SECONDS,
        read: ReadObject = objects.read,
        read_document: Callable[[Object, Document], None] | None = None,
        backoff: Backoff | None = None,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], Instant] = lambda: time.time_ns() // 1_000,
        steady: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._client = client
        self.resource = resource
        self._audience = audience
        self._namespace, self._labels, self._fields = namespace, labels, fields
        self._chunk_size = chunk_size
        self._watch_seconds = watch_seconds
        self._read_seconds = read_seconds
        self._read = read
        self._read_document = read_document
        """Shown each document before its object is told of: it has what objects leave out."""
        self._backoff = backoff or Backoff(first_seconds=0.5, most_seconds=30.0, chance=chance)
        self._sleep, self._clock, self._steady, self._chance = sleep, clock, steady, chance
        self._known: dict[Key, Object] = {}
        self._version: int | None = None
        """Up to which everything was told; None when only a list can say what is."""
        self._is_rewound = False
        self.listed = asyncio.Event()
        """Set when the first list was told whole."""
        self.problem: str | None = None
        """Why nothing is heard at present, as a sentence."""
        self.lists_count = 0

    def __iter__(self) -> Iterator[Object]:
        """All that was told of and is not gone."""
        return iter(self._known.values())

    async def run(self) -> None:
        """Until it is cancelled. Whatever goes wrong is waited out: longer each time, until something is heard."""
        failures = 0
        while True:
            try:
                if self._version is None:
                    await self._list()
                    failures = 0
                if await self._watch():
                    failures = 0
                    continue
                problem: ApiError | None = None
            except GoneError as error:
                if self._version is None:
                    # The list itself took longer than the server remembers: it is asked for in one piece then.
                    self._chunk_size = 0
                self._version, problem = None, error
            except ApiError as error:
                problem = error
                await self._doubt()
            failures += 1
            self._say(problem)
            await self._sleep(self._backoff.seconds(failures))

    def _say(self, problem: ApiError | None) -> None:
        if problem is None:
            return
        if not isinstance(problem, GoneError):
            self.problem = f"{self.resource.plural}: {problem}"
        logger.info("%s are not heard of: %s", self.resource.plural, problem)

    async def _list(self) -> None:
        """A list of one version, and with it the end of everything that it does not have."""
        listed_objects: dict[Key, Object] = {}
        version = 0
        pages = self._client.pages(
            self.resource,
            self._namespace,
            labels=self._labels,
            fields=self._fields,
            chunk_size=self._chunk_size,
        )
        async with aclosing(pages):
            async for page in pages:
                version = _version(page.resource_version)
                for document in page.items:
                    item = self._read(document, self.resource)
                    listed_objects[item.key] = item
                    if not self._is_rewound:
                        self._put(item, document)
                    elif self._read_document is not None:
                        self._read_document(item, document)
        if self._is_rewound:
            self._known, self._is_rewound = listed_objects, False
            self._audience.replaced(self.resource.group, self.resource.kind, listed_objects.values())
        for key, item in list(self._known.items()):
            if key not in listed_objects:
                self._end(item, version)
        self._version = version
        self.lists_count += 1
        self.problem = None
        self.listed.set()

    async def _watch(self) -> bool:
        """Whether it was worth the request: it brought something, or lasted a while."""
        began_at = self._steady()
        is_news = False
        lasts = self._watch_seconds + round(self._watch_seconds * self._chance())
        events = self._client.watch(
            self.resource,
            self._namespace,
            resource_version=str(self._version),
            labels=self._labels,
            fields=self._fields,
            lasts_seconds=lasts,
            read_seconds=self._read_seconds,
        )
        async with aclosing(events):
            async for event in events:
                version = _version(event.resource_version)
                if event.kind != "bookmark":
                    item = self._read(event.document, self.resource)
                    if event.kind == "deleted":
                        self._end(item, version)
                    else:
                        self._put(item, event.document)
                self._version = version
                is_news = True
                self.problem = None
        return is_news or self._steady() - began_at >= SHORTEST_WATCH_SECONDS

    async def _doubt(self) -> None:
        """After a broken watch the server may be one that was restored from a backup, whose present lies before what
        was told. A watch from the future would wait there in silence for as long as it takes; so its version is
        asked for."""
        if self._version is None:
            return
        try:
            path = self.resource.path(self._namespace)
            answer = await self._client.ask("GET", path, {"limit": "1"})
            present = _version(str((answer.get("metadata") or {}).get("resourceVersion", "")))
        except ApiError:
            return
        if present < self._version:
            logger.warning(
                "the cluster is at version %s and was at %s: everything is listed anew",
                present,
                self._version,
            )
            self._version, self._is_rewound = None, True

    def _put(self, item: Object, document: Document) -> None:
        before = self._known.get(item.key)
        if before is not None and before.resource_version >= item.resource_version:
            return
        if before is not None and before.uid != item.uid:
            # The end of the one and the beginning of the other were between two lists.
            self._end(before, item.resource_version - 1)
            before = None
        self._known[item.key] = item
        if self._read_document is not None:
            self._read_document(item, document)
        self._tell("modified" if before is not None else "added", item, before)

    def _end(self, item: Object, version: int) -> None:
        """Gone as of a version. What a controller wrote later than that is not: its cache compares."""
        before = self._known.pop(item.key, None)
        last = msgspec.structs.replace(
            item, resource_version=version, deleted_at=item.deleted_at or self._clock()
        )
        self._tell("deleted", last, before)

    def _tell(
        self, kind: Literal["added", "modified", "deleted"], item: Object, before: Object | None
    ) -> None:
        """By whom is not certain from a document, and to take another's change for one's own is to miss it."""
        self._audience.observe(ObjectChange(kind, item, before, self._clock(), ""))


def _version(written: str) -> int:
    try:
        return objects.version_of(written)
    except ValueError as error:
        raise ApiError(str(error), reason="Nonsense") from None
