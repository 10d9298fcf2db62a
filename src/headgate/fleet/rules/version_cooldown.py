"""A pause after each deployment of a target, so that frequent versions are taken in batches."""

from typing import Annotated

import msgspec

from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.instants import Instant


class VersionCooldown(msgspec.Struct, frozen=True, rename="camel"):
    interval_seconds: Annotated[int, msgspec.Meta(ge=0, le=366 * 86_400)]


def judge(
    rule: VersionCooldown, last_finished_at: Instant | None, now: Instant, *, is_being_verified: bool = False
) -> Verdict:
    """Counts from the end of the target's last deployment and its verification, not from the creation of its version."""
    if is_being_verified:
        return decisions.pending(
            Reason.AWAITING_VERIFICATION,
            "the last deployment is being verified; the cooldown begins when that has ended",
        )
    if last_finished_at is None:
        return decisions.allowed("nothing was deployed here before, there is nothing to cool down from")
    over_at = last_finished_at + instants.seconds(rule.interval_seconds)
    span = instants.show_duration(instants.seconds(rule.interval_seconds))
    finished = instants.show_to_the_second(last_finished_at)
    if now >= over_at:
        return decisions.allowed(
            f"cooldown of {span} since {finished} is over",
            satisfied_at=over_at,
            lastFinishedAt=instants.show(last_finished_at),
        )
    return decisions.pending(
        Reason.COOLING_DOWN,
        f"cools down for {span} since the last deployment finished at {finished},"
        f" until {instants.show_to_the_second(over_at)}",
        requeue_at=over_at,
        lastFinishedAt=instants.show(last_finished_at),
    )
