"""What was at each moment: the log is followed once, and what it changed is written down as it goes.

Whoever asks for a moment need not replay the log: a segment begins with all there was and goes on with changes, so one
segment is read and folded. Nothing here is in the way of who decides: it reads the log as any follower does, when
somebody asks, in a process beside the server.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from headgate.fleet.engine import target_states
from headgate.fleet.engine.engine import Decisions, Engine
from headgate.fleet.model import records
from headgate.fleet.state.state import State, Unobserved
from headgate.fleet.state.units import Site, Target, Unit
from headgate.kernel.budgets import BudgetUse
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.instants import Instant
from headgate.runtime.replica import DivergedError, Replica
from headgate.store.port import HistoryPiece, LogEntry, Store, Workspace
from headgate.store.sql_history import pack, unpack

KIND = "history"
"""Of the workspace's document with the engine, as it was at the end of what is written down."""
READ_AT_ONCE = 500
PIECE_CHANGES = 1_000
SEGMENT_CHANGES = 10_000
"""And not fewer than there are targets, so that all there was is not written more often than it changes."""
ENTRIES_BETWEEN_ENGINES = 20_000

Entry = tuple[Instant, str, str, Any]
"""When, which table, which name, and what it is from then on; None when it is gone."""
Tables = dict[str, dict[str, Any]]
TARGETS, GROUPS, BUDGETS = "targets", "groups", "budgets"
_RECORDS = frozenset({"target", "job", "group", "place", "progress", "warned"})
"""Rows that say nothing of objects: which targets and budgets there are follows from the others."""


class _Engine(msgspec.Struct):
    position: int
    last_at: Instant
    document: msgspec.Raw


class _Touched(dict[Unit, None]):
    """Every unit that was to be looked at, also after it was."""

    def __init__(self) -> None:
        super().__init__()
        self.all: dict[Unit, None] = {}

    def __setitem__(self, unit: Unit, nothing: None) -> None:
        super().__setitem__(unit, nothing)
        self.all[unit] = None


class _Slots(Unobserved):
    """Whether slots changed hands."""

    has_changed = False

    def on_slot_taken(self, rule: str, resource: str, holder: str) -> None:
        self.has_changed = True

    def on_slot_freed(self, rule: str, resource: str) -> None:
        self.has_changed = True


class _Follower(Replica):
    """Remembers what it decided last."""

    made = Decisions()

    def decide(self, now: Instant, *, is_recheck: bool = False) -> Decisions:
        self.made = super().decide(now, is_recheck=is_recheck)
        return self.made


