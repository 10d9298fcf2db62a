"""Revisions that nothing is at any more, taken away together: a roll of many instances leaves one behind in each of them,
and nobody waits for their end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from headgate.graph.reconcile import labels, revisions
from headgate.kernel.objects import Key, Object
from headgate.kubernetes.discovery import Discovery
from headgate.kubernetes.errors import ApiError, NotFoundError, TooManyRequestsError, UnreachableError
from headgate.kubernetes.fencing import FencedClient
from headgate.kubernetes.lease import DeposedError
from headgate.operator.running.feed import ObjectFeed
from headgate.operator.running.pace import WritePace

logger = logging.getLogger(__name__)

MOST = 50
"""So many go with one request: their selector is a part of an address, which may not be long."""
AFTER_SECONDS = 5.0
"""So long after the last one, since more may follow."""
LONGEST_SECONDS = 30.0
"""And so long after the first."""


class RetiredRevisions:
    """They are there for all to see until they are gone, so a plan may name one again that is on its way."""

    def __init__(
        self,
        client: FencedClient,
        discovery: Discovery,
        feed: ObjectFeed,
        pace: WritePace,
        by: str,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._discovery = discovery
        self._feed = feed
        self._pace = pace
        self._by = by
        self._steady = steady
        self._waiting: dict[tuple[str, str], dict[Key, Object]] = {}
        """By namespace and number."""
        self._first: float | None = None
        self._last = 0.0

    def take(self, item: Object) -> bool:
        """False for what has to be deleted by itself."""
        number = item.labels.get(labels.REVISION)
        is_ours = (item.api_version, item.kind) == (revisions.API_VERSION, revisions.KIND)
        if not is_ours or number is None or labels.INSTANCE_ID not in item.labels:
            return False
        self._waiting.setdefault((item.namespace, number), {})[item.key] = item
        self._last = self._steady()
        if self._first is None:
            self._first = self._last
        return True

    def due_in_seconds(self) -> float | None:
        """None if nothing waits."""
        if self._first is None:
            return None
        due = min(self._last + AFTER_SECONDS, self._first + LONGEST_SECONDS)
        return max(0.0, due - self._steady())

    def hurry(self) -> None:
        """They go now, as few as they may be."""
        if self._first is not None:
            self._first = self._steady() - LONGEST_SECONDS

    async def remove_due(self) -> None:
        """Raises DeposedError. What was not taken is tried again by the next plan that finds it, or with the next if the
        server was busy."""
        if self.due_in_seconds() != 0.0:
            return
        waiting, self._waiting, self._first = self._waiting, {}, None
        for (namespace, number), items in waiting.items():
            due = list(items.values())
            for start in range(0, len(due), MOST):
                await self._remove(namespace, number, due[start : start + MOST])

    async def _remove(self, namespace: str, number: str, items: list[Object]) -> None:
        """By instance and number: an instance gives a number once, so nothing that came later is meant."""
        resource = await self._discovery.find(revisions.API_VERSION, revisions.KIND)
        if len(items) > 1:
            instances = ",".join(sorted(item.labels[labels.INSTANCE_ID] for item in items))
            selector = f"{labels.REVISION}={number},{labels.INSTANCE_ID} in ({instances})"
            await self._pace.turn()
            try:
                await self._client.delete_selected(resource, selector, namespace)
            except DeposedError:
                raise
            except (TooManyRequestsError, UnreachableError) as error:
                logger.info("%s revisions are taken away later: %s", len(items), error)
                for item in items:
                    self.take(item)
                return
            except ApiError as error:
                logger.info("%s revisions are taken away one by one: %s", len(items), error)
            else:
                for item in items:
                    self._feed.deleted(item, self._by)
                return
        for item in items:
            await self._pace.turn()
            try:
                await self._client.delete(resource, item.name, item.namespace, uid=item.uid)
            except NotFoundError:
                pass
            except DeposedError:
                raise
            except ApiError as error:
                logger.info("the revision %s is not taken away: %s", item.name, error)
                continue
            self._feed.deleted(item, self._by)
