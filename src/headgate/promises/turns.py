"""Makes a slot or a cycle change hands in a copy of an engine, one decision after the other.

No single change does either: who holds a slot or executes has jobs that end, and what follows from that is decided. What
is done in a turn is what agents, and where those have nothing left to report people, would do.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model
from headgate.fleet.state import wakes
from headgate.fleet.state.slots import SlotTable
from headgate.fleet.state.state import State, Unobserved
from headgate.fleet.state.units import Site, Target, Unit
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Rejected
from headgate.kernel.wakes import Wake

MADE_UP = "made-up-to-wake"
MOST_TURNS = 8
"""Who stands further back in a line than that many starts is left there: whoever stands in front of it is driven."""
Maker = Callable[..., Iterable[changes.Change]]
"""Takes the state, who waits, and the names of the wake."""


def is_woken(engine: Engine, unit: Unit, wake: Wake, now: Instant) -> bool | None:
    """None if it did not happen: nothing is left that could be done, or it takes too many turns."""
    witness = _Witness(engine.state, unit, wake)
    engine.observer = witness
    for _ in range(MOST_TURNS):
        made = list(MAKERS[wake[0]](engine.state, unit, *wake[1:]))
        accepted = [change for change in made if is_accepted(engine, change, now)]
        if not accepted:
            return None
        engine.decide(now)
        if witness.has_happened:
            return witness.was_called
    return None


def is_accepted(engine: Engine, change: changes.Change, now: Instant) -> bool:
    try:
        engine.apply(change, now)
    except Rejected:
        return False
    return True


class _Calls(dict[Unit, None]):
    """In place of the units to look at: remembers who was called, also after it was looked at."""

    def __init__(self, dirty: dict[Unit, None]) -> None:
        super().__init__(dirty)
        self.since: set[Unit] = set()

    def __setitem__(self, unit: Unit, nothing: None) -> None:
        super().__setitem__(unit, nothing)
        self.since.add(unit)


class _Witness(Unobserved):
    """Sees for itself that a slot is taken or that a cycle has ended, and who is called from that moment on: that an
    engine says so, or calls before, counts for nothing."""

    def __init__(self, state: State, unit: Unit, wake: Wake) -> None:
        self._unit = unit
        self._wake = wake
        self._calls = state.waiting.dirty = _Calls(state.waiting.dirty)
        self._did_wait = False
        self.has_happened = False

    @property
    def was_called(self) -> bool:
        """Who no longer waited for it when it happened was looked at before."""
        return not self._did_wait or self._unit in self._calls.since

    def on_slot_taken(self, rule: str, resource: str, holder: str) -> None:
        self._saw(wakes.slot(resource))

    def on_group_changed(self, group: records.Group) -> None:
        if group.status in records.GROUP_ENDED and group.started_at is not None:
            self._saw(wakes.site(group.rule, group.resource))

    def _saw(self, happened: Wake) -> None:
        if happened == self._wake and (self.was_called or not self.has_happened):
            self.has_happened = True
            self._did_wait = self._wake in self._unit.waits
            self._calls.since.clear()


def endings(state: State, is_meant: Callable[[records.Job], bool]) -> Iterator[changes.Change]:
    return (
        changes.JobReported(job.id, "successful")
        for job in list(state.jobs.values())
        if job.status in model.JOB_LIVE and is_meant(job)
    )


def _slot(state: State, unit: Unit, resource: str) -> Iterator[changes.Change]:
    """Who else stands in line on the resource starts beyond the limit. Where nobody does, those who hold what the unit
    lacks end: then it is its own turn. Nothing if the resource itself holds all of that."""
    assert state.resources[resource]
    neighbour = _neighbour(state, unit, resource)
    if neighbour is not None and not any(skip.reason == MADE_UP for skip in state.skips.values()):
        yield from _skips(neighbour)
        return
    holders = {name: None for line in unit.lines for name in line.holders if name != resource}
    reports = list(endings(state, lambda job: job.resource in holders))
    yield from reports or (changes.Delete("Resource", name) for name in holders)


def _neighbour(state: State, unit: Unit, resource: str) -> Target | Site | None:
    targets = state.resources[resource].targets.values()
    units = (state.unit_of(target) for target in targets)
    others = (other for other in units if other is not unit and other.start_key is not None)
    return next((other for other in others if isinstance(other, Target | Site)), None)


def _skips(unit: Target | Site) -> Iterator[changes.Change]:
    """Of all that it may start: a skip names a version with its deployment."""
    for member in unit.members.values() if isinstance(unit, Site) else (unit,):
        for version, table in itertools.product(member.deployment.versions, unit.lines):
            assert isinstance(table, SlotTable)
            yield changes.PutSkip(
                MADE_UP,
                table.rule.id,
                deployment=member.deployment.name,
                tag=version.tag,
                environment=member.environment.name,
                resource=member.resource.name,
            )


def _site(state: State, unit: Unit, rule: str, resource: str) -> Iterator[changes.Change]:
    """The jobs of the cycle end, and what is left of it is given up. Nothing if none executes there: that one begins is
    decided by gates, which are opened one by one elsewhere."""
    assert state.brackets[rule]
    assert state.resources[resource]
    place = state.executing_at.get((rule, resource))
    group = place.executing if place is not None else None
    if group is None:
        return
    number = group.id
    reports = list(endings(state, lambda job: job.group == number))
    yield from reports or [changes.GroupAction("abort", group=number)]


MAKERS: dict[str, Maker] = {wakes.slot("")[0]: _slot, wakes.site("", "")[0]: _site}
"""By topic, what is done in the next turn to make it happen."""


def is_telling(state: State, unit: Unit, wake: Wake) -> bool:
    """Whether another unit makes it happen: one that does so itself is looked at anyway."""
    if wake[0] == wakes.slot("")[0]:
        return _neighbour(state, unit, wake[1]) is not None
    place = state.executing_at.get((wake[1], wake[2]))
    return place is not None and place is not unit
