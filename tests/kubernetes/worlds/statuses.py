"""What becomes of the status of objects that no real controller looks after, as the scenario's cluster says."""

from __future__ import annotations

import msgspec

from headgate.cluster.simulated import matching
from headgate.cluster.simulated.behaviors import Behaviors, object_bindings
from headgate.cluster.simulated.settings import Cluster, StatusBehavior
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.kubernetes import objects
from headgate.kubernetes.errors import NotFoundError
from headgate.kubernetes.resources import ApiResource

from .acting import Actor
from .nodes import Timers


class StoryStatuses:
    """Looks when all is quiet: a spec that it has not seen was written at this instant."""

    def __init__(self, actor: Actor, timers: Timers, cluster: Cluster) -> None:
        self._actor = actor
        self._timers = timers
        self._behaviors = Behaviors(cluster.behaviors)
        self._seen: dict[str, bytes] = {}

    def look(self, items: list[Object], resources: dict[tuple[str, str], ApiResource], now: Instant) -> None:
        for item in items:
            content = msgspec.json.encode([item.spec, item.other], order="sorted")
            if self._seen.get(item.uid) == content:
                continue
            self._seen[item.uid] = content
            self._timers.forget(item.uid)
            behavior = self._behaviors.of_object(item)
            if behavior.status is not None and behavior.never != "ready":
                resource = resources[item.api_version, item.kind]
                at = now + behavior.status.after.microseconds
                self._add(at, item, resource, behavior.status)

    def _add(self, at: Instant, item: Object, resource: ApiResource, status: StatusBehavior) -> None:
        self._timers.add(at, item.uid, lambda: self._set(item, resource, status))

    async def _set(self, seen: Object, resource: ApiResource, status: StatusBehavior) -> None:
        try:
            document = await self._actor.client.get(resource, seen.name, self._actor.namespace)
        except NotFoundError:
            return
        item = objects.read(document, resource)
        if item.uid != seen.uid:
            return
        filled = matching.filled(status.set, object_bindings(item))
        await self._actor.patch(resource, item.name, {"status": filled}, subresource="status")
