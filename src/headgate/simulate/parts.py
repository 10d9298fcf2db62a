"""Room for the levels below the fleet: a part of the simulated world brings the steps and objects it serves.

A part has its own events in virtual time. At one instant the run first lets every part and the agents do what is
due, then plays the timeline, then lets the engine and every part decide once.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from headgate.fleet.engine import manifests
from headgate.kernel.instants import Instant
from headgate.simulate.model import steps
from headgate.simulate.model.result import Explained, Result


class SimulatedLevel(Protocol):
    """One level of the simulated world. A refused step or object raises `Rejected`."""

    step_kinds: frozenset[str]

    def serves(self, api_version: str | None, kind: str) -> bool: ...

    def apply(self, item: manifests.ForeignObject, now: Instant) -> None: ...

    def play(self, step: steps.Step, now: Instant) -> None: ...

    def next_event(self) -> Instant | None:
        """When something is due that needs no decision: a pod becomes ready, an object is gone."""

    def advance(self, now: Instant) -> None: ...

    def decide(self, now: Instant) -> None: ...

    def crash(self, now: Instant) -> None: ...

    def is_converged(self, now: Instant) -> bool: ...

    def fill(self, document: dict[str, Any]) -> None:
        """Adds to the lists of the output document that this part knows about."""


@runtime_checkable
class Level(Protocol):
    """A part that also has something to say about itself, at any time and at the end."""

    def is_repeating(self) -> bool:
        """Whether all that is left to happen has happened before, again and again, and changes nothing."""

    def explain(self, question: steps.ExplainStep, now: Instant) -> Explained: ...

    def snapshot(self, now: Instant) -> Iterable[dict[str, Any]]: ...

    def end(self, now: Instant, *, was_cut: bool) -> None:
        """The last look: what was promised about how things end is judged here."""

    def report(self, result: Result) -> None:
        """Adds to the result what only this part knows."""


@runtime_checkable
class ReadsSignals(Protocol):
    """A part whose gates read the signals of the fleet."""

    def read_signals(self, signals: Mapping[str, Any]) -> None: ...


def serving_step(parts: Sequence[SimulatedLevel], kind: str) -> SimulatedLevel | None:
    return next((part for part in parts if kind in part.step_kinds), None)


def serving_kind(
    parts: Sequence[SimulatedLevel], api_version: str | None, kind: str
) -> SimulatedLevel | None:
    return next((part for part in parts if part.serves(api_version, kind)), None)
