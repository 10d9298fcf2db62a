"""Jobs of the agents that roll out objects of a cluster, as a runner would call them, one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from agents.support import HOME, Shelf, clock, document
from headgate.agents.cluster_rollouts import RolloutAgent, SeenRollout
from headgate.agents.clusters import Clusters, ReachedCluster
from headgate.agents.port import Assignment, DispatchDocument, JobProgress, TryLaterError
from headgate.kernel.instants import Instant
from headgate.kubernetes.resources import ApiResource, Document
from headgate.operator.observation import one_object

from .support import until

Config = Callable[[str], Mapping[str, Any]]
"""Of a version."""


async def explained(cluster: ReachedCluster, resource: ApiResource, found: Document) -> SeenRollout | None:
    seen = await one_object.observe(cluster.client, cluster.discovery, resource, found, clock())
    return None if seen is None else SeenRollout(seen.tree, seen.pods)


class Jobs:
    """`now` moves by hand, for what takes long."""

    def __init__(self, kind: type[RolloutAgent], clusters: Clusters, config: Config) -> None:
        self.ahead: Instant = 0
        self.agent = kind(clusters, lambda: clock() + self.ahead, explained)
        self.config = config
        self.said: list[str] = []
        self._shelves: dict[str, Shelf] = {}

    async def look(self, job: str, version: str, **given: str) -> JobProgress:
        """As after a restart: nothing is known but what was kept."""
        shelf = self._shelves.setdefault(job, Shelf())
        progress = await self.agent.start(self._assignment(shelf, job, version, **given))
        if progress.message and (not self.said or self.said[-1] != progress.message):
            self.said.append(progress.message)
        return progress

    async def stop(self, job: str, version: str) -> str | None:
        shelf = self._shelves.setdefault(job, Shelf())
        return await self.agent.stop(self._assignment(shelf, job, version))

    def _assignment(self, shelf: Shelf, job: str, version: str, **given: str) -> Assignment:
        content = document(job, self.config(version))
        content["job"] |= {"version": version, **given}
        order = msgspec.convert(content, DispatchDocument)
        return Assignment(HOME, order, state=shelf.state, keep=shelf.keep)

    def lose_state(self, job: str) -> None:
        """Of a process that was killed before it had written down what it did."""
        self._shelves.pop(job, None)

    async def until_said(self, job: str, version: str, words: str, seconds: float = 60) -> None:
        async def is_said() -> bool:
            progress = await self._looked(job, version)
            return progress is not None and words in (progress.message or "")

        await until(is_said, seconds)

    async def ended(self, job: str, version: str, seconds: float = 90) -> JobProgress:
        found: list[JobProgress] = []

        async def has_ended() -> bool:
            progress = await self._looked(job, version)
            found.extend([progress] if progress is not None else ())
            return bool(found) and found[-1].has_ended

        await until(has_ended, seconds)
        return found[-1]

    async def _looked(self, job: str, version: str) -> JobProgress | None:
        try:
            return await self.look(job, version)
        except TryLaterError:
            return None
