"""Events of the server in the background, handed over in batches."""

from __future__ import annotations

import queue
import threading
import time
from types import TracebackType

from headgate.cli import event_stream, failures
from headgate.cli.client import ApiClient
from headgate.cli.event_stream import Follower, Item

MOST_WAITING = 10_000


class Feed:
    """Refusals of the server come out of `batch`, in the thread that asks."""

    def __init__(self, client: ApiClient, after: str | None = None) -> None:
        self._follower = Follower(client, after)
        self._items: queue.Queue[Item | failures.CommandFailure] = queue.Queue(MOST_WAITING)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._is_over = False

    def __enter__(self) -> Feed:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over = True
        self._follower.stop()
        self._thread.join(timeout=2)

    def _run(self) -> None:
        try:
            for item in self._follower.items():
                self._put(item)
                if self._is_over:
                    return
        except failures.CommandFailure as failure:
            self._put(failure)

    def _put(self, item: Item | failures.CommandFailure) -> None:
        while not self._is_over:
            try:
                self._items.put(item, timeout=0.5)
                return
            except queue.Full:
                continue

    def batch(self, seconds: float) -> list[event_stream.Item]:
        """What there is after that time; the first item ends the wait."""
        items: list[event_stream.Item] = []
        until = time.monotonic() + seconds
        while True:
            try:
                left = 0.0 if items else max(until - time.monotonic(), 0.0)
                item = self._items.get(timeout=left) if left else self._items.get_nowait()
            except queue.Empty:
                return items
            if isinstance(item, failures.CommandFailure):
                raise item
            items.append(item)
