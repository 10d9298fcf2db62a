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
    found = references.rule(engine.state, policy, reference)
    if found.kind not in _STOPPED_BY:
        allowed = " and ".join(f"a {kind}" for kind in _STOPPED_BY)
        raise Rejected([Problem("rule", f"is {found.label}, a {found.kind}; allowed are {allowed}")])
    return StoppingRule(found.policy.name, found.id, found.label)


def of_rule(engine: Engine, one: StoppingRule) -> list[BudgetUse]:
    return list(budget_uses.of_failures(engine.state, references.rule(engine.state, one.policy, one.id)))
