"""What is wrong with this process right now, said once in the log, and kept for readiness, metrics and `doctor`.

A check is wrong from the first `wrong` to the next `right`; how often that began is counted.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Literal

import msgspec

from headgate.kernel.instants import Instant
from headgate.store.port import DiskFullError, UnavailableError

Check = Literal["database", "disk", "divergence", "clock", "queue", "units"]
CHECKS: dict[Check, str] = {
    "database": "the database answers and takes what is written",
    "disk": "the database has room to write",
    "divergence": "what is in memory is what the log says",
    "clock": "the clock of this machine agrees with the time of every workspace",
    "queue": "the engine's thread comes round",
    "units": "whatever has not converged says what it waits for, and is looked at again",
}
ADVICE: dict[Check, str] = {
    "database": "see whether the database runs and can be reached; nothing is lost, and work goes on when it answers",
    "disk": "make room where the database is kept; work goes on by itself",
    "divergence": "it was loaded anew; keep the log line and report it, with the versions of all processes",
    "clock": "set the clock right; if a workspace is ahead for good, `headgate doctor --repair-clock WORKSPACE`",
    "queue": "one piece of work takes too long; look for very large requests, then restart the process",
    "units": "keep `headgate explain TARGET` and report it; `headgate redeploy TARGET` moves it on",
}
STOPS_REQUESTS: frozenset[Check] = frozenset({"database", "disk", "divergence", "clock", "queue"})
"""While one of these is wrong the process is not ready."""

_log = logging.getLogger("headgate.health")


class Trouble(msgspec.Struct, frozen=True, rename="camel"):
    """`workspace` is empty for what concerns all of them; the message names none, as strangers may read it."""

    check: Check
    message: str
    since: Instant
    workspace: str = ""


Listener = Callable[[Check, str, bool], None]
"""Told of every beginning (True) and end (False), with the workspace."""


class Health:
    """Used from several threads."""

    def __init__(self, clock: Callable[[], Instant], listener: Listener | None = None) -> None:
        self._clock = clock
        self._listener: Listener = listener if listener is not None else _nobody
        self._lock = threading.Lock()
        self._troubles: dict[tuple[Check, str], Trouble] = {}
        self._counts: dict[tuple[Check, str], int] = {}
        self.has_troubles = False
        """Whether anything is wrong: as long as nothing is, nobody need say what is right."""

    def wrong(self, check: Check, message: str, workspace: str = "") -> None:
        key = (check, workspace)
        with self._lock:
            known = self._troubles.get(key)
            since = known.since if known is not None else self._clock()
            self._troubles[key] = Trouble(check, message, since, workspace)
            self.has_troubles = True
            if known is not None:
                return
            self._counts[key] = self._counts.get(key, 0) + 1
        _log.error("%s%s: %s", check, f" ({workspace})" if workspace else "", message)
        self._listener(check, workspace, True)

    def right(self, check: Check, workspace: str = "") -> None:
        with self._lock:
            known = self._troubles.pop((check, workspace), None)
            self.has_troubles = bool(self._troubles)
        if known is not None:
            _log.warning("%s%s: right again", check, f" ({workspace})" if workspace else "")
            self._listener(check, workspace, False)

    def say_of_store(self, error: UnavailableError) -> None:
        check: Check = "disk" if isinstance(error, DiskFullError) else "database"
        self.wrong(check, str(error))

    def store_is_right(self) -> None:
        self.right("disk")
        self.right("database")

    def forget(self, workspace: str) -> None:
        """It was removed."""
        with self._lock:
            for by_check in (self._troubles, self._counts):
                for key in [key for key in by_check if key[1] == workspace]:
                    del by_check[key]
            self.has_troubles = bool(self._troubles)

    def is_wrong(self, check: Check, workspace: str = "") -> bool:
        return (check, workspace) in self._troubles

    def troubles(self) -> list[Trouble]:
        with self._lock:
            return [self._troubles[key] for key in sorted(self._troubles)]

    def counts(self) -> dict[tuple[Check, str], int]:
        """How often each check began to be wrong since the process started."""
        with self._lock:
            return dict(self._counts)


def _nobody(check: Check, workspace: str, is_wrong: bool) -> None: ...
