"""How many targets may fail before the line stops and a person has to look."""

from collections.abc import Sequence
from typing import Literal

from headgate.fleet.model import expressions
from headgate.fleet.rules.spec import GateStage, RuleSpec, Traits
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.instants import Instant
from headgate.kernel.quantities import Quantity

LONGEST_LIST = 10


class FailureBudget(RuleSpec, frozen=True, rename="camel"):
    traits = Traits(
        stage=GateStage.FAILURES,
        is_ended_by_people=True,
        rather_than_skipped="a skip does not start the line again: resume it, or mark the version as bad",
        lets_repairs_pass=True,
        may_hold_a_lock=True,
        is_of_any_version=True,
    )

    max_failed: Quantity
    per: Literal["environment", "policy"] = "environment"
    group_by: expressions.GroupByText | None = None

    def in_words(self) -> str:
        where = "in an environment" if self.per == "environment" else "under the policy"
        each = f" of each `{self.group_by}`" if self.group_by else ""
        failed = (
            f"{self.max_failed} of the targets"
            if self.max_failed.is_percentage
            else f"{self.max_failed} targets"
        )
        return f"When more than {failed}{each} {where} have failed, nothing starts until a person resumes."


def allowance(rule: FailureBudget, total: int) -> int:
    """Rounded down: ten percent of nine targets is none."""
    return rule.max_failed.resolve(total, "down")


def exceeded(rule: FailureBudget, failed: int, total: int) -> bool:
    return failed > allowance(rule, total)


def named(failed_names: Sequence[str]) -> str:
    more = f" and {len(failed_names) - LONGEST_LIST} more" if len(failed_names) > LONGEST_LIST else ""
    return ", ".join(failed_names[:LONGEST_LIST]) + more


def judge(
    rule: FailureBudget, stopped_at: Instant | None, failed_names: Sequence[str], total: int
) -> Verdict:
    """`stopped_at` stays set until a person resumes, whatever has become of the failures."""
    share = f" ({rule.max_failed})" if rule.max_failed.is_percentage else ""
    budget = f"{len(failed_names)} of {total} targets failed, allowed {allowance(rule, total)}{share}"
    which = f": {named(failed_names)}" if failed_names else ""
    if stopped_at is None:
        return decisions.allowed(f"{budget}{which}", failed=list(failed_names))
    since = instants.show_to_the_second(stopped_at)
    return decisions.pending(
        Reason.LINE_STOPPED,
        f"the line is stopped since {since}, until a person resumes it; {budget}{which}",
        failed=list(failed_names),
        stoppedAt=instants.show(stopped_at),
    )
