"""Targets take turns by a place in line that their ids decide; the rule says how far apart the turns are."""

from typing import Annotated, Literal

import msgspec

from headgate.kernel import instants, verdicts, waves
from headgate.kernel.documents import Aliases
from headgate.kernel.instants import Instant
from headgate.kernel.verdicts import Verdict

RolloutType = Annotated[
    Literal["linear", "linearNormalized", "exponential"],
    Aliases({"linear-normalized": "linearNormalized", "linear_normalized": "linearNormalized"}),
]


class GradualRollout(msgspec.Struct, frozen=True, rename="camel"):
    """With `bracket_aware` and a bracket on the same policy, all members on a resource share one place."""

    time_scale_interval: Annotated[int, msgspec.Meta(ge=0, le=366 * 86_400)]
    rollout_type: RolloutType = "linear"
    bracket_aware: bool = True


def offset(rule: GradualRollout, position: int, total: int) -> int:
    if rule.rollout_type == "linear":
        return instants.seconds(position * rule.time_scale_interval)
    if rule.rollout_type == "linearNormalized":
        return instants.seconds(position * rule.time_scale_interval // max(total, 1))
    return instants.seconds(waves.exponential_wave_of(position) * rule.time_scale_interval)


def judge(
    rule: GradualRollout,
    position: int,
    total: int,
    clock_start: Instant | None,
    now: Instant,
    waiting_for: str | None = None,
) -> Verdict:
    """`clock_start` is None while something (`waiting_for`) keeps the rollout from starting."""
    place = f"position {position} (0 to {max(total - 1, 0)})"
    if clock_start is None:
        reason = f": waits for {waiting_for}" if waiting_for else ""
        return verdicts.pending(
            f"the rollout has not started{reason} ({place})", position=position, total=total
        )
    turn = clock_start + offset(rule, position, total)
    start = instants.show_clock(clock_start, near=now)
    if now >= turn:
        return verdicts.allowed(
            f"{place} has its turn since {instants.show_clock(turn, near=now)} (rollout started {start})",
            satisfied_at=turn,
            position=position,
            total=total,
            rolloutStartTime=instants.show(clock_start),
        )
    return verdicts.pending(
        f"{place} has its turn at {instants.show_clock(turn, near=now)} (rollout started {start})",
        next_evaluation_time=turn,
        position=position,
        total=total,
        rolloutStartTime=instants.show(clock_start),
    )
