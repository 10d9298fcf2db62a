"""Who starts now: units in order, each by the state of that very moment, all slots or none.

A unit that something else holds back does not hold back those behind it in line. What a unit would start is planned when
it is looked at, and planned again before it starts only if something has moved meanwhile that the plan was made by.
"""

from __future__ import annotations

import heapq
import itertools
import operator
from collections.abc import Iterator

import msgspec

from headgate.fleet.cycles import jobs, readiness, retries, sites, targets
from headgate.fleet.cycles.readiness import GroupStart
from headgate.fleet.cycles.targets import Release
from headgate.fleet.gates import dependencies
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.rules.deployment_dependency import DeploymentDependency
from headgate.fleet.rules.gradual_rollout import GradualRollout
from headgate.fleet.state import holds, wakes
from headgate.fleet.state.slots import SlotTable
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site, StartKey, Target, Unit, VersionNode
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant

PLANS_PER_UNIT_AT_MOST = 64
"""A bound on the work of one decision; reaching it means that two rules undo each other's work."""

Start = Release | GroupStart
_SORT_KEY = operator.attrgetter("sort_key")


def settle(state: State, now: Instant) -> None:
    """Looks at every unit that something happened to, and starts what may start, until nothing is left to do."""
    # Two loops. The inner one plans every unit that something happened to, in one order, until no plan wakes another unit;
    # who is woken while it goes on has its turn in that order too, as if everybody were planned each time.
    # Only then is anyone admitted: who is first in line is known when everybody stands there. What is admitted takes slots,
    # moves resources and wakes others, so the outer loop begins again with those, until a walk along the line starts nobody.
    # All of it is one instant, and the order of events within it cannot be seen in the result.
    plans_left = PLANS_PER_UNIT_AT_MOST * (len(state.targets) + len(state.sites) + 64)
    open_starts: dict[Unit, StartPlan] = {}
    state.lines.clear()
    while True:
        while state.waiting.dirty:
            for unit in _woken(state.waiting):
                plans_left -= 1
                if plans_left < 0:
                    raise RuntimeError(f"no end to the decisions at {now}: {unit.sort_key}")
                plan = _plan(state, unit, now)
                if plan is None:
                    open_starts.pop(unit, None)
                else:
                    open_starts[unit] = plan
        if not _admit(state, open_starts, now) and not state.waiting.dirty:
            return
        open_starts.clear()


def _woken(waiting: wakes.Waiting) -> Iterator[Unit]:
    """Units that something happened to, in their order, and those that something happens to meanwhile and whose turn is
    still to come. Who is woken after its turn is touched again. So what is decided, and the ids that it is given, do not
    depend on who else is looked at: an engine that was loaded a moment ago looks at everybody."""
    dirty = waiting.dirty
    ahead = sorted(dirty, key=_SORT_KEY, reverse=True)
    dirty.clear()
    joined: list[tuple[str, int, Unit]] = []
    numbers = itertools.count()
    pending: set[Unit] = set()
    later: dict[Unit, None] = {}
    while ahead or joined:
        is_joined = bool(joined) and (not ahead or joined[0][0] < ahead[-1].sort_key)
        unit = heapq.heappop(joined)[2] if is_joined else ahead.pop()
        pending.discard(unit)
        yield unit
        if not dirty:
            continue
        pending = pending or set(ahead)
        for other in dirty:
            if other.sort_key <= unit.sort_key:
                later[other] = None
            elif other not in pending:
                pending.add(other)
                heapq.heappush(joined, (other.sort_key, next(numbers), other))
        dirty.clear()
    for unit in later:
        waiting.touch(unit)


class Needed(msgspec.Struct, frozen=True):
    """The slots that a start needs, all of them or none, and what is going to run on them."""

    resource: str
    runners: list[tuple[Target, VersionNode]]
    tables: list[SlotTable]


class StartPlan(msgspec.Struct, frozen=True):
    """A start that nothing hinders, and the counters that it was planned by."""

    start: Start
    needed: Needed
    blockers: Blockers
    basis: tuple[int, ...] | None


def _plan(state: State, unit: Unit, now: Instant) -> StartPlan | None:
    """What the unit may start as far as it knows; otherwise it waits, or stands in line."""
    unit.leave_lines()
    start, blockers = _reconcile(state, unit, now)
    for request in blockers.requests:
        state.ask_for_approval(request)
    for problem in blockers.problems:
        state.warn(now, problem.target, problem.version, problem.message)
    if start is None:
        _wait(state, unit, blockers)
        return None
    plan = StartPlan(start, _slots_of(state, unit, start), blockers, _basis(state, unit))
    return None if _stands_in_line(state, unit, plan, now) else plan


