"""Lines that failures stop: the rule that is meant, and how each of its lines stands."""

from __future__ import annotations

import msgspec

from headgate.fleet.engine import budget_uses
from headgate.fleet.engine.engine import Engine
from headgate.fleet.state import references
from headgate.kernel.budgets import BudgetUse
from headgate.kernel.problems import Problem, Rejected

_STOPPED_BY = (budget_uses.FAILURES, budget_uses.ROLLOUT)


class StoppingRule(msgspec.Struct, frozen=True):
    """A rule whose lines failures stop, and a person resumes."""

    policy: str
    id: str
    label: str


def rule(engine: Engine, policy: str | None, reference: str) -> StoppingRule:
    """By id, name or index within the policy. Raises Rejected for what is none, or another kind of rule."""
    stopping_rule = references.rule(engine.state, policy, reference)
    if stopping_rule.kind not in _STOPPED_BY:
        allowed = " and ".join(f"a {kind}" for kind in _STOPPED_BY)
        raise Rejected(
            [Problem("rule", f"is {stopping_rule.label}, a {stopping_rule.kind}; allowed are {allowed}")]
        )
    return StoppingRule(stopping_rule.policy.name, stopping_rule.id, stopping_rule.label)


def of_rule(engine: Engine, stopping_rule: StoppingRule) -> list[BudgetUse]:
    return list(
        budget_uses.of_failures(
            engine.state, references.rule(engine.state, stopping_rule.policy, stopping_rule.id)
        )
    )
