"""What is in the way of a unit: why, what can end it, and when the unit is looked at again."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headgate.fleet import rules
from headgate.fleet.state import wakes
from headgate.fleet.state.candidates import ScopeProblem
from headgate.fleet.state.state import ApprovalRequest, GateResult
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.wakes import Wake


class Blockers(msgspec.Struct):
    """What keeps a unit from starting, collected over the candidates that were tried."""

    wakes: dict[Wake, None] = {}
    """Each once, in the order in which they were met."""
    requeue_at: Instant | None = None
    reason: Reason | None = None
    """That of the first gate that did not allow the newest candidate."""
    requests: tuple[ApprovalRequest, ...] = ()
    """What people are to be asked. To judge is not to ask them: whoever carries out the plan does."""
    problems: tuple[ScopeProblem, ...] = ()
    """What people are to be warned of, likewise."""
    is_without_slots: bool = False
    """Of a cycle that has lost its slot: what would run next asks for one first."""
    asks_for_slots: bool = False

    def add(self, judged: GateResult) -> None:
        if not judged.is_allowed:
            self.reason = self.reason or judged.verdict.reason
        if judged.request is not None:
            self.ask(judged.request)
        self.watch(*judged.wakes)
        if judged.rule is not None:
            self.watch(wakes.skips(judged.rule.id))
        self.requeue(judged.verdict.requeue_at)

    def ask(self, request: ApprovalRequest) -> None:
        self.requests = (*self.requests, request)

    def add_problem(self, problem: ScopeProblem) -> None:
        self.problems = (*self.problems, problem)

    def stop_at(self, judged: GateResult, passed: Sequence[GateResult]) -> None:
        """What people allowed on the way there they can take back: whoever has to approve then is asked at once, not when
        the gate that is in the way has opened."""
        self.add(judged)
        for result in passed:
            if rules.TRAITS[result.kind].is_answered_by_votes or "skip" in result.verdict.details:
                self.add(result)

    def hold(self, reason: Reason) -> None:
        """What was in the way first counts."""
        self.reason = self.reason or reason

    def watch(self, *given: Wake) -> None:
        for wake in given:
            self.wakes[wake] = None

    def join(self, other: Blockers) -> None:
        """The same is in the way here."""
        self.reason = self.reason or other.reason
        self.wakes.update(other.wakes)
        self.requeue(other.requeue_at)

    def requeue(self, at: Instant | None) -> None:
        if at is not None and (self.requeue_at is None or at < self.requeue_at):
            self.requeue_at = at
