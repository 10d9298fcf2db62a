"""What was at each moment: the log is followed once, and what it changed is written down as it goes.

Whoever asks for a moment need not replay the log: a segment begins with all there was and goes on with changes, so one
segment is read and folded. Nothing here is in the way of who decides: it reads the log as any follower does, when
somebody asks, in a process beside the server.
"""

from __future__ import annotations

import time
from typing import Any

import msgspec

from headgate.fleet.engine.change_tracker import TARGETS, ChangeTracker, Tables
from headgate.fleet.engine.engine import Engine
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.instants import Instant
from headgate.runtime.replica import DivergedError, Replica
from headgate.store.history import HistoryPiece, pack, unpack
from headgate.store.log import LogEntry
from headgate.store.port import Store, Workspace

KIND = "history"
"""Of the workspace's document with the engine, as it was at the end of what is written down."""
READ_AT_ONCE = 500
PIECE_CHANGES = 1_000
SEGMENT_CHANGES = 10_000
"""And not fewer than there are targets, so that all there was is not written more often than it changes."""
ENTRIES_BETWEEN_ENGINES = 20_000

Entry = tuple[Instant, str, str, Any]
"""When, which table, which name, and what it is from then on; None when it is gone."""


class _Engine(msgspec.Struct):
    position: int
    last_at: Instant
    document: msgspec.Raw


class Historian:
    """Of one workspace. Not to be used by two at once."""

    def __init__(self, store: Store, workspace: Workspace) -> None:
        self._store = store
        self.workspace = workspace
        self._tracker = ChangeTracker()
        self._changes: list[Entry] = []
        self._segment = self._piece = self._in_segment = 0
        self._saved_at = 0
        self._replica = self._begin()

    @property
    def position(self) -> int:
        return self._replica.position

    @property
    def last_at(self) -> Instant:
        return self._replica.last_at

    def read_on(self, ends: float) -> bool:
        """Follows the log; whether it is at its end, or had to stop at this moment of `time.monotonic`."""
        while True:
            entries = self._store.log_after(self.workspace.name, self.position, READ_AT_ONCE)
            if not entries:
                self._write()
                return True
            for entry in entries:
                self._take(entry)
                if time.monotonic() > ends:
                    self._write()
                    return False

    def _begin(self) -> Replica:
        """Where it was left, else at the first entry of the log, else where the rows stand by now."""
        name = self.workspace.name
        kept = self._kept()
        if kept is not None:
            engine = Engine.load(bytes(kept.document), NamedIds(self.workspace.id))
            replica = Replica(self.workspace, engine, kept.position, kept.last_at)
            self._store.drop_history_after(name, kept.position)
            self._take_up(engine)
        else:
            self._store.drop_history_after(name, -1)
            first = self._store.log_after(name, 0, 1)
            if not first or first[0].seq == 1:
                engine = Engine(NamedIds(self.workspace.id), name)
                replica = Replica(self.workspace, engine, 0, self.workspace.created_at)
            else:
                replica = Replica.load(self._store, self.workspace)
            self._tracker.changes(replica.engine, replica.last_at)
            self._begin_segment(replica)
        replica.engine.tracker = self._tracker
        self._saved_at = replica.position
        return replica

    def _kept(self) -> _Engine | None:
        stored = self._store.documents(self.workspace.name, KIND).get(KIND)
        span = self._store.history_span(self.workspace.name)
        if stored is None or span is None:
            return None
        kept = msgspec.json.decode(unpack(stored), type=_Engine)
        first = self._store.log_after(self.workspace.name, kept.position, 1)
        is_connected = not first or first[0].seq == kept.position + 1
        return kept if is_connected else None

    def _take_up(self, engine: Engine) -> None:
        span = self._store.history_span(self.workspace.name)
        assert span is not None
        newest = span[1]
        pieces = self._store.history_until(self.workspace.name, newest.until_at)
        self._tracker = ChangeTracker(folded(pieces, newest.until_at))
        self._tracker.attach_up_to_date(engine)
        self._segment, self._piece = newest.segment, newest.piece + 1
        self._in_segment = SEGMENT_CHANGES if len(pieces) > 1 else 0

    def _take(self, entry: LogEntry) -> None:
        replica = self._replica
        try:
            replica.take(entry)
        except DivergedError:
            self._write()
            self._replica = replica = Replica.load(self._store, self.workspace)
        if not self._tracker.is_attached_to(replica.engine):
            replica.engine.tracker = self._tracker
            self._look(replica, replica.last_at)
        elif entry.kind == "decided":
            self._look(replica, entry.at)
        if len(self._changes) >= PIECE_CHANGES:
            self._write()

    def _look(self, replica: Replica, now: Instant) -> None:
        self._changes += [(now, *row) for row in self._tracker.changes(replica.engine, now)]

    def _write(self) -> None:
        """What has changed since the last time; nothing is written for entries that changed nothing anybody sees."""
        if self._changes:
            changes, self._changes = self._changes, []
            document = msgspec.json.encode(changes)
            piece = HistoryPiece(
                self._segment, self._piece, changes[0][0], self.position, self.last_at, document
            )
            self._store.add_history(self.workspace.name, [piece])
            self._piece += 1
            self._in_segment += len(changes)
            if self._in_segment >= max(SEGMENT_CHANGES, len(self._tracker.tables[TARGETS])):
                self._begin_segment(self._replica)
        if self.position - self._saved_at >= ENTRIES_BETWEEN_ENGINES:
            self.save()

    def _begin_segment(self, replica: Replica) -> None:
        self._segment, self._piece, self._in_segment = replica.position, 1, 0
        document = msgspec.json.encode(self._tracker.tables)
        piece = HistoryPiece(self._segment, 0, replica.last_at, replica.position, replica.last_at, document)
        self._store.add_history(self.workspace.name, [piece])

    def save(self) -> None:
        """So that another process can go on from here."""
        document = msgspec.Raw(self._replica.engine.dump())
        kept = msgspec.json.encode(_Engine(self.position, self.last_at, document))
        self._store.put_document(self.workspace.name, KIND, KIND, pack(kept))
        self._saved_at = self.position


def changes_of(piece: HistoryPiece) -> list[Entry]:
    """In order; not of the piece that a segment begins with, which is all there was."""
    return msgspec.json.decode(piece.document, type=list[Entry])


def folded(pieces: list[HistoryPiece], at: Instant) -> Tables:
    """All there was at that moment."""
    first, *others = pieces
    tables = msgspec.json.decode(first.document, type=Tables)
    for piece in others:
        for moment, table, name, content in changes_of(piece):
            if moment > at:
                continue
            if content is None:
                tables[table].pop(name, None)
            else:
                tables[table][name] = content
    return tables
