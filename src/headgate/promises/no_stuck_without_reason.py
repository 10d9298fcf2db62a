"""Whoever waits says why and what wakes it, and the reason is true.

In the fleet a target names its wakes, which are made to happen in a copy of the engine. On a cluster the planner gives
reasons: a gate that is named as one must be shut when it is asked again, and a request must come back at the time that
it names, and when there is news of an object that it waits for.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from headgate.graph.reconcile import judging
from headgate.graph.reconcile.instances import InstancePass
from headgate.graph.reconcile.nodes import NodeUnit
from headgate.graph.reconcile.rollouts import DefinitionRollout, RolloutMember
from headgate.kernel.instants import Instant
from headgate.promises.base import (
    FleetPromise,
    GraphPromise,
    ObjectPromise,
    Promise,
    RunEnding,
    Unfinished,
    WorkloadPromise,
)
from headgate.promises.books.graph_gates import MOST_CHECKED_ITEMS, Gates

_SELF_EXPLAINING = frozenset({"running", "verifying", "rollingBack", "failed", "frozen"})


class NoStuckWithoutReason(Promise):
    name = "NoStuckWithoutReason"
    sentence = "every unit that has not converged has a reason, and a time or an event that wakes it"


class FleetNoStuckWithoutReason(NoStuckWithoutReason, FleetPromise):
    def wakes_driven(self, unanswered: Sequence[str], now: Instant) -> None:
        for fact in unanswered:
            self.broken(now, fact)

    def ended(self, ending: RunEnding) -> None:
        for unit in ending.unconverged:
            held_back = any(verdict != "allowed" and message for verdict, message in unit.verdicts)
            if not (held_back or unit.reason or unit.state in _SELF_EXPLAINING):
                self.broken(ending.at, f"{unit.target} is {unit.state} and nothing says why")
            if not unit.wakes or not unit.is_woken:
                self.broken(ending.at, f"{unit.target} is {unit.state} and nothing wakes it ({unit.reason})")


class ObjectNoStuckWithoutReason(NoStuckWithoutReason, ObjectPromise):
    def wakes_driven(self, unanswered: Sequence[str], now: Instant) -> None:
        for fact in unanswered:
            self.broken(now, fact)

    def ended(self, unfinished: Iterable[Unfinished], now: Instant, *, is_over: bool) -> None:
        for item in unfinished:
            if not item.reasons:
                self.broken(now, f"{item.name} is not done and nothing says why")


class GraphNoStuckWithoutReason(ObjectNoStuckWithoutReason, GraphPromise):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._gates = Gates(self.cluster, self.signals, self.known)

    def left_waiting(self, instance_pass: InstancePass, now: Instant) -> None:
        for state in instance_pass.states:
            if not any(map(_is_held, state.units)) or len(state.units) > MOST_CHECKED_ITEMS:
                continue
            for unit, shut in self._gates.of_units(instance_pass, state, _is_held, now):
                if not shut:
                    self.broken(now, f"{state.id} {unit.name} waits for its gates, and all of them are open")

    def left_waiting_rollout(self, rollout: DefinitionRollout, now: Instant) -> None:
        if len(rollout.members) > MOST_CHECKED_ITEMS:
            return
        for member, is_open in self._gates.of_members(rollout, _is_held, now):
            if is_open:
                self.broken(
                    now, f"{member.instance.name} waits for gates of its definition, and all of them are open"
                )


class WorkloadNoStuckWithoutReason(ObjectNoStuckWithoutReason, WorkloadPromise):
    def silent(self, name: str, now: Instant) -> None:
        self.broken(now, f"{name} is not done and nothing says why")


def _is_held(unit: NodeUnit | RolloutMember) -> bool:
    """By a gate, and not by something else that is in the way."""
    return unit.answer is not None and not unit.answer.is_allowed and judging.gate_of(unit.answer) != ""
