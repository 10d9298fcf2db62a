"""Runs a controller: news become requests, requests become plans, and a plan that cannot be written comes back.

It touches neither clock nor network, so that the simulated cluster and a real one run the same code: whoever drives
it tells it the news, takes the plans and writes them.
"""

from collections.abc import Iterator
from typing import Generic

from headgate.cluster.cache import ObjectCache
from headgate.cluster.controller import Controller, PlanT
from headgate.cluster.port import ClusterPort, ObjectChange
from headgate.cluster.queue import WorkQueue
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object


class Runner(Generic[PlanT]):
    def __init__(self, port: ClusterPort, controller: Controller[PlanT], patience: int) -> None:
        """`patience` is how long a pass that ended early waits for the news that it lacked."""
        self._port = port
        self._controller = controller
        self._patience = patience
        self.restart()

    def restart(self) -> None:
        """Nothing is remembered; the new life begins with a fresh list of everything."""
        controller = self._controller
        self.queue = WorkQueue(controller.rank)
        self.plans: dict[Key, PlanT] = {}
        """The last one of each request."""
        self.cache = ObjectCache(controller.index, filter(controller.watches, self._port))
        controller.restarted(self.cache, self.queue.add)

    def observe(self, change: ObjectChange) -> None:
        """Compared with what was known, and not with what was there: an own write may be the first news of an edit."""
        item = change.object
        before = self.cache.get(item.key)
        is_gone = change.kind == "deleted"
        if not (self.cache.forget(item) if is_gone else self.cache.observe(item)):
            return
        is_own_status = change.by == self._controller.name and not is_gone and _is_only_status(before, item)
        for request in self._controller.requests(item, before, is_gone=is_gone, is_own_status=is_own_status):
            self.queue.add(request)

    def passes(self, now: Instant) -> Iterator[tuple[Key, PlanT]]:
        """A plan for each request that something was heard of. Write one before the next is asked for."""
        for request in self.queue.take():
            plan = self._controller.reconcile(request, now)
            if plan is None:
                self.plans.pop(request, None)
                continue
            self.plans[request] = plan
            if plan.requeue_at is not None:
                self.queue.requeue(request, max(plan.requeue_at, now))
            yield request, plan

    def conflicted(self, request: Key, now: Instant) -> None:
        """A write was refused: the plan was made on a state that has moved, so the rest of it is not written either,
        and the pass comes back when the news has come, or after a while."""
        self.queue.requeue(request, now + self._patience)


def _is_only_status(before: Object | None, item: Object) -> bool:
    return (
        before is not None
        and before.uid == item.uid
        and before.generation == item.generation
        and before.deleted_at == item.deleted_at
        and before.labels == item.labels
        and before.annotations == item.annotations
        and before.finalizers == item.finalizers
        and before.owners == item.owners
    )