class Historian:
    """Of one workspace. Not to be used by two at once."""

    def __init__(self, store: Store, workspace: Workspace) -> None:
        self._store = store
        self._workspace = workspace
        self._tables: Tables = {TARGETS: {}, GROUPS: {}, BUDGETS: {}}
        self._changes: list[Entry] = []
        self._segment = self._piece = self._in_segment = 0
        self._saved_at = 0
        self._slots = _Slots()
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
            found = self._store.log_after(self._workspace.name, self.position, READ_AT_ONCE)
            if not found:
                self._write()
                return True
            for entry in found:
                self._take(entry)
                if time.monotonic() > ends:
                    self._write()
                    return False

    def _begin(self) -> _Follower:
        """Where it was left, else at the first entry of the log, else where the rows stand by now."""
        name = self._workspace.name
        kept = self._kept()
        if kept is not None:
            engine = Engine.load(bytes(kept.document), NamedIds(self._workspace.id))
            replica = _Follower(self._workspace, engine, kept.position, kept.last_at)
            self._store.drop_history_after(name, kept.position)
            self._take_up()
        else:
            self._store.drop_history_after(name, -1)
            first = self._store.log_after(name, 0, 1)
            if not first or first[0].seq == 1:
                engine = Engine(NamedIds(self._workspace.id), name)
                replica = _Follower(self._workspace, engine, 0, self._workspace.created_at)
            else:
                replica = _Follower.load(self._store, self._workspace)
            self._watch(replica.engine.state)
            self._look_at_all(replica)
            self._changes.clear()
            self._begin_segment(replica)
        self._watch(replica.engine.state)
        self._saved_at = replica.position
        return replica

    def _kept(self) -> _Engine | None:
        found = self._store.documents(self._workspace.name, KIND).get(KIND)
        span = self._store.history_span(self._workspace.name)
        if found is None or span is None:
            return None
        kept = msgspec.json.decode(unpack(found), type=_Engine)
        first = self._store.log_after(self._workspace.name, kept.position, 1)
        is_connected = not first or first[0].seq == kept.position + 1
        return kept if is_connected else None

    def _take_up(self) -> None:
        span = self._store.history_span(self._workspace.name)
        assert span is not None
        newest = span[1]
        pieces = self._store.history_until(self._workspace.name, newest.until_at)
        self._tables = folded(pieces, newest.until_at)
        self._segment, self._piece = newest.segment, newest.piece + 1
        self._in_segment = SEGMENT_CHANGES if len(pieces) > 1 else 0

    def _watch(self, state: State) -> None:
        state.waiting.dirty = self._touched = _watched(state.waiting.dirty)
        state.observer = self._slots

    def _take(self, entry: LogEntry) -> None:
        replica = self._replica
        before = replica.engine.state
        try:
            replica.take(entry)
        except DivergedError:
            self._write()
            self._replica = replica = _Follower.load(self._store, self._workspace)
        if replica.engine.state is not before:
            self._watch(replica.engine.state)
            self._look_at_all(replica)
        elif entry.kind == "decided":
            self._look(replica, replica.made, entry.at)
        if len(self._changes) >= PIECE_CHANGES:
            self._write()

    def _look_at_all(self, replica: Replica) -> None:
        now = replica.last_at
        for table, found in tables_of(replica.engine, now).items():
            for name in {**self._tables[table], **found}:
                self._note(now, table, name, found.get(name))

    def _look(self, replica: Replica, made: Decisions, now: Instant) -> None:
        state = replica.engine.state
        for name in self._concerned(state, made):
            self._note(now, TARGETS, name, _target(state, state.targets.get(name), now))
        for key in made.rows:
            if key[0] == "group":
                self._note(now, GROUPS, key[1], _group(state.groups.get(key[1])))
        has_new_objects = any(key[0] not in _RECORDS for key in made.rows)
        has_failures = any(
            change[1] == TARGETS and (change[3] or [""])[0] == "failed" for change in self._changes
        )
        if has_new_objects or has_failures or self._slots.has_changed:
            self._slots.has_changed = False
            self._look_at_budgets(replica.engine, now)

    def _concerned(self, state: State, made: Decisions) -> dict[str, None]:
        """Whoever was looked at, and whose record was written. An object may change the state of targets that wait for
        something else meanwhile, as a freeze does; with objects that went, targets may have gone."""
        names: dict[str, None] = {}
        for unit in self._touched.all:
            if isinstance(unit, Target):
                names[unit.name] = None
            elif isinstance(unit, Site):
                names |= dict.fromkeys(member.name for member in unit.members.values())
        self._touched.all.clear()
        names |= dict.fromkeys(key[1] for key in made.rows if key[0] == "target")
        for key in made.rows:
            if key[0] not in _RECORDS:
                names |= dict.fromkeys(_reached(state, key))
                names |= dict.fromkeys(self._tables[TARGETS].keys() - state.targets.keys())
        return names

    def _look_at_budgets(self, engine: Engine, now: Instant) -> None:
        found = _budgets(engine)
        for name in {**self._tables[BUDGETS], **found}:
            self._note(now, BUDGETS, name, found.get(name))

    def _note(self, at: Instant, table: str, name: str, content: Any) -> None:
        known = self._tables[table]
        if known.get(name) == content:
            return
        if content is None:
            known.pop(name, None)
        else:
            known[name] = content
        self._changes.append((at, table, name, content))

    def _write(self) -> None:
        """What has changed since the last time; nothing is written for entries that changed nothing anybody sees."""
        if self._changes:
            changes, self._changes = self._changes, []
            document = msgspec.json.encode(changes)
            piece = HistoryPiece(
                self._segment, self._piece, changes[0][0], self.position, self.last_at, document
            )
            self._store.add_history(self._workspace.name, [piece])
            self._piece += 1
            self._in_segment += len(changes)
            if self._in_segment >= max(SEGMENT_CHANGES, len(self._tables[TARGETS])):
                self._begin_segment(self._replica)
        if self.position - self._saved_at >= ENTRIES_BETWEEN_ENGINES:
            self.save()

    def _begin_segment(self, replica: Replica) -> None:
        self._segment, self._piece, self._in_segment = replica.position, 1, 0
        document = msgspec.json.encode(self._tables)
        piece = HistoryPiece(self._segment, 0, replica.last_at, replica.position, replica.last_at, document)
        self._store.add_history(self._workspace.name, [piece])

    def save(self) -> None:
        """So that another process can go on from here."""
        document = msgspec.Raw(self._replica.engine.dump())
        kept = msgspec.json.encode(_Engine(self.position, self.last_at, document))
        self._store.put_document(self._workspace.name, KIND, KIND, pack(kept))
        self._saved_at = self.position