def _basis(state: State, unit: Unit) -> tuple[int, ...] | None:
    """Whatever may change what a target is to start; None for a site, which is looked at each time.

    A start of another one moves its resource, which dependencies read, and its deployment in the environment, which
    gates and some rollouts read. Everything else that happens is in the journal. Slots are asked for anew anyway.
    """
    if not isinstance(unit, Target):
        return None
    pair = unit.pair.progress if unit.rules.counts_the_pair else 0
    return (state.journal.moves, unit.resource.progress, pair)


def _reconcile(state: State, unit: Unit, now: Instant) -> tuple[Start | None, Blockers]:
    if isinstance(unit, Site):
        seen = sites.reconcile(state, unit, now)
        for member in unit.members.values():
            if member.record.slots:
                holds.settle_target(state, member)
        return seen
    assert isinstance(unit, Target)
    targets.settle(state, unit, now)
    plan = targets.plan(state, unit, now)
    release = plan.release
    if plan.endings:
        targets.end(state, unit, plan.endings, now)
    if (
        unit.record.retry_at is not None
        and release is not None
        and _takes_a_place_too_many(state, unit, release)
    ):
        retries.give_up_retry(state, unit)
    if unit.record.slots:
        holds.settle_target(state, unit)
    return release, plan.blockers


def _takes_a_place_too_many(state: State, target: Target, release: Release) -> bool:
    """Whether a newer version would start in the place that is held for the next attempt of another one, where a limit has
    shrunk below what is held: it stands in line, as any other new one does."""
    last = state.last_attempt(target.record.attempts)
    if last is None or release.kind != "deploy" or last.version == release.version.id:
        return False
    tables = holds.tables_for(state, (target,))
    return any(table.free < 0 and target.resource.name in table.holders for table in tables)


def _wait(state: State, unit: Unit, blockers: Blockers) -> None:
    held_by = Reason.SLOTS_TAKEN if unit.start_key is not None else blockers.reason
    state.waiting.wait(unit, tuple(blockers.wakes), blockers.requeue_at, held_by)


def _slots_of(state: State, unit: Unit, start: Start) -> Needed:
    if isinstance(unit, Site):
        assert isinstance(start, GroupStart)
        return Needed(
            unit.resource.name,
            readiness.runners(state, unit, start.group),
            readiness.tables_of(state, unit, start.group),
        )
    assert isinstance(unit, Target)
    assert isinstance(start, Release)
    return Needed(unit.resource.name, [(unit, start.version)], holds.tables_for(state, (unit,)))


def _stands_in_line(state: State, unit: Unit, plan: StartPlan, now: Instant) -> bool:
    """Where it is looked at again when one of its gates may say something else: what it waits for is always what it
    says, and its place in line, which follows from when its gates were satisfied, is that of this moment."""
    start, needed, blockers = plan.start, plan.needed, plan.blockers
    lacking = holds.lacking(state, needed.tables, needed.resource, needed.runners, now)
    if not lacking:
        return False
    for result in start.judged:
        blockers.add(result)
    unit.stand_in(lacking, start.key)
    blockers.watch(wakes.slot(needed.resource))
    if isinstance(unit, Site) or (isinstance(unit, Target) and unit.rules.of(GradualRollout)):
        blockers.watch(wakes.RANKS)
    blockers.watch(*(wakes.skips(table.rule.id) for table in lacking))
    # A holder may go on when its table is merely full; the line is walked only when a slot is free.
    blockers.watch(*(wakes.slots(table.rule.id) for table in lacking if needed.resource in table.holders))
    _wait(state, unit, blockers)
    return True


