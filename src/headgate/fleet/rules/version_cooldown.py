"""A pause after each deployment of a target, so that frequent versions are taken in batches."""

from typing import Annotated

import msgspec

from headgate.fleet.rules.spec import GateStage, RuleSpec, Traits
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason, Sentence, Verdict
from headgate.kernel.instants import Instant


class VersionCooldown(RuleSpec, frozen=True, rename="camel"):
    traits = Traits(stage=GateStage.PACE)

    interval_seconds: Annotated[int, msgspec.Meta(ge=0, le=366 * 86_400)]

    def in_words(self) -> str:
        interval = instants.show_duration(instants.seconds(self.interval_seconds))
        return f"A target takes its next version {interval} after its last deployment has ended, at the earliest."


def judge(
    rule: VersionCooldown,
    last_finished_at: Instant | None,
    now: Instant,
    *,
    is_under_way: bool = False,
    is_being_verified: bool = False,
) -> Verdict:
    """Counts from the end of the target's last deployment and its verification, not from the creation of its version."""
    if is_under_way:
        return decisions.pending(
            Reason.COOLING_DOWN, "a deployment is under way; the cooldown begins when that has ended"
        )
    if is_being_verified:
        return decisions.pending(
            Reason.AWAITING_VERIFICATION,
            "the last deployment is being verified; the cooldown begins when that has ended",
        )
    if last_finished_at is None:
        return decisions.allowed("nothing was deployed here before, there is nothing to cool down from")
    over_at = last_finished_at + instants.seconds(rule.interval_seconds)
    facts = (last_finished_at, over_at)
    if now >= over_at:
        return decisions.allowed(Sentence(_is_over, facts), satisfied_at=over_at)
    return decisions.pending(Reason.COOLING_DOWN, Sentence(_cools_down, facts), requeue_at=over_at)


def _is_over(finished_at: Instant, over_at: Instant) -> str:
    span = instants.show_duration(over_at - finished_at)
    return f"cooldown of {span} since {instants.show_to_the_second(finished_at)} is over"


def _cools_down(finished_at: Instant, over_at: Instant) -> str:
    span = instants.show_duration(over_at - finished_at)
    finished, over = (instants.show_to_the_second(at) for at in (finished_at, over_at))
    return f"cools down for {span} since the last deployment finished at {finished}, until {over}"
