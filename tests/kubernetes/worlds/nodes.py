"""What the nodes of a story do with the pods that are bound to them, as the scenario's cluster says."""

from __future__ import annotations

import heapq
from collections.abc import Awaitable, Callable
from typing import Any

from headgate.cluster.simulated import pods as pod_places
from headgate.cluster.simulated.behaviors import Behaviors
from headgate.cluster.simulated.pods import PodSeen
from headgate.cluster.simulated.settings import Behavior, Cluster, Ends
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.kubernetes.errors import NotFoundError
from headgate.kubernetes.resources import PODS, Document
from headgate.workload.plan.observed import ENDED

from .acting import Actor

Act = Callable[[], Awaitable[None]]


class Timers:
    def __init__(self) -> None:
        self._heap: list[tuple[Instant, int, str, Act]] = []
        self._count = 0

    def add(self, at: Instant, uid: str, act: Act) -> None:
        self._count += 1
        heapq.heappush(self._heap, (at, self._count, uid, act))

    def forget(self, uid: str) -> None:
        self._heap = [each for each in self._heap if each[2] != uid]
        heapq.heapify(self._heap)

    def next_moment(self) -> Instant | None:
        return self._heap[0][0] if self._heap else None

    async def run_due(self, now: Instant) -> None:
        while self._heap and self._heap[0][0] <= now:
            await heapq.heappop(self._heap)[3]()


class StoryNodes:
    """Looks at pods when all is quiet, so that what it sees has happened at this instant. Knows nothing of gangs and of
    what starts after what: real nodes do not either."""

    def __init__(
        self, actor: Actor, timers: Timers, cluster: Cluster, number: Callable[[str, str, str], int | None]
    ) -> None:
        self._actor = actor
        self._timers = timers
        self._cluster = cluster
        self._behaviors = Behaviors(cluster.behaviors)
        self._number = number
        self._begun: set[str] = set()
        self._ended: set[str] = set()
        self._restarts: dict[str, int] = {}
        self._endings: dict[tuple[str, int | None], int] = {}

    def look(self, items: list[Object], now: Instant) -> None:
        for item in sorted(items, key=lambda item: (item.created_at, item.name)):
            pod = pod_places.read(item, self._number)
            if item.deleted_at is not None:
                self._terminate(pod, now)
            elif item.spec.get("nodeName") and item.uid not in self._begun and not _is_over(item):
                self._begun.add(item.uid)
                self._begin(pod, self._behaviors.of_pod(pod), now)

    def seen(self, item: Object) -> PodSeen:
        return pod_places.read(item, self._number)

    def _terminate(self, pod: PodSeen, now: Instant) -> None:
        if pod.uid in self._ended:
            return
        self._ended.add(pod.uid)
        self._timers.forget(pod.uid)
        if self._behaviors.of_pod(pod).never != "gone":
            at = now + self._cluster.terminate.microseconds
            self._timers.add(at, pod.uid, lambda: self._remove(pod))

    async def _remove(self, pod: PodSeen) -> None:
        await self._actor.delete(PODS, pod.name, uid=pod.uid, grace_seconds=0)

    def _begin(self, pod: PodSeen, behavior: Behavior, now: Instant) -> None:
        if not self._is_to_end(pod, behavior, "bound", now):
            self._start(pod, behavior, now)

    def _is_to_end(self, pod: PodSeen, behavior: Behavior, since: str, now: Instant) -> bool:
        ends = behavior.ends
        place = (pod.clique_object, pod.index)
        if ends is None or ends.since != since or self._endings.get(place, 0) >= ends.times:
            return False
        self._endings[place] = self._endings.get(place, 0) + 1
        given: Ends = ends
        self._timers.add(
            now + ends.after.microseconds, pod.uid, lambda: self.end(pod, given.phase, given.reason)
        )
        return True

    def _start(self, pod: PodSeen, behavior: Behavior, now: Instant) -> None:
        if behavior.never == "ready":
            return
        takes = behavior.start if behavior.start is not None else self._cluster.start
        self._timers.add(now + takes.microseconds, pod.uid, lambda: self._become_ready(pod, behavior))

    async def _become_ready(self, pod: PodSeen, behavior: Behavior) -> None:
        await self._tell(pod, {"phase": "Running", "podIP": "10.0.0.1", "conditions": self._conditions(True)})
        now = self._actor.now
        if self._is_to_end(pod, behavior, "ready", now):
            return
        if behavior.crash_after is not None:
            at = now + behavior.crash_after.microseconds
            self._timers.add(at, pod.uid, lambda: self._crash(pod, behavior))

    async def _crash(self, pod: PodSeen, behavior: Behavior) -> None:
        self._restarts[pod.uid] = self._restarts.get(pod.uid, 0) + 1
        status = {
            "phase": "Running",
            "conditions": self._conditions(False),
            "containerStatuses": [
                {
                    "name": "main", "image": "main:1", "imageID": "", "ready": False,
                    "restartCount": self._restarts[pod.uid],
                }
            ],
        }  # fmt: skip
        await self._tell(pod, status)
        self._start(pod, behavior, self._actor.now)

    async def end(self, pod: PodSeen, phase: str, reason: str) -> None:
        self._timers.forget(pod.uid)
        await self._tell(pod, {"phase": phase, "reason": reason, "conditions": self._conditions(False)})

    async def _tell(self, pod: PodSeen, status: Document) -> None:
        try:
            await self._actor.patch(PODS, pod.name, {"status": status}, subresource="status")
        except NotFoundError:
            return

    def _conditions(self, is_ready: bool) -> list[dict[str, Any]]:
        at = instants.show_to_the_second(self._actor.now)
        found = {"PodScheduled": True, "Initialized": True, "ContainersReady": is_ready, "Ready": is_ready}
        return [
            {"type": name, "status": "True" if value else "False", "lastTransitionTime": at}
            for name, value in found.items()
        ]


def _is_over(item: Object) -> bool:
    return item.status.get("phase") in ENDED
