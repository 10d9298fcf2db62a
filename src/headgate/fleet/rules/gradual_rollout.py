"""Targets take turns by a place in line that their ids decide; the rule says how far apart the turns are."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from headgate.fleet.model import expressions
from headgate.fleet.rules import failure_budget
from headgate.fleet.rules.spec import GateStage, RuleSpec, Traits
from headgate.kernel import decisions, instants, waves
from headgate.kernel.decisions import Reason, Sentence, Verdict
from headgate.kernel.documents import Aliases
from headgate.kernel.instants import Instant

RolloutType = Annotated[
    Literal["linear", "linearNormalized", "exponential"],
    Aliases({"linear-normalized": "linearNormalized", "linear_normalized": "linearNormalized"}),
]


class GradualRollout(RuleSpec, frozen=True, rename="camel"):
    """With `bracket_aware` and a bracket on the same policy, all members on a resource share one place. With `group_by`
    there is one line for each value. With `advance_on` success a turn also waits for those before it. After `stop_after_failures` targets failed with a version it starts no further."""

    traits = Traits(
        stage=GateStage.TURN, event="the rollout starts", is_same_for_all=True, may_hold_a_lock=True
    )

    time_scale_interval: Annotated[int, msgspec.Meta(ge=0, le=366 * 86_400)]
    rollout_type: RolloutType = "linear"
    bracket_aware: bool = True
    group_by: expressions.GroupByText | None = None
    advance_on: Literal["time", "success"] = "time"
    stop_after_failures: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] | None = None

    def in_words(self) -> str:
        interval = instants.show_duration(instants.seconds(self.time_scale_interval))
        pace = {
            "linear": f"one every {interval}",
            "linearNormalized": f"evenly over {interval}",
            "exponential": f"in waves of 1, 1, 2, 4, 8 and so on, one every {interval}",
        }[self.rollout_type]
        each = f", in a line of its own for each `{self.group_by}`" if self.group_by else ""
        success = ", each when those before it have succeeded" if self.advance_on == "success" else ""
        stop = f"; it stops after failures on {self.stop_after_failures}" if self.stop_after_failures else ""
        return f"A version reaches targets one after another, {pace}{each}{success}{stop}."

    def reads_siblings(self) -> bool:
        return self.advance_on == "success"


def offset(rule: GradualRollout, position: int, total: int) -> int:
    if rule.rollout_type == "linear":
        return instants.seconds(position * rule.time_scale_interval)
    if rule.rollout_type == "linearNormalized":
        return instants.seconds(position * rule.time_scale_interval // max(total, 1))
    return instants.seconds(waves.exponential_wave_of(position) * rule.time_scale_interval)


def goes_before(rule: GradualRollout, position: int, other: int) -> bool:
    """Whether the one has its turn before the other, however far apart turns are: a wave goes together."""
    if rule.rollout_type == "exponential":
        return waves.exponential_wave_of(position) < waves.exponential_wave_of(other)
    return position < other


def stopped(failed_names: Sequence[str], stopped_at: Instant) -> Verdict:
    """Whatever becomes of the failures: a person decides, or a newer version comes."""
    since = instants.show_to_the_second(stopped_at)
    return decisions.denied(
        Reason.LINE_STOPPED,
        f"the rollout of this version is stopped since {since}, after it failed on {failure_budget.named(failed_names)};"
        " it goes on when a person resumes this rule, or ends when the version is rejected or a newer one comes",
        failed=list(failed_names),
        stoppedAt=instants.show(stopped_at),
    )


class Behind(msgspec.Struct, frozen=True):
    """Who stands before another one in a rollout and has not succeeded."""

    name: str
    by_person: bool
    """It has failed or was rolled back: nothing but a person brings it further."""
    until: Instant | None = None
    """When a skip ends by which alone the version concerns it."""


def judge(
    rule: GradualRollout,
    position: int,
    total: int,
    clock_start: Instant | None,
    now: Instant,
    waiting_for: str | None = None,
    behind: Behind | None = None,
) -> Verdict:
    """`clock_start` is None while something (`waiting_for`) keeps the rollout from starting; `behind` is who stands before
    this one and has not succeeded."""
    if clock_start is None:
        words = Sentence(_not_started, (position, total, waiting_for))
        return decisions.pending(Reason.AWAITING_TURN, words)
    turn = clock_start + offset(rule, position, total)
    if now < turn:
        words = Sentence(_turn_ahead, (position, total, turn, clock_start))
        return decisions.pending(Reason.AWAITING_TURN, words, requeue_at=turn)
    if behind is not None:
        return decisions.pending(
            Reason.AWAITING_TURN,
            Sentence(_waits_for_those_before, (position, total, behind.name, clock_start)),
            requeue_at=behind.until,
            behind=behind.name,
            by_person=behind.by_person,
        )
    words = Sentence(_has_its_turn, (position, total, turn, clock_start))
    return decisions.allowed(words, satisfied_at=turn)


def _not_started(position: int, total: int, waiting_for: str | None) -> str:
    reason = f": waits for {waiting_for}" if waiting_for else ""
    return f"the rollout has not started{reason} ({_place(position, total)})"


def _turn_ahead(position: int, total: int, turn: Instant, start: Instant) -> str:
    return f"{_place(position, total)} has its turn at {instants.show_to_the_second(turn)} ({_since(start)})"


def _waits_for_those_before(position: int, total: int, behind: str, start: Instant) -> str:
    place = _place(position, total)
    return f"{place} waits until those before it have succeeded: {behind} has not ({_since(start)})"


def _has_its_turn(position: int, total: int, turn: Instant, start: Instant) -> str:
    return (
        f"{_place(position, total)} has its turn since {instants.show_to_the_second(turn)} ({_since(start)})"
    )


def _place(position: int, total: int) -> str:
    return f"position {position} (0 to {max(total - 1, 0)})"


def _since(start: Instant) -> str:
    return f"rollout started {instants.show_to_the_second(start)}"
