"""When a failure sends a target back to what it ran before."""

from typing import Annotated

import msgspec

from headgate.fleet.rules.retry import DEFAULT_STATUSES, UnsuccessfulStatus
from headgate.fleet.rules.spec import RuleSpec, Traits


class Rollback(RuleSpec, frozen=True, rename="camel"):
    """Left empty, it fires for the statuses that retry takes by default and for a failed verification.

    Who names one of the two causes means that one: the other is then off unless it is named too. A cancelled job is
    never a default cause, because a person has decided something else.

    With `reject_after`, a version for which it has fired on that many targets is marked as bad.
    """

    traits = Traits(is_ended_by_people=True, acts_inside_cycle=True)

    on_job_statuses: tuple[UnsuccessfulStatus, ...] | None = None
    on_verification_failure: bool | None = None
    reject_after: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] | None = None

    def in_words(self) -> str:
        statuses = job_statuses(self)
        causes = [f"a job ends as {' or '.join(statuses)}"] if statuses else []
        causes += ["a verification fails"] if on_verification_failure(self) else []
        if not causes:
            return "Nothing is put back by itself."
        bad = f"; after {self.reject_after} of them the version is marked as bad" if self.reject_after else ""
        return f"When {', or '.join(causes)}, and no retry is left, the version before is put back{bad}."


def fires(rule: Rollback, job_status: str, verification_failed: bool) -> bool:
    return job_status in job_statuses(rule) or (verification_failed and on_verification_failure(rule))


def job_statuses(rule: Rollback) -> tuple[str, ...]:
    if rule.on_job_statuses is not None:
        return rule.on_job_statuses
    return DEFAULT_STATUSES if rule.on_verification_failure is not True else ()


def on_verification_failure(rule: Rollback) -> bool:
    if rule.on_verification_failure is not None:
        return rule.on_verification_failure
    return rule.on_job_statuses is None
