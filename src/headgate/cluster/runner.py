"""Runs a controller: news become requests, requests become plans, and a plan that cannot be written comes back.

It touches neither clock nor network, so that the simulated cluster and a real one run the same code: whoever drives
it tells it the news, takes the plans and writes them.
"""

from collections.abc import Iterable, Iterator
from typing import Generic

from headgate.cluster import refusals
from headgate.cluster.cache import ObjectCache
from headgate.cluster.controller import Controller, PlanT
from headgate.cluster.port import ObjectChange
from headgate.cluster.queue import WorkQueue
from headgate.cluster.refusals import Untaken
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Key, Object, UpdateStatus

LONGEST_RETRY = instants.minutes(5)
PASSING_TIMES = 3
"""How often in a row a server may be busy, out of reach or ahead of what was heard before that is told as a refusal."""


class Runner(Generic[PlanT]):
    def __init__(self, listed: Iterable[Object], controller: Controller[PlanT], patience: int) -> None:
        """`listed` is gone through when a life begins: all that is there, owners before what they own. `patience` is
        how long a pass that ended early waits for the news that it lacked."""
        self._listed = listed
        self.controller = controller
        self._patience = patience
        self.restart()

    def restart(self) -> None:
        """Nothing is remembered; the new life begins with a fresh list of everything."""
        controller = self.controller
        self.queue = WorkQueue(controller.rank)
        self.plans: dict[Key, PlanT] = {}
        """The last one of each request."""
        self.cache = ObjectCache(controller.index, filter(controller.watches, self._listed))
        controller.restarted(self.cache, self.queue.add)

    def observe(self, change: ObjectChange) -> None:
        """Compared with what was known, and not with what was there: an own write may be the first news of an edit."""
        item = change.object
        before = self.cache.get(item.key)
        is_gone = change.kind == "deleted"
        if not (self.cache.forget(item) if is_gone else self.cache.observe(item)):
            return
        is_own_status = change.by == self.controller.name and not is_gone and _is_only_status(before, item)
        for request in self.controller.requests(item, before, is_gone=is_gone, is_own_status=is_own_status):
            self.queue.add(request)

    def replaced(self, group: str, kind: str, items: Iterable[Object]) -> None:
        """All objects of a kind anew, after the cluster was restored from an older copy of itself."""
        for before, item in self.cache.replace(group, kind, filter(self.controller.watches, items)):
            is_gone = item is None
            changed = before if item is None else item
            assert changed is not None
            for request in self.controller.requests(changed, before, is_gone=is_gone, is_own_status=False):
                self.queue.add(request)

    def passes(self, now: Instant) -> Iterator[tuple[Key, PlanT]]:
        """A plan for each request that something was heard of. Write one before the next is asked for."""
        for request in self.queue.take():
            plan = self.plan(request, now)
            if plan is not None:
                yield request, plan

    def plan(self, request: Key, now: Instant) -> PlanT | None:
        """Of one request that was taken from the queue."""
        plan = self.controller.reconcile(request, now)
        if plan is None:
            self.plans.pop(request, None)
            self.queue.succeeded(request)
            return None
        self.plans[request] = plan
        if plan.requeue_at is not None:
            self.queue.requeue(request, max(plan.requeue_at, now))
        return plan

    def not_written(
        self, request: Key, action: Action, problem: Untaken, now: Instant
    ) -> tuple[UpdateStatus, ...]:
        """A write was not taken, so the rest of the plan is not written either: what stands behind it may count on it. The
        pass comes back when the news has come, or after a while. Says what to write so that people see why."""
        if refusals.is_for_news(problem):
            self.queue.requeue(request, now + self._patience)
            return ()
        self.failed(request, now)
        about = self.cache.get(request)
        is_passing = refusals.may_pass(problem) and self.queue.failures(request) < PASSING_TIMES
        if about is None or is_passing:
            return ()
        return tuple(refusals.noted(about, action, str(problem), now))

    def failed(self, request: Key, now: Instant) -> None:
        """For a reason that no news may end: a quota, an admission, a field that cannot change, a server that is
        overloaded. The pass comes back by itself, later each time."""
        self.queue.retry(request, now, self._patience, max(self._patience, LONGEST_RETRY))

    def written(self, request: Key) -> tuple[UpdateStatus, ...]:
        """The whole plan was written: the next refusal is the first again. Says what to write so that nobody is told of one
        any more; what follows from that is for another pass."""
        self.queue.succeeded(request)
        about = self.cache.get(request)
        return tuple(refusals.taken_back(about)) if about is not None else ()


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
