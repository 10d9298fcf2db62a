"""Somebody has to say yes. The last vote of each person counts, and one no is a veto until it is withdrawn."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from headgate.fleet.model import objects as model
from headgate.fleet.rules.spec import AskedVotes, GateStage, RuleSpec, Traits
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.instants import Instant


class Approval(RuleSpec, frozen=True, rename="camel"):
    """With `roles`, only votes of people who have one of them count."""

    traits = Traits(
        stage=GateStage.CONSENT,
        is_answered_by_votes=True,
        keeps_time=True,
        is_same_for_all=True,
    )

    min_approvals: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 1
    roles: Annotated[tuple[model.Name, ...], msgspec.Meta(min_length=1)] | None = None

    def in_words(self) -> str:
        if self.min_approvals == 0:
            return "No approval is needed; a rejection holds a version until it is withdrawn."
        count = "an approval" if self.min_approvals == 1 else f"{self.min_approvals} approvals"
        who = f" by {' or '.join(self.roles)}" if self.roles else ""
        return f"A version needs {count}{who} in an environment before it starts there, and one rejection holds it."

    def asked_votes(self) -> AskedVotes | None:
        return AskedVotes(self.min_approvals, self.roles) if self.min_approvals > 0 else None


def judge(
    rule: Approval,
    approvals: Sequence[model.CastVote],
    version_tag: str,
    environment_name: str,
    published_at: Instant,
) -> Verdict:
    votes = sorted(last_votes(approvals, rule.roles), key=lambda vote: (vote.at, vote.user))
    vetoes = [vote for vote in votes if vote.status == "rejected"]
    yes = [vote for vote in votes if vote.status == "approved"]
    what = f"{version_tag} in {environment_name}"
    if vetoes:
        return decisions.denied(
            Reason.REJECTED,
            f"{what} was rejected by {' and '.join(_message(vote) for vote in vetoes)};"
            " the version is held until the rejection is withdrawn",
            rejectedBy=[vote.user for vote in vetoes],
        )
    if rule.min_approvals == 0:
        return decisions.allowed(f"{what} needs no approval", satisfied_at=published_at)
    users = [vote.user for vote in yes]
    if len(yes) >= rule.min_approvals:
        return decisions.allowed(
            f"{what} approved by {_names(users)}",
            satisfied_at=yes[rule.min_approvals - 1].at,
            approvedBy=users,
            minApprovals=rule.min_approvals,
        )
    return decisions.pending(
        Reason.AWAITING_APPROVAL,
        _waiting(rule, what, users, published_at),
        approvedBy=users,
        minApprovals=rule.min_approvals,
    )


def last_votes(
    approvals: Sequence[model.CastVote], roles: Sequence[str] | None = None
) -> list[model.CastVote]:
    last: dict[str, model.CastVote] = {}
    for vote in sorted(approvals, key=lambda vote: vote.at):
        if roles is None or set(roles) & set(vote.roles):
            last[vote.user] = vote
    return list(last.values())


def _message(vote: model.CastVote) -> str:
    reason = f' ("{vote.reason}")' if vote.reason else ""
    return f"{vote.user} at {instants.show_to_the_second(vote.at)}{reason}"


def _names(users: Sequence[str]) -> str:
    return " and ".join([", ".join(users[:-1]), users[-1]]) if len(users) > 1 else users[0]


def _waiting(rule: Approval, what: str, users: Sequence[str], published_at: Instant) -> str:
    who = f" from {' or '.join(rule.roles)}" if rule.roles else ""
    since = instants.show_to_the_second(published_at)
    if not users:
        noun = "approval" if rule.min_approvals == 1 else "approvals"
        return f"{what} waits for {rule.min_approvals} {noun}{who} since {since}"
    progress = f"has {len(users)} of {rule.min_approvals} approvals ({_names(users)})"
    return f"{what} {progress}, waits for {rule.min_approvals - len(users)} more{who} since {since}"