def tables_of(engine: Engine, now: Instant) -> Tables:
    """All there is."""
    state = engine.state
    groups = {id_: _group(group) for id_, group in state.groups.items()}
    return {
        TARGETS: {name: _target(state, target, now) for name, target in state.targets.items()},
        GROUPS: {id_: group for id_, group in groups.items() if group is not None},
        BUDGETS: _budgets(engine),
    }


def folded(pieces: list[HistoryPiece], at: Instant) -> Tables:
    """All there was at that moment."""
    first, *others = pieces
    tables = msgspec.json.decode(first.document, type=Tables)
    for piece in others:
        for moment, table, name, content in msgspec.json.decode(piece.document, type=list[Entry]):
            if moment > at:
                continue
            if content is None:
                tables[table].pop(name, None)
            else:
                tables[table][name] = content
    return tables


def _reached(state: State, key: tuple[str, ...]) -> Iterable[str]:
    """The targets whose state the object may change."""
    if key[0] == "Resource":
        resource = state.resources.get(key[1])
        return () if resource is None else resource.targets
    return state.targets


def _watched(dirty: dict[Unit, None]) -> _Touched:
    found = _Touched()
    for unit in dirty:
        found[unit] = None
    return found


def _target(state: State, target: Target | None, now: Instant) -> list[Any] | None:
    """State, current version, why it does not change, and the job that runs: id, status and version."""
    if target is None:
        return None
    record = target.record
    job = state.jobs.get(record.job or "")
    current = state.version(record.deployed)
    unit: Unit = target.site if target.site is not None else target
    found = target_states.of_target(state, target, now)
    reason = unit.held_by if found in ("waiting", "frozen") else None
    return [
        found,
        None if current is None else current.tag,
        None if reason is None else reason.value,
        None if job is None else [job.id, job.status, job.tag],
    ]


def _group(group: records.Group | None) -> dict[str, Any] | None:
    if group is None or group.status in records.GROUP_ENDED:
        return None
    return {
        "policy": group.policy,
        "environment": group.environment,
        "resource": group.resource,
        "status": group.status,
        "members": dict(_members(group)),
    }


def _members(group: records.Group) -> Iterator[tuple[str, str]]:
    for member in group.members:
        yield member.deployment, member.state


def _budgets(engine: Engine) -> dict[str, Any]:
    return {_budget_name(use): _budget(use) for use in engine.budgets()}


def _budget_name(use: BudgetUse) -> str:
    return "/".join((use.policy, use.rule, use.environment or "", use.rule_id, use.scope or ""))


def _budget(use: BudgetUse) -> dict[str, Any]:
    return {
        "policy": use.policy,
        "rule": use.rule,
        "kind": use.kind,
        "environment": use.environment,
        "scope": use.scope,
        "limit": use.limit,
        "used": use.used,
        "stoppedAt": use.stopped_at,
    }
