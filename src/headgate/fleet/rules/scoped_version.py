"""What a version must pass that was made for some targets only and so leaves the usual path."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from headgate.fleet.model import objects as model
from headgate.fleet.rules import approval
from headgate.fleet.rules.spec import AskedVotes, GateStage, RuleSpec, Traits
from headgate.kernel import decisions
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.instants import Instant


class ScopedVersion(RuleSpec, frozen=True, rename="camel"):
    traits = Traits(
        stage=GateStage.SCOPE,
        is_answered_by_votes=True,
        keeps_time=True,
        is_same_for_all=True,
    )

    allow: bool = True
    require_approvals: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0

    def in_words(self) -> str:
        if not self.allow:
            return "A version with a targetSelector does not start."
        if self.require_approvals == 0:
            return "A version with a targetSelector may start."
        count = "an approval" if self.require_approvals == 1 else f"{self.require_approvals} approvals"
        return f"A version with a targetSelector needs {count} before it starts."

    def asked_votes(self) -> AskedVotes | None:
        return AskedVotes(self.require_approvals) if self.require_approvals > 0 else None


def judge(
    rule: ScopedVersion,
    is_scoped: bool,
    approvals: Sequence[model.CastVote],
    version_tag: str,
    environment_name: str,
    published_at: Instant,
) -> Verdict:
    if not is_scoped:
        return decisions.allowed(f"{version_tag} is for all targets", satisfied_at=published_at)
    if not rule.allow:
        return decisions.denied(
            Reason.NOT_SELECTED,
            f"{version_tag} has a targetSelector, and this policy takes no such versions;"
            " publish it for all targets or ask the owner of the policy for a skip",
        )
    if rule.require_approvals == 0:
        return decisions.allowed(
            f"{version_tag} is scoped, which this policy takes", satisfied_at=published_at
        )
    needed = approval.Approval(min_approvals=rule.require_approvals)
    return approval.judge(needed, approvals, f"scoped version {version_tag}", environment_name, published_at)
