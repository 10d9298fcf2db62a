"""An engine that stands where the log stands: loaded from rows, then carried on entry by entry.

The same entries give the same decisions, so every process can hold one; only the holder of the lease writes down what
its own decides.
"""

from __future__ import annotations

import logging

import msgspec

from headgate.fleet.engine import Decisions, Engine
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Rejected
from headgate.runtime import entries
from headgate.store import rows
from headgate.store.port import LogEntry, Store, Workspace

_log = logging.getLogger("headgate.replica")
LONGEST_CATCH_UP = 20_000
"""Further behind than this, loading the rows is quicker than replaying the log."""


class DivergedError(Exception):
    """The replica does not stand where the log says that it should."""


class Mark(msgspec.Struct, omit_defaults=True):
    """Payload of a `decided` entry: where the engine's ids stood afterwards."""

    sequence: int
    recheck: bool = False


class Replica:
    def __init__(self, workspace: Workspace, engine: Engine, position: int, now: Instant) -> None:
        self.workspace = workspace
        self.engine = engine
        self.position = position
        self.last_at = now
        self.is_fresh = True
        """Loaded, and nothing decided since: the first decision looks at everything."""

    @classmethod
    def load(cls, store: Store, workspace: Workspace) -> Replica:
        found = store.load(workspace.name)
        engine = rows.restore(workspace.name, found, NamedIds(workspace.id))
        newest = store.log_after(workspace.name, found.consumed - 1, 1) if found.consumed else []
        replica = cls(workspace, engine, found.consumed, newest[0].at if newest else 0)
        replica.catch_up(store)
        return replica

    def catch_up(self, store: Store) -> int:
        """How many entries it took."""
        count = 0
        while True:
            found = store.log_after(self.workspace.name, self.position, 1_000)
            if not found:
                return count
            for entry in found:
                self.take(entry)
            count += len(found)

    def take(self, entry: LogEntry) -> None:
        """What another process has written."""
        if entry.seq != self.position + 1:
            raise DivergedError(f"{self.workspace.name}: entry {entry.seq} follows on {self.position}")
        if entry.kind == "decided":
            mark = msgspec.json.decode(entry.payload, type=Mark)
            self.decide(entry.at, is_recheck=mark.recheck)
            if self.engine.state.sequence != mark.sequence:
                raise DivergedError(
                    f"{self.workspace.name}: sequence {self.engine.state.sequence} after entry {entry.seq}, "
                    f"not {mark.sequence}"
                )
        else:
            self._apply(entry)
        self.position = entry.seq
        self.last_at = max(self.last_at, entry.at)

    def _apply(self, entry: LogEntry) -> None:
        try:
            self.engine.apply(entries.decode(entry.payload), entry.at)
        except Rejected as rejected:
            _log.warning("%s: entry %d is refused: %s", self.workspace.name, entry.seq, rejected)

    def decide(self, now: Instant, *, is_recheck: bool = False) -> Decisions:
        """A recheck looks at all there is, as an engine does that was just loaded."""
        state = self.engine.state
        if is_recheck:
            state.touch_all()
            for place in state.places.values():
                state.waiting.touch(place)
        self.is_fresh = False
        return self.engine.decide(now)
