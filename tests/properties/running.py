"""Plays a random scenario, also with engines that are disturbed in ways that must not be seen in the result."""

import hashlib
import json
from pathlib import Path
from typing import Any
from unittest import mock

from headgate.fleet.engine import snapshot
from headgate.fleet.engine.engine import Decisions, Engine
from headgate.fleet.model.changes import Change
from headgate.fleet.state.state import Journal
from headgate.kernel import instants
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Rejected
from headgate.promises.watch import FleetWatch
from headgate.simulate import run, scenario
from headgate.simulate.model.result import Result

from . import reducing, scenario_writer

Document = dict[str, Any]

FAILURES = Path(".pytest_cache/scenarios")
"""Scenarios that failed, to be kept under tests/scenarios by the behaviour that they show."""


def play(document: Document) -> Result:
    return run.simulate(scenario.read(document))


def as_file(document: Document) -> str:
    return scenario_writer.to_yaml(scenario.read(document))


def holds(check: reducing.Check, document: Document, about: str = "") -> None:
    """A failure carries the smallest scenario found that fails in the same way, and where it was saved."""
    if reducing.failure_of(check, document) is None:
        return
    found = reducing.smallest(document, check)
    error = reducing.failure_of(check, found)
    assert error is not None
    text = as_file(found)
    error.add_note(f"{about}\nA scenario that shows it, saved as {_saved(text)}:\n\n{text}")
    raise error


def _saved(text: str) -> Path:
    FAILURES.mkdir(parents=True, exist_ok=True)
    path = FAILURES / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.yaml"
    path.write_text(text, "utf-8")
    return path


class LookingEngine(Engine):
    """After every decision it is asked about everything, which leaves nothing behind, and looks at everything once more,
    by itself and after being read back: a unit that then finds something to do was not woken when it should have been.
    Of what is refused nothing is taken."""

    def apply(self, change: Change, now: Instant) -> None:
        before = self.dump()
        try:
            super().apply(change, now)
        except Rejected:
            assert self.dump() == before, f"refused, and yet changed: {difference(before, self.dump())}"
            raise

    def decide(self, now: Instant) -> Decisions:
        decisions = super().decide(now)
        before = self.dump()
        for target in sorted(self.state.targets):
            self.explain(target, now)
        self.is_converged(now)
        self.unconverged(now)
        assert self.state.journal == Journal(), "asking left something to tell"
        assert self.dump() == before, f"asking changed the state: {difference(before, self.dump())}"
        for unit in (*self.state.targets.values(), *self.state.sites.values()):
            self.state.waiting.touch(unit)
        again = super().decide(now)
        assert not again.created, f"a second look started {[job.target for job in again.created]}"
        assert not again.cancelled, f"a second look cancelled {[job.target for job in again.cancelled]}"
        assert not again.groups, f"a second look moved {[(g.resource, g.status) for g in again.groups]}"
        assert self.dump() == before, f"a second look changed the state: {difference(before, self.dump())}"
        return decisions

    @staticmethod
    def load(document: bytes, ids: IdSource) -> "LookingEngine":
        engine = LookingEngine(ids)
        engine.state = snapshot.load(document, ids)
        return engine


class ForgetfulEngine(Engine):
    """Keeps nothing but what it has written out: it reads its state back before every decision."""

    def decide(self, now: Instant) -> Decisions:
        observer = self.state.observer
        written = self.dump()
        self.state = snapshot.load(written, self.state.ids)
        self.state.observer = observer
        for group in self.state.groups.values():
            observer.on_group_changed(group)
        if isinstance(observer, FleetWatch):
            observer.jobs.update(self.state.jobs)
        assert self.dump() == written, f"it reads back otherwise: {difference(written, self.dump())}"
        return super().decide(now)

    @staticmethod
    def load(document: bytes, ids: IdSource) -> "ForgetfulEngine":
        engine = ForgetfulEngine(ids)
        engine.state = snapshot.load(document, ids)
        return engine


def play_with(engine: type[Engine], document: Document) -> Result:
    with mock.patch.object(run, "Engine", engine):
        return play(document)


def difference(one: bytes | str, other: bytes | str) -> str:
    """Both texts around the first place where they part."""
    left = one.decode() if isinstance(one, bytes) else one
    right = other.decode() if isinstance(other, bytes) else other
    place = next((n for n, (a, b) in enumerate(zip(left, right)) if a != b), min(len(left), len(right)))
    start = max(0, place - 80)
    return f"...{left[start : place + 120]}... became ...{right[start : place + 120]}..."


def instant(text: str) -> int:
    """A moment of the output, as the engine counts it."""
    return instants.parse(text)


def span_seconds(result: Result) -> int:
    return (result.end - result.start) // 1_000_000


def moments(result: Result) -> list[int]:
    """Whole seconds after the start at which something was decided."""
    found = {group.created_at for group in result.groups} | {job.created_at for job in result.jobs}
    found |= {job.completed_at for job in result.jobs if job.completed_at is not None}
    return sorted((at - result.start) // 1_000_000 for at in found)


def with_crashes(document: Document, seconds: list[int]) -> Document:
    """At the end of the list, so that the other steps keep their numbers, which the output names."""
    crashes = [{"at": f"+{at}s", "crash": "engine"} for at in seconds]
    spec = {**document["spec"], "timeline": [*document["spec"]["timeline"], *crashes]}
    return {**document, "spec": spec}


def assert_same(one: Result, other: Result) -> None:
    left, right = shown(one), shown(other)
    assert left == right, difference(left, right)


def shown(result: Result) -> str:
    """The output. A run that has not converged ends with the last time at which anyone would look again, and who waits for
    two things names the one or the other as the clock goes: there the end is a matter of who looked last."""
    document = result.document()
    if not document["converged"]:
        document["end"] = None
    return json.dumps(document, ensure_ascii=False, indent=1)


def without_places(result: Result) -> Document:
    """The output without the numbers of refused steps."""
    document = result.document()
    for item in document["rejected"]:
        item["step"] = item["step"].split(".")[-1]
    document["rejected"].sort(key=lambda item: (item["at"], json.dumps(item)))
    return document