def _admit(state: State, open_starts: dict[Unit, StartPlan], now: Instant) -> bool:
    """Walks those who may start and, where slots are free, those in line, as one line. Whether anyone started.

    Whoever depends on another that is still to be asked comes after it: otherwise both would start side by side, and names
    would decide. A ring has no such order; it is asked in that of the line.
    """
    tables = [table for table in state.slot_tables() if table.has_waiters and table.free > 0]
    lines = [table.in_line() for table in tables]
    heap: list[tuple[StartKey, int, Unit]] = [
        (plan.start.key, -1, unit) for unit, plan in open_starts.items()
    ]
    for number, line in enumerate(lines):
        _push_next(heap, number, line)
    heapq.heapify(heap)
    tried: set[Unit] = set()
    passed: set[Unit] = set()
    behind: dict[Unit, list[tuple[StartKey, int, Unit]]] = {}
    started = False
    while heap:
        key, number, unit = heapq.heappop(heap)
        if unit not in tried:
            ahead = _asked_before(state, unit, open_starts, passed)
            if ahead is not None:
                behind.setdefault(ahead, []).append((key, -1, unit))
            else:
                tried.add(unit)
                passed.add(unit)
                if _attempt(state, unit, open_starts.get(unit), now):
                    started = True
                    _push_neighbours(state, heap, tried, unit)
                for waiter in behind.pop(unit, ()):
                    heapq.heappush(heap, waiter)
        if number >= 0 and tables[number].free > 0:
            _push_next(heap, number, lines[number])
        if not heap and behind:
            passed.update(behind)
            heap = sorted(waiter for waiters in behind.values() for waiter in waiters)
            behind.clear()
    return started


def _asked_before(
    state: State, unit: Unit, open_starts: dict[Unit, StartPlan], passed: set[Unit]
) -> Unit | None:
    """One that the unit waits for, and that may start in this very moment."""
    for other in _upstreams(state, unit):
        if other is unit or other in passed:
            continue
        if other in open_starts or _has_room(other):
            return other
    return None


def _has_room(unit: Unit) -> bool:
    """Whether one that stands in line lacks nothing any more: a slot is free, or its resource has come to hold one."""
    assert isinstance(unit, Target | Site)
    return bool(unit.lines) and all(line.has_room_for(unit.resource.name) for line in unit.lines)


def _upstreams(state: State, unit: Unit) -> Iterator[Unit]:
    """Those of other cycles and of none: inside a cycle its own order holds."""
    members = unit.members.values() if isinstance(unit, Site) else (unit,)
    for target in members:
        assert isinstance(target, Target)
        for rule in target.rules.of(DeploymentDependency):
            for upstream in dependencies.upstream_targets(rule, target):
                yield state.unit_of(upstream)


def _push_neighbours(
    state: State, heap: list[tuple[StartKey, int, Unit]], tried: set[Unit], unit: Unit
) -> None:
    """The resource holds its slots now: whoever stood in line on it takes their turn in order, not a round later; also who
    was asked before in this round, or it would matter who was asked at all."""
    assert isinstance(unit, Target | Site)
    for other in state.waiting.waiters(wakes.slot(unit.resource.name)):
        if other.start_key is not None:
            tried.discard(other)
            heapq.heappush(heap, (other.start_key, -1, other))


def _push_next(
    heap: list[tuple[StartKey, int, Unit]], number: int, line: Iterator[tuple[StartKey, Unit]]
) -> None:
    start = next(line, None)
    if start is not None:
        heapq.heappush(heap, (start[0], number, start[1]))


def _attempt(state: State, unit: Unit, plan: StartPlan | None, now: Instant) -> bool:
    """Decides on the state of this very moment, which earlier starts may have moved."""
    if plan is None or unit in state.waiting.dirty or plan.basis is None or plan.basis != _basis(state, unit):
        plan = _plan(state, unit, now)
        if plan is None:
            return False
    elif _stands_in_line(state, unit, plan, now):
        return False
    if isinstance(plan.start, GroupStart):
        assert isinstance(unit, Site)
        holds.take_for_group(state, plan.needed.tables, plan.start.group, now)
        sites.launch(state, unit, plan.start, now)
        state.waiting.touch(unit)
    else:
        assert isinstance(unit, Target)
        _start_target(state, unit, plan.start, plan.needed, now)
    return True


def _start_target(state: State, target: Target, release: Release, needed: Needed, now: Instant) -> None:
    """From now on it waits for its job alone, unless no agent can have that. A start that leaves nothing but a live job
    behind moves nothing that others were planned by, beside what has a counter of its own: see `_basis`."""
    state.waiting.wait(target, (), None)
    moves = state.journal.moves
    holds.take_for_target(state, needed.tables, target, now)
    jobs.create(
        state,
        target,
        release.version,
        now,
        kind=release.kind,
        attempt=release.attempt,
        variables=release.variables,
        judged=release.judged,
        reason=release.reason,
    )
    if target.record.job is None:
        holds.settle_target(state, target)
    else:
        state.journal.moves = moves
