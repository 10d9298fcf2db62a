"""A pause after each deployment of a target, so that frequent versions are taken in batches."""

from typing import Annotated

import msgspec

from headgate.kernel import instants, verdicts
from headgate.kernel.instants import Instant
from headgate.kernel.verdicts import Verdict


class VersionCooldown(msgspec.Struct, frozen=True, rename="camel"):
    interval_seconds: Annotated[int, msgspec.Meta(ge=0, le=366 * 86_400)]


def judge(rule: VersionCooldown, last_finished_at: Instant | None, now: Instant) -> Verdict:
    """Counts from the end of the target's last deployment, not from the creation of its version."""
    if last_finished_at is None:
        return verdicts.allowed("nothing was deployed here before, there is nothing to cool down from")
    over_at = last_finished_at + instants.seconds(rule.interval_seconds)
    span = instants.show_duration(instants.seconds(rule.interval_seconds))
    finished = instants.show_clock(last_finished_at, near=now)
    if now >= over_at:
        return verdicts.allowed(
            f"cooldown of {span} since {finished} is over",
            satisfied_at=over_at,
            lastFinishedAt=instants.show(last_finished_at),
        )
    return verdicts.pending(
        f"cools down for {span} since the last deployment finished at {finished},"
        f" until {instants.show_clock(over_at, near=now)}",
        next_evaluation_time=over_at,
        lastFinishedAt=instants.show(last_finished_at),
    )
