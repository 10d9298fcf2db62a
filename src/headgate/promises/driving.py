"""Makes what units wait for happen, in a copy of an engine, and sees whether they are looked at again.

A wake is a name: that a unit stands on its list says nothing about whether anything ever calls it. So for each wake
that a unit names there is a change here that makes it happen for real, applied as the API would apply it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model
from headgate.fleet.state import wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site, Target, Unit
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Rejected
from headgate.kernel.wakes import Wake

_MADE_UP = "made-up-to-wake"


class WakeDriver:
    """Drives each wake once in a run, whoever waits for it and whenever: a run names few different ones."""

    def __init__(self) -> None:
        self._driven: set[Wake] = set()

    def unanswered(self, settled: Engine, now: Instant) -> list[str]:
        """`settled` is a copy that has decided: it is used up. What is said of each unit that slept through its wake."""
        state = settled.state
        sampled = self._sampled(state)
        found = [
            f"{unit.order} waits for {' '.join(wake)}, which nothing can make happen"
            for unit, wake in sampled
            if _makings(state, unit, wake) is None
        ]
        for unit, wake in sampled:
            if unit in _units(state) and not _is_reached(settled, unit, wake, now):
                found.append(f"{unit.order} waits for {' '.join(wake)}, which happened, and is not looked at")
            state.waiting.dirty.clear()
        return [*found, *_slept_in(state)]

    def _sampled(self, state: State) -> list[tuple[Unit, Wake]]:
        """Of each topic one wake that was not driven before."""
        chosen: dict[str, tuple[Unit, Wake]] = {}
        for unit in _units(state):
            for wake in unit.waits:
                if wake not in self._driven:
                    chosen.setdefault(wake[0], (unit, wake))
        self._driven.update(wake for _, wake in chosen.values())
        return sorted(chosen.values(), key=lambda pair: pair[1][0] in _TAKE_AWAY)


def _units(state: State) -> dict[Unit, None]:
    return dict.fromkeys(state.unit_of(target) for target in state.targets.values())


def _slept_in(state: State) -> Iterator[str]:
    """The clock goes on to the last time that anybody waits for."""
    timed = {unit: unit.requeue_at for unit in _units(state) if unit.requeue_at is not None}
    if timed:
        state.waiting.fire(max(timed.values()))
    for unit, at in timed.items():
        if unit not in state.waiting.dirty:
            yield f"{unit.order} waits for {instants.show(at)}, which has come, and is not looked at"


def _makings(state: State, unit: Unit, wake: Wake) -> list[changes.Change] | None:
    """Changes that make it happen; none as things are, if no job is under way that could end. None if it names what is not
    there, or a topic that nothing fires."""
    make = _MAKERS.get(wake[0])
    if make is None:
        return None
    try:
        return list(make(state, unit, *wake[1:]))
    except KeyError:
        return None


def _is_reached(engine: Engine, unit: Unit, wake: Wake, now: Instant) -> bool:
    """Also where there is nothing left to happen: what was driven before may have taken away what the wake names."""
    for change in _makings(engine.state, unit, wake) or ():
        try:
            engine.apply(change, now)
        except Rejected:
            continue
        return unit in engine.state.waiting.dirty
    return True


def _freeze(state: State, unit: Unit) -> Iterator[changes.Change]:
    return (changes.Delete("Freeze", name) for name in state.freezes)


def _signals(state: State, unit: Unit) -> Iterator[changes.Change]:
    yield changes.Put(model.Signal(_MADE_UP, _MADE_UP, value=True))


def _environments(state: State, unit: Unit) -> Iterator[changes.Change]:
    return (changes.Put(node.object) for node in state.environments.values())


def _ranks(state: State, unit: Unit) -> Iterator[changes.Change]:
    return _departures(unit, state.targets.values())


def _members(state: State, unit: Unit, deployment: str) -> Iterator[changes.Change]:
    return _departures(unit, state.deployments[deployment].targets())


def _pair(state: State, unit: Unit, deployment: str, environment: str) -> Iterator[changes.Change]:
    pair = state.deployments[deployment].pairs[environment]
    yield from _endings(state, lambda job: (job.deployment, job.environment) == (deployment, environment))
    yield from _departures(unit, pair.targets.values())


def _resource(state: State, unit: Unit, name: str) -> Iterator[changes.Change]:
    yield from _endings(state, lambda job: job.resource == name)
    yield changes.SetVariable(_MADE_UP, True, resource=state.resources[name].name)


def _versions(state: State, unit: Unit, deployment: str) -> Iterator[changes.Change]:
    node = state.deployments[deployment]
    yield changes.Put(model.Version(_MADE_UP, f"{node.name}/{_MADE_UP}", node.name, _MADE_UP))


def _stages(state: State, unit: Unit, version: str, environment: str) -> Iterator[changes.Change]:
    """A version comes further by its first success on a target, not by another one with other values, and not by going back
    to it: a success lasts while something newer runs."""
    wanted, _ = state.versions[version].id, state.environments[environment]
    counted = {name for stage in state.progress.get(wanted, {}).values() for name in stage}
    return _endings(state, lambda job: job.version == wanted and job.target not in counted)


def _votes(state: State, unit: Unit, version: str, environment: str) -> Iterator[changes.Change]:
    node = state.versions[version].object
    where = state.environments[environment].name
    yield changes.Vote(node.deployment, node.tag, where, _MADE_UP, "approved")


def _skips(state: State, unit: Unit, rule: str) -> Iterator[changes.Change]:
    yield changes.PutSkip(_MADE_UP, rule)


def _breaker(state: State, unit: Unit, rule: str, scope: str) -> Iterator[changes.Change]:
    breaker = state.breakers.get((rule, scope))
    if breaker is not None and breaker.stopped_at is not None:
        yield changes.ResumeBudget(rule)


def _slots(state: State, unit: Unit, rule: str) -> Iterator[changes.Change]:
    """What held a slot is gone, and is another than who waits."""
    assert isinstance(unit, Target | Site)
    for table in state.slots[rule].tables():
        others = [name for name in table.holders if name != unit.resource.name]
        yield from (changes.Delete("Resource", name) for name in others)


def _slot(state: State, unit: Unit, resource: str) -> Iterator[changes.Change]:
    """Only a start takes one, and a start is no change: there is nothing to apply."""
    assert state.resources[resource]
    return iter(())


def _site(state: State, unit: Unit, rule: str, resource: str) -> Iterator[changes.Change]:
    """A cycle ends when its jobs and hooks have, one after the other: there is no single change for that."""
    assert state.brackets[rule]
    assert state.resources[resource]
    return iter(())


def _departures(unit: Unit, targets: Iterable[Target]) -> Iterator[changes.Change]:
    """Another resource goes, and its targets with it."""
    assert isinstance(unit, Target | Site)
    others = [target for target in targets if target.resource is not unit.resource]
    return (changes.Delete("Resource", target.resource.name) for target in others)


def _endings(state: State, is_meant: Callable[[records.Job], bool]) -> Iterator[changes.Change]:
    return (
        changes.JobReported(job.id, "successful")
        for job in list(state.jobs.values())
        if job.status in model.JOB_LIVE and is_meant(job)
    )


_TAKE_AWAY = frozenset({wakes.RANKS[0], wakes.members("")[0], wakes.pair("", "")[0], wakes.slots("")[0]})
"""Driven last, because a resource goes with them."""

_MAKERS: dict[str, Callable[..., Iterator[changes.Change]]] = {
    wakes.FREEZES[0]: _freeze,
    wakes.SIGNALS[0]: _signals,
    wakes.ENVIRONMENTS[0]: _environments,
    wakes.RANKS[0]: _ranks,
    wakes.resource("")[0]: _resource,
    wakes.pair("", "")[0]: _pair,
    wakes.members("")[0]: _members,
    wakes.versions("")[0]: _versions,
    wakes.stages("", "")[0]: _stages,
    wakes.votes("", "")[0]: _votes,
    wakes.skips("")[0]: _skips,
    wakes.breaker("", "")[0]: _breaker,
    wakes.slot("")[0]: _slot,
    wakes.slots("")[0]: _slots,
    wakes.site("", "")[0]: _site,
}
"""By topic, what makes it happen. A topic that is not here is one that nothing fires."""
TOPICS = frozenset(_MAKERS)
