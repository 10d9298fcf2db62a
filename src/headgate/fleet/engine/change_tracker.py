"""What anybody can see change: targets, groups that have not ended, and budgets, as rows that are compared with what was
seen before.

Said once for all who ask what was, what is and what will be: the log that is read again, the engine that decides, and
a plan. Attached to an engine it notes whom each decision concerned, and compares them when it is asked to; nothing
that decides depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from headgate.fleet.engine import target_states
from headgate.fleet.model import kinds, records
from headgate.fleet.model import objects as model
from headgate.fleet.state.state import GateResult, Journal, Observer, State
from headgate.fleet.state.units import Site, Target, Unit
from headgate.kernel.budgets import BudgetUse
from headgate.kernel.instants import Instant

TARGETS, GROUPS, BUDGETS = "targets", "groups", "budgets"
Tables = dict[str, dict[str, Any]]
Row = tuple[str, str, Any]
"""Which table, which name, and what it is from now on; None when it is gone."""
HOLDERS_SHOWN = 10
"""A budget may have thousands of holders, and each of its changes is sent and written down."""
_RECORDS = frozenset({"target", "job", "group", "place", "progress", "warned"})
"""Rows that say nothing of objects: which targets and budgets there are follows from the others."""


class Watchable(Protocol):
    """An engine, as far as it is tracked."""

    state: State

    def budgets(self) -> Iterable[BudgetUse]: ...


class _Touched(dict[Unit, None]):
    """Every unit that was to be looked at, also after it was."""

    def __init__(self, dirty: dict[Unit, None]) -> None:
        super().__init__(dirty)
        self.all: dict[Unit, None] = dict(dirty)

    def __setitem__(self, unit: Unit, nothing: None) -> None:
        super().__setitem__(unit, nothing)
        self.all[unit] = None


class _Slots:
    """Hears whether slots changed hands, and passes on everything to who listened before."""

    def __init__(self, other: Observer) -> None:
        self._other = other
        self.have_changed = False

    def on_job_created(self, job: records.Job, verdicts: tuple[GateResult, ...]) -> None:
        self._other.on_job_created(job, verdicts)

    def on_job_changed(self, job: records.Job, old_status: str) -> None:
        self._other.on_job_changed(job, old_status)

    def on_group_changed(self, group: records.Group) -> None:
        self._other.on_group_changed(group)

    def on_slot_taken(self, rule: str, resource: str, holder: str) -> None:
        self.have_changed = True
        self._other.on_slot_taken(rule, resource, holder)

    def on_slot_freed(self, rule: str, resource: str) -> None:
        self.have_changed = True
        self._other.on_slot_freed(rule, resource)

    def on_version_rejected(self, version: model.Version) -> None:
        self._other.on_version_rejected(version)


class ChangeTracker:
    """Of one engine, by `engine.tracker`. `tables` is all that it has seen."""

    def __init__(self, tables: Tables | None = None) -> None:
        self.tables: Tables = tables if tables is not None else {TARGETS: {}, GROUPS: {}, BUDGETS: {}}
        self._state: State | None = None
        self._targets: dict[str, None] = {}
        self._groups: dict[str, None] = {}
        self._budgets_may_differ = False

    @property
    def is_behind(self) -> bool:
        return bool(self._targets or self._groups or self._budgets_may_differ)

    def attach(self, engine: Watchable) -> None:
        """Whatever was seen of another state may be otherwise in this one: all of it is compared."""
        state = self._state = engine.state
        state.waiting.dirty = self._touched = _Touched(state.waiting.dirty)
        state.observer = self._slots = _Slots(state.observer)
        self._targets |= dict.fromkeys((*self.tables[TARGETS], *state.targets))
        self._groups |= dict.fromkeys((*self.tables[GROUPS], *state.groups))
        self._budgets_may_differ = True

    def attach_up_to_date(self, engine: Watchable) -> None:
        """What the tables hold is what the engine has, as somebody knows who has written both down."""
        self.attach(engine)
        self._touched.all.clear()
        self._targets, self._groups, self._budgets_may_differ = {}, {}, False

    def is_attached_to(self, engine: Watchable) -> bool:
        return self._state is engine.state

    def decided(self, journal: Journal) -> None:
        """Whom a decision concerned: those who were looked at, and whose record was written. An object may change the
        state of targets that wait for something else meanwhile, as a freeze does, also when its time is over; with
        objects that went, targets may have gone."""
        state = self._state
        assert state is not None
        for unit in self._touched.all:
            if isinstance(unit, Target):
                self._targets[unit.name] = None
            elif isinstance(unit, Site):
                self._targets |= dict.fromkeys(member.name for member in unit.members.values())
        self._touched.all.clear()
        if any(notice.kind == kinds.FREEZE.name for notice in journal.notices):
            self._targets |= dict.fromkeys(state.targets)
        for key in journal.rows:
            if key[0] == "target":
                self._targets[key[1]] = None
            elif key[0] == "group":
                self._groups[key[1]] = None
            elif key[0] not in _RECORDS:
                self._targets |= dict.fromkeys(_reached(state, key))
                self._targets |= dict.fromkeys(n for n in self.tables[TARGETS] if n not in state.targets)
                self._budgets_may_differ = True

    def changes(
        self, engine: Watchable, now: Instant, is_enough: Callable[[], bool] = lambda: False
    ) -> list[Row]:
        """What is otherwise than it was. What there was no time for is left for the next time."""
        if not self.is_attached_to(engine):
            self.attach(engine)
        state, rows = engine.state, list[Row]()
        looked_at: list[str] = []
        for name in self._targets:
            if is_enough():
                break
            looked_at.append(name)
            content = _target(state, state.targets.get(name), now)
            if self._note(rows, TARGETS, name, content) and content is not None and content[0] == "failed":
                self._budgets_may_differ = True
        # Together, and not each before the next: to find the first of a dict one passes all that were taken out before.
        for name in looked_at:
            del self._targets[name]
        for name in self._groups:
            self._note(rows, GROUPS, name, _group(state.groups.get(name)))
        self._groups.clear()
        if (self._budgets_may_differ or self._slots.have_changed) and not self._targets:
            self._budgets_may_differ = self._slots.have_changed = False
            uses = budgets_of(engine)
            for name in {**self.tables[BUDGETS], **uses}:
                self._note(rows, BUDGETS, name, uses.get(name))
        return rows

    def _note(self, rows: list[Row], table: str, name: str, content: Any) -> bool:
        known = self.tables[table]
        if known.get(name) == content:
            return False
        if content is None:
            known.pop(name, None)
        else:
            known[name] = content
        rows.append((table, name, content))
        return True


def tables_of(engine: Watchable, now: Instant) -> Tables:
    """All there is."""
    state = engine.state
    groups = {id_: _group(group) for id_, group in state.groups.items()}
    return {
        TARGETS: {name: _target(state, target, now) for name, target in state.targets.items()},
        GROUPS: {id_: group for id_, group in groups.items() if group is not None},
        BUDGETS: budgets_of(engine),
    }


def _reached(state: State, key: tuple[str, ...]) -> Iterable[str]:
    """The targets whose state the object may change."""
    if key[0] == "Resource":
        resource = state.resources.get(key[1])
        return () if resource is None else resource.targets
    return state.targets


def _target(state: State, target: Target | None, now: Instant) -> list[Any] | None:
    """State, current version, why it does not change, and the job that runs: id, status and version."""
    if target is None:
        return None
    record = target.record
    job = state.jobs.get(record.job or "")
    current = state.version(record.deployed)
    unit: Unit = target.site if target.site is not None else target
    target_state = target_states.of_target(state, target, now)
    reason = unit.held_by if target_state in ("waiting", "frozen") else None
    return [
        target_state,
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
        "members": {member.deployment: member.state for member in group.members},
    }


def budgets_of(engine: Watchable) -> dict[str, Any]:
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
        "holders": [holder.name for holder in use.holders[:HOLDERS_SHOWN]],
        "stoppedAt": use.stopped_at,
    }
