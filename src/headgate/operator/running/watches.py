"""The kinds that are watched: a reflector for each, started when a kind is wanted and stopped when it is not any more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from headgate.kernel.objects import Object
from headgate.kubernetes import objects
from headgate.kubernetes.client import Client
from headgate.kubernetes.reflector import ReadObject, Reflector
from headgate.kubernetes.resources import ApiResource
from headgate.operator.running import ending
from headgate.operator.running.feed import ObjectFeed


class Watches:
    """Gone through, it has all that is known, in the order in which the kinds were started. A kind is watched in one
    version: the objects of all versions are the same."""

    def __init__(
        self, client: Client, feed: ObjectFeed, namespace: str = "", read: ReadObject = objects.read
    ) -> None:
        self._client = client
        self._feed = feed
        self._namespace = namespace
        self._read = read
        self._reflectors: dict[tuple[str, str], Reflector] = {}
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}

    def __iter__(self) -> Iterator[Object]:
        for reflector in self._reflectors.values():
            yield from reflector

    def __len__(self) -> int:
        return len(self._reflectors)

    def of_kind(self, kind: str) -> tuple[ApiResource, ...]:
        return tuple(reflector.resource for (_, name), reflector in self._reflectors.items() if name == kind)

    def kinds(self) -> tuple[tuple[str, str], ...]:
        """By group and kind."""
        return tuple(self._reflectors)

    def problems(self) -> list[str]:
        """Why nothing is heard of some kinds."""
        return [each.problem for each in self._reflectors.values() if each.problem is not None]

    def start(self, resource: ApiResource, labels: str = "") -> Reflector:
        key = (resource.group, resource.kind)
        known = self._reflectors.get(key)
        if known is not None:
            return known
        reflector = Reflector(
            self._client,
            resource,
            self._feed,
            namespace=self._namespace if resource.is_namespaced else "",
            labels=labels,
            read=self._read,
            read_document=self._feed.read_document,
        )
        self._reflectors[key] = reflector
        self._tasks[key] = asyncio.create_task(reflector.run())
        return reflector

    async def listed(self) -> None:
        """Until all of them were told whole once."""
        await asyncio.gather(*(each.listed.wait() for each in self._reflectors.values()))

    async def stop(self, group: str, kind: str) -> None:
        self._reflectors.pop((group, kind), None)
        task = self._tasks.pop((group, kind), None)
        if task is not None:
            await ending.end([task])

    async def close(self) -> None:
        for group, kind in list(self._reflectors):
            await self.stop(group, kind)
