"""Writes to the simulated cluster: each is done when it is asked for, at a moment that whoever drives it says."""

from collections.abc import Callable
from typing import Any

from headgate.cluster.port import WriteRefused
from headgate.cluster.simulated.store import ObjectStore
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object


class StoreWriter:
    def __init__(
        self,
        store: ObjectStore,
        now: Instant,
        by: str,
        refusal: Callable[[Object], str | None] = lambda _: None,
    ) -> None:
        """`refusal` is what the server answers instead of making or changing an object."""
        self._store = store
        self._now = now
        self._by = by
        self._refusal = refusal

    def create(self, item: Object) -> None:
        self._check(item)
        self._store.create(item, self._now, self._by)

    def update(self, item: Object) -> None:
        self._check(item)
        self._store.update(item, self._now, self._by)

    def update_status(self, key: Key, uid: str, status: dict[str, Any]) -> None:
        self._store.update_status(key, uid, status, self._now, self._by)

    def delete(self, key: Key, uid: str, resource_version: int | None) -> None:
        self._store.delete(key, uid, self._now, self._by, resource_version)

    def _check(self, item: Object) -> None:
        words = self._refusal(item)
        if words is not None:
            raise WriteRefused(words)
