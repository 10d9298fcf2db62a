"""When each token was used last, to the minute or so: whoever cleans up wants to know which ones nobody needs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import msgspec

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.store.port import Store, UnavailableError

EVERY_SECONDS = 60
_KIND = "TokenUse"
_EVERYWHERE = ""
"""They are kept beside all workspaces: a token may be good for several."""
_log = logging.getLogger("headgate.tokens")


class TokenUses:
    """Nobody waits for what it writes down, and a database that is away loses a minute of it."""

    def __init__(self, store: Store, clock: Callable[[], Instant]) -> None:
        self._store = store
        self._clock = clock
        self._written: dict[str, Instant] = {}
        self._writing: set[asyncio.Task[None]] = set()

    def note(self, token: str) -> None:
        now = self._clock()
        if now - self._written.get(token, 0) < instants.seconds(EVERY_SECONDS):
            return
        self._written[token] = now
        task = asyncio.create_task(self._write(token, now))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _write(self, token: str, now: Instant) -> None:
        try:
            await asyncio.to_thread(
                self._store.put_document, _EVERYWHERE, _KIND, token, msgspec.json.encode(now)
            )
        except UnavailableError as error:
            _log.warning("that the token %s was used is not written down: %s", token, error)


def all_of(store: Store) -> dict[str, Instant]:
    """By the token's id."""
    found = store.documents(_EVERYWHERE, _KIND)
    return {token: msgspec.json.decode(document, type=int) for token, document in found.items()}


def forget(store: Store, token: str) -> None:
    store.remove_document(_EVERYWHERE, _KIND, token)
