"""When it will be over, and who is next: the server keeps a plan of the fleet as it is, beside what is watched."""

from __future__ import annotations

import threading
import time

from headgate.cli import failures
from headgate.cli.client import ApiClient, path
from headgate.screens.watched_fleet import WatchedForecast

LEAST_BETWEEN_PLANS_SECONDS = 20.0
_TIMEOUT_SECONDS = 60.0


class Forecaster:
    """Asks in the background, never more than one question at a time; a server that does not answer costs nothing."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client
        self._latest = WatchedForecast()
        self._asked_at = -LEAST_BETWEEN_PLANS_SECONDS
        self._thread: threading.Thread | None = None

    def latest(self, unfinished: int) -> WatchedForecast:
        """What is known now; a fresh one is asked for if it is time."""
        if not unfinished:
            return WatchedForecast()
        is_free = self._thread is None or not self._thread.is_alive()
        if is_free and time.monotonic() - self._asked_at >= LEAST_BETWEEN_PLANS_SECONDS:
            self._asked_at = time.monotonic()
            self._thread = threading.Thread(target=self._ask, daemon=True)
            self._thread.start()
        return self._latest

    def _ask(self) -> None:
        try:
            with ApiClient(self._client.connection, timeout_seconds=_TIMEOUT_SECONDS, attempts=1) as client:
                answer = client.get(path("forecast"))
            self._latest = WatchedForecast.read(answer)
        except (failures.CommandFailure, KeyError, TypeError, ValueError):
            self._latest = WatchedForecast()
