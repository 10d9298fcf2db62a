"""Makes what requests of a controller wait for happen, and sees whether they come back.

On a cluster nobody stands on a list: whom news concern follows from the objects each time. So news of what a plan waits for
are made up, and the controller is asked whom they concern; and the clock goes on in a copy of its queue.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from headgate.cluster.cache import ObjectCache
from headgate.cluster.controller import Controller, Plan
from headgate.cluster.queue import WorkQueue
from headgate.cluster.runner import Runner
from headgate.kernel import instants
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object

MOST_TIMES = 16
"""So many of the next times are waited for in a look: the others are next in another one."""
LOOKS_AT_FIRST = 4
MADE_UP = "madeUpToWake"


class MadeUpNews(NamedTuple):
    """What may end a wait: that an object changes, or without a change that it comes. `topic` says what the object is to who
    waits: of each topic one is driven in a look."""

    topic: str
    object: Object
    change: Callable[[Object], Object] | None = None
    is_own_status: bool = False


def reporting(item: Object) -> Object:
    """Its status is another."""
    return with_status(item, MADE_UP, True)


def leaving(item: Object) -> Object:
    """It is on its way out."""
    version = item.resource_version + 1
    return msgspec.structs.replace(item, deleted_at=item.created_at, resource_version=version)


def edited(item: Object) -> Object:
    """Its spec is another."""
    generation, version = item.generation + 1, item.resource_version + 1
    return msgspec.structs.replace(item, generation=generation, resource_version=version)


def with_status(item: Object, name: str, value: object) -> Object:
    status = {**item.status, name: value}
    return msgspec.structs.replace(item, status=status, resource_version=item.resource_version + 1)


Waits = Callable[[Key, Any, ObjectCache], Iterable[MadeUpNews]]
"""What a request of that plan waits for, as far as it can be known: nothing for one that is done."""


class RequestDriver:
    """Drives the news of each object once in a run for each request, and the next times at every look."""

    def __init__(self, controller: Controller[Any], waits: Waits) -> None:
        self.driven: Counter[str] = Counter()
        """By topic, how often it was made to happen."""
        self._controller = controller
        self._waits = waits
        self._answered: set[tuple[str, Key, Key]] = set()
        self._decisions = 0

    def is_due(self) -> bool:
        """At the first decisions, and ever more rarely after them."""
        self._decisions += 1
        number = self._decisions
        return number <= LOOKS_AT_FIRST or number & (number - 1) == 0

    def unanswered(self, runner: Runner[Any], now: Instant) -> list[str]:
        """What is said of each request that does not come back. The runner has nothing left to do now."""
        return [*self._slept_in(runner, now), *self._slept_through(runner)]

    def _slept_in(self, runner: Runner[Any], now: Instant) -> Iterator[str]:
        """Whoever was refused a write is told that it is tried again by itself, some time."""
        timed = sorted(
            (max(plan.requeue_at, now), request)
            for request, plan in runner.plans.items()
            if plan.requeue_at is not None
        )
        clock = WorkQueue(self._controller.rank)
        clock.requeues.update(runner.queue.requeues)
        woken: set[Key] = set()
        for at, request in islice(timed, MOST_TIMES):
            clock.wake(at)
            woken.update(clock.take())
            self.driven["time"] += 1
            if request not in woken:
                yield f"{request.name} waits for {instants.show(at)}, which has come, and is not looked at"
        for request, plan in runner.plans.items():
            if _is_refused(plan) and request not in runner.queue.requeues:
                yield f"{request.name} waits for its writes to be tried again, and no time is set for that"

    def _slept_through(self, runner: Runner[Any]) -> Iterator[str]:
        for request, news in self._sampled(runner):
            item = news.object
            self._answered.add((news.topic, request, item.key))
            self.driven[news.topic] += 1
            if request not in self._called(news):
                yield f"{request.name} waits for {item.kind} {item.name}, of which there is news, and is not looked at"

    def _called(self, news: MadeUpNews) -> Iterable[Key]:
        before, item = None, news.object
        if news.change is not None:
            before, item = item, news.change(item)
        if not self._controller.watches(item):
            return ()
        own = news.is_own_status
        return tuple(self._controller.requests(item, before, is_gone=False, is_own_status=own))

    def _sampled(self, runner: Runner[Any]) -> list[tuple[Key, MadeUpNews]]:
        """Of each topic one that was not driven before."""
        chosen: dict[str, tuple[Key, MadeUpNews]] = {}
        for request, plan in runner.plans.items():
            for news in self._waits(request, plan, runner.cache):
                topic = news.topic
                if topic not in chosen and (topic, request, news.object.key) not in self._answered:
                    chosen[topic] = (request, news)
        return list(chosen.values())


def _is_refused(plan: Plan) -> bool:
    return any(reason is Reason.WRITE_REFUSED for reason in plan.waiting())
