"""Makes what units wait for happen, in a copy of an engine, and sees whether they are looked at again.

A wake is a name: that a unit stands on its list says nothing about whether anything ever calls it. So for each wake
that a unit names there is a change here that makes it happen for real, applied as the API would apply it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum, auto

from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes
from headgate.fleet.model import objects as model
from headgate.fleet.state import wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site, Target, Unit
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.wakes import Wake
from headgate.promises import turns
from headgate.promises.turns import MADE_UP, Maker


class WakeAnswer(Enum):
    """What a unit did when what it waits for was to happen."""

    WOKEN = auto()
    SLEPT = auto()
    NOT_DRIVEN = auto()
    """It could not be made to happen to the state as it is: each maker says when it has nothing to do."""
    IMPOSSIBLE = auto()
    """It names what is not there, or a topic that nothing fires."""


_WORDS = {
    WakeAnswer.SLEPT: "which happened, and is not looked at",
    WakeAnswer.IMPOSSIBLE: "which nothing can make happen",
}


class WakeDriver:
    """Drives each wake once in a run, whoever waits for it and whenever: a run names few different ones. What could not
    be driven is tried again when nothing of its topic is left that was tried less often."""

    def __init__(self) -> None:
        self.driven: Counter[str] = Counter()
        """By topic, how often it was made to happen."""
        self.not_driven: Counter[str] = Counter()
        """By topic, how often it was not."""
        self._answered: set[Wake] = set()
        self._tries: Counter[Wake] = Counter()

    def unanswered(self, settled: Engine, now: Instant) -> list[str]:
        """`settled` is a copy that has decided: it is used up. What is said of each unit that slept through its wake."""
        state = settled.state
        sampled = self._sampled(state)
        makings = {wake: _makings(state, unit, wake) for unit, wake in sampled}
        has_turns = any(wake[0] in turns.MAKERS and makings[wake] for _, wake in sampled)
        written = settled.dump() if has_turns else b""
        answers: list[tuple[Unit, Wake, WakeAnswer]] = []
        for unit, wake in sampled:
            if makings[wake] is None:
                answer = WakeAnswer.IMPOSSIBLE
            elif not makings[wake]:
                answer = WakeAnswer.NOT_DRIVEN
            elif wake[0] in turns.MAKERS:
                answer = _driven_by_turns(Engine.load(written, state.ids), unit, wake, now)
            else:
                answer = _driven(settled, unit, wake, now)
            self._note(wake, answer)
            answers.append((unit, wake, answer))
        messages = [_message(*each) for each in answers if each[2] in _WORDS]
        return [*messages, *_slept_in(state)]

    def _note(self, wake: Wake, answer: WakeAnswer) -> None:
        counted = self.not_driven if answer is WakeAnswer.NOT_DRIVEN else self.driven
        counted[wake[0]] += 1
        if answer is not WakeAnswer.NOT_DRIVEN:
            self._answered.add(wake)

    def _sampled(self, state: State) -> list[tuple[Unit, Wake]]:
        """Of each topic one wake that was not driven before."""
        chosen: dict[str, tuple[tuple[int, bool], Unit, Wake]] = {}
        for unit in _units(state):
            for wake in unit.waits:
                if wake in self._answered:
                    continue
                is_telling = wake[0] not in turns.MAKERS or turns.is_telling(state, unit, wake)
                key = (self._tries[wake], not is_telling)
                if wake[0] not in chosen or key < chosen[wake[0]][0]:
                    chosen[wake[0]] = (key, unit, wake)
        pairs = [(unit, wake) for _, unit, wake in chosen.values()]
        self._tries.update(wake for _, wake in pairs)
        return sorted(pairs, key=lambda pair: pair[1][0] in _TAKE_AWAY)


def _message(unit: Unit, wake: Wake, answer: WakeAnswer) -> str:
    return f"{unit.sort_key} waits for {' '.join(wake)}, {_WORDS[answer]}"


def _units(state: State) -> dict[Unit, None]:
    return dict.fromkeys(state.unit_of(target) for target in state.targets.values())


def _slept_in(state: State) -> Iterator[str]:
    """The clock goes on to the last time that anybody waits for."""
    timed = {unit: unit.requeue_at for unit in _units(state) if unit.requeue_at is not None}
    if timed:
        state.waiting.fire(max(timed.values()))
    for unit, at in timed.items():
        if unit not in state.waiting.dirty:
            yield f"{unit.sort_key} waits for {instants.show(at)}, which has come, and is not looked at"


def _makings(state: State, unit: Unit, wake: Wake) -> list[changes.Change] | None:
    """None if nothing fires the topic, or it names what is not there."""
    make = _MAKERS.get(wake[0])
    if make is None:
        return None
    try:
        return list(make(state, unit, *wake[1:]))
    except KeyError:
        return None


def _driven(engine: Engine, unit: Unit, wake: Wake, now: Instant) -> WakeAnswer:
    """By the first change that is accepted. What was driven before in the same copy may have taken away who waits or what
    the wake names."""
    state = engine.state
    if unit not in _units(state):
        return WakeAnswer.NOT_DRIVEN
    for change in _makings(state, unit, wake) or ():
        is_accepted = turns.is_accepted(engine, change, now)
        is_called = unit in state.waiting.dirty
        state.waiting.dirty.clear()
        if is_accepted:
            return WakeAnswer.WOKEN if is_called else WakeAnswer.SLEPT
    return WakeAnswer.NOT_DRIVEN


def _driven_by_turns(engine: Engine, unit: Unit, wake: Wake, now: Instant) -> WakeAnswer:
    """In a copy of its own, which decides."""
    engine.decide(now)
    same = next((other for other in _units(engine.state) if _is_same(other, unit)), None)
    if same is None or wake not in same.waits:
        return WakeAnswer.NOT_DRIVEN
    match turns.is_woken(engine, same, wake, now):
        case None:
            return WakeAnswer.NOT_DRIVEN
        case is_woken:
            return WakeAnswer.WOKEN if is_woken else WakeAnswer.SLEPT


def _is_same(unit: Unit, other: Unit) -> bool:
    return type(unit) is type(other) and unit.sort_key == other.sort_key


def _freeze(state: State, unit: Unit) -> Iterator[changes.Change]:
    return (changes.Delete("Freeze", name) for name in state.freezes)


def _signals(state: State, unit: Unit) -> Iterator[changes.Change]:
    yield changes.Put(model.Signal(MADE_UP, MADE_UP, value=True))


def _environments(state: State, unit: Unit) -> Iterator[changes.Change]:
    """There is one more, without resources: who gains or loses a target hears of it anyway."""
    yield changes.Put(model.Environment(MADE_UP, MADE_UP))


def _ranks(state: State, unit: Unit) -> Iterator[changes.Change]:
    return _departures(unit, state.targets.values())


def _members(state: State, unit: Unit, deployment: str) -> Iterator[changes.Change]:
    return _departures(unit, state.deployments[deployment].targets())


def _pair(state: State, unit: Unit, deployment: str, environment: str) -> Iterator[changes.Change]:
    pair = state.deployments[deployment].pairs[environment]
    yield from turns.endings(
        state, lambda job: (job.deployment, job.environment) == (deployment, environment)
    )
    yield from _departures(unit, pair.targets.values())


def _resource(state: State, unit: Unit, name: str) -> Iterator[changes.Change]:
    yield from turns.endings(state, lambda job: job.resource == name)
    yield changes.SetVariable(MADE_UP, True, resource=state.resources[name].name)


def _versions(state: State, unit: Unit, deployment: str) -> Iterator[changes.Change]:
    node = state.deployments[deployment]
    yield changes.Put(model.Version(MADE_UP, f"{node.name}/{MADE_UP}", node.name, MADE_UP))


def _stages(state: State, unit: Unit, version: str, environment: str) -> Iterator[changes.Change]:
    """A version comes further by its first success on a target, not by another one with other values, and not by going back
    to it: a success lasts while something newer runs."""
    wanted, _ = state.versions[version].id, state.environments[environment]
    counted = {name for stage in state.progress.get(wanted, {}).values() for name in stage}
    return turns.endings(state, lambda job: job.version == wanted and job.target not in counted)


def _votes(state: State, unit: Unit, version: str, environment: str) -> Iterator[changes.Change]:
    node = state.versions[version].object
    where = state.environments[environment].name
    yield changes.Vote(node.deployment, node.tag, where, MADE_UP, "approved")


def _skips(state: State, unit: Unit, rule: str) -> Iterator[changes.Change]:
    yield changes.PutSkip(MADE_UP, rule)


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


def _departures(unit: Unit, targets: Iterable[Target]) -> Iterator[changes.Change]:
    """Another resource goes, and its targets with it."""
    assert isinstance(unit, Target | Site)
    others = [target for target in targets if target.resource is not unit.resource]
    return (changes.Delete("Resource", target.resource.name) for target in others)


_TAKE_AWAY = frozenset({wakes.RANKS[0], wakes.members("")[0], wakes.pair("", "")[0], wakes.slots("")[0]})
"""Driven last, because a resource goes with them."""

_MAKERS: dict[str, Maker] = {
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
    wakes.slots("")[0]: _slots,
    **turns.MAKERS,
}
"""By topic, what makes it happen. A topic that is not here is one that nothing fires."""
TOPICS = frozenset(_MAKERS)
