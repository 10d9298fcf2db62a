"""An engine that stands where the log stands: loaded from rows, then carried on entry by entry; and what entries say.

The same entries give the same decisions, so every process can hold one; only the holder of the lease writes down what
its own decides.
"""

from __future__ import annotations

import hashlib
import logging
from typing import Any, Self, get_args

import msgspec

from headgate.fleet.engine import rewinding, snapshot
from headgate.fleet.engine.engine import Decisions, Engine
from headgate.fleet.gates import rejecting
from headgate.fleet.model import changes, kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Change
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Rejected
from headgate.runtime import rows
from headgate.store.log import Log, LogEntry
from headgate.store.port import Store, Workspace

_log = logging.getLogger("headgate.replica")
LONGEST_CATCH_UP = 20_000
"""Further behind than this, loading the rows is quicker than replaying the log."""
_DIGEST_BYTES = 12
_TYPES: dict[str, type[Any]] = {one.__name__: one for one in get_args(Change)}
_NOT_COMPARED = frozenset({"bracket_place"})
"""A site of a rule that is gone is forgotten by loading, too: who was loaded has none to delete."""


class DivergedError(Exception):
    """The replica does not stand where the log says that it should."""


class LeftBehindError(DivergedError):
    """Entries that it has not taken yet are no longer kept."""


class _WrittenChange(msgspec.Struct, omit_defaults=True):
    """Payload of a `change` entry."""

    type: str
    change: object
    kind: str | None = None
    create_only: bool = False


class _ReadChange(msgspec.Struct):
    type: str
    change: msgspec.Raw
    kind: str | None = None
    create_only: bool = False


_write = msgspec.json.Encoder().encode
_read = msgspec.json.Decoder(_ReadChange).decode


def encoded(change: Change) -> bytes:
    if isinstance(change, changes.Put):
        item = change.object
        return _write(_WrittenChange("Put", item, kinds.of(item).name, change.create_only))
    return _write(_WrittenChange(type(change).__name__, change))


def decoded(payload: bytes) -> Change:
    entry = _read(payload)
    if entry.type == "Put":
        return changes.Put(
            snapshot.object_from(kinds.BY_NAME[entry.kind or ""], bytes(entry.change)), entry.create_only
        )
    change: Change = msgspec.json.decode(entry.change, type=_TYPES[entry.type])
    return change


def signed(change: Change, user: str, now: Instant) -> Change:
    """With who has marked a version as bad, where that is not said."""
    match change:
        case changes.SetVersionStatus(user=""):
            return msgspec.structs.replace(change, user=user)
        case changes.Put(object=model.Version(status="rejected") as version):
            return msgspec.structs.replace(change, object=rejecting.signed(version, user, now))
        case _:
            return change


class Mark(msgspec.Struct, omit_defaults=True):
    """Payload of a `decided` entry: where the engine's ids stood afterwards, and a digest of what was decided.

    Entries of versions that knew no digest have none; they are not compared.
    """

    sequence: int
    recheck: bool = False
    digest: str | None = None


def digest_of(decisions: Decisions, changes: rows.Changes) -> str:
    """Of what was decided at one moment, so that two engines can tell whether they decided the same. Empty for a decision
    that changed nothing.

    It covers the jobs in the order in which they were created, what was cancelled, and every row that follows, by content.
    In which order an engine came by the other rows is its own affair: one that was just loaded looks at more.
    """
    deletes = {key: keys for key, keys in changes.deletes.items() if key[0] not in _NOT_COMPARED}
    if not (decisions.created or decisions.cancelled or changes.puts or deletes):
        return ""
    encode = msgspec.msgpack.Encoder().encode
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    digest.update(encode([job.id for job in decisions.created]))
    digest.update(encode(sorted(job.id for job in decisions.cancelled)))
    for table in sorted(changes.puts):
        digest.update(encode((table, sorted(map(encode, changes.puts[table])))))
    for (table, columns), keys in sorted(deletes.items(), key=lambda item: (item[0][0], item[0][1] or ())):
        digest.update(encode((table, columns, sorted(map(encode, keys)))))
    return digest.hexdigest()


class ClockSet(msgspec.Struct):
    """Payload of a `clock` entry: where the workspace's time stood, and what the clock said."""

    was: Instant
    now: Instant


class Replica:
    def __init__(self, workspace: Workspace, engine: Engine, position: int, now: Instant) -> None:
        self.workspace = workspace
        self.engine = engine
        self.position = position
        self.last_at = now
        self.is_fresh = True
        """Loaded, and nothing decided since: the first decision looks at everything."""

    @classmethod
    def load(cls, store: Store, workspace: Workspace) -> Self:
        stored = store.load(workspace.name)
        engine = rows.restore(workspace.name, stored, NamedIds(workspace.id))
        newest = store.log_after(workspace.name, stored.consumed - 1, 1) if stored.consumed else []
        replica = cls(workspace, engine, stored.consumed, newest[0].at if newest else 0)
        replica.catch_up(store)
        return replica

    def catch_up(self, store: Log) -> int:
        """How many entries it took."""
        count = 0
        while True:
            entries = store.log_after(self.workspace.name, self.position, 1_000)
            if not entries:
                return count
            for entry in entries:
                self.take(entry)
            count += len(entries)

    def take(self, entry: LogEntry) -> None:
        """What another process has written."""
        if entry.seq != self.position + 1:
            raise LeftBehindError(f"{self.workspace.name}: entry {entry.seq} follows on {self.position}")
        if entry.kind == "decided":
            self._decide_as(entry)
        elif entry.kind == "clock":
            self.rewind(msgspec.json.decode(entry.payload, type=ClockSet))
        else:
            self._apply(entry)
        self.position = entry.seq
        self.last_at = max(self.last_at, entry.at)

    def rewind(self, to: ClockSet) -> Instant:
        """The moment that the workspace stands at afterwards."""
        self.engine.state, self.last_at = rewinding.rewound(self.engine.state, to.was, to.now)
        return self.last_at

    def _decide_as(self, entry: LogEntry) -> None:
        mark = msgspec.json.decode(entry.payload, type=Mark)
        made = self.decide(entry.at, is_recheck=mark.recheck)
        if self.engine.state.sequence != mark.sequence:
            raise DivergedError(
                f"{self.workspace.name}: sequence {self.engine.state.sequence} after entry {entry.seq}, "
                f"not {mark.sequence}"
            )
        if mark.digest is None:
            return
        digest = digest_of(made, rows.of_decisions(self.engine, [made]))
        if digest != mark.digest:
            raise DivergedError(
                f"{self.workspace.name}: entry {entry.seq} decided {mark.digest or 'nothing'}, "
                f"this process {digest or 'nothing'}"
            )

    def _apply(self, entry: LogEntry) -> None:
        try:
            self.engine.apply(decoded(entry.payload), entry.at)
        except Rejected as rejected:
            _log.warning("%s: entry %d is refused: %s", self.workspace.name, entry.seq, rejected)

    def decide(self, now: Instant, *, is_recheck: bool = False) -> Decisions:
        """A recheck looks at all there is, as an engine does that was just loaded."""
        state = self.engine.state
        if is_recheck:
            state.touch_all()
            for site in state.sites.values():
                state.waiting.touch(site)
        self.is_fresh = False
        return self.engine.decide(now)
