"""A controller that plans nothing, for tests of what it is asked about and when."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from headgate.cluster.cache import ObjectCache
from headgate.cluster.controller import Enqueue
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Key, Object


class EmptyPlan(msgspec.Struct, frozen=True):
    actions: tuple[Action, ...] = ()
    requeue_at: Instant | None = None

    def waiting(self) -> tuple[Reason, ...]:
        return ()


class Counting:
    """Plans nothing, and remembers what it was asked about."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def watches(self, item: Object) -> bool:
        return True

    def index(self, item: Object) -> str | None:
        return item.labels.get("of")

    def rank(self, request: Key) -> int:
        return 0

    def restarted(self, cache: ObjectCache, enqueue: Enqueue) -> None:
        self.cache = cache

    def requests(
        self, item: Object, before: Object | None, *, is_gone: bool, is_own_status: bool
    ) -> Iterable[Key]:
        return () if is_own_status else (item.key,)

    def reconcile(self, request: Key, now: Instant) -> EmptyPlan:
        self.asked.append(request.name)
        return EmptyPlan()
