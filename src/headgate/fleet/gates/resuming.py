"""A person resumes a line that failures have stopped: everywhere, or one of the lines that a rule has."""

from __future__ import annotations

from headgate.fleet.gates import breakers, failures
from headgate.fleet.model.changes import ResumeBudget
from headgate.fleet.rules import failure_budget
from headgate.fleet.rules.failure_budget import FailureBudget
from headgate.fleet.state import references, units, wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import AnyRule, BoundRule
from headgate.kernel.problems import Problem, Rejected


def resume(state: State, change: ResumeBudget) -> None:
    """Failures so far no longer count there."""
    rule = references.rule(state, change.policy, change.rule)
    _check_where(state, rule, change)
    for (rule_id, scope), breaker in state.breakers.items():
        if rule_id == rule.id and _is_named(rule, scope, change):
            if breaker.stopped_at is not None:
                failures.tell(state, rule, scope, "resumed", sorted(breaker.failed))
            breaker.failed.clear()
            breaker.stopped_at = None
            state.journal.changed("breaker", rule_id, scope)
            state.waiting.happened(wakes.breaker(rule_id, scope))


def _check_where(state: State, rule: AnyRule, change: ResumeBudget) -> None:
    """Where a line does not stop it cannot be resumed: to say yes and do nothing would be worse than a refusal."""
    problems = []
    budget = rule if units.is_a(rule, FailureBudget) else None
    if change.environment is not None and (budget is None or budget.spec.per != "environment"):
        lines = "one line for the whole policy" if budget else "a line for each version, in all environments"
        problems.append(
            Problem("environment", f"is {change.environment!r}; {rule.label} has {lines}: leave it out")
        )
    if change.value is not None:
        values = sorted(_values(state, budget)) if budget and budget.spec.group_by is not None else []
        if not values:
            message = f"is {change.value!r}; {rule.label} has no lines by groupBy: leave it out"
            problems.append(Problem("value", message))
        elif change.value not in values:
            problems.append(
                Problem("value", f"is {change.value!r}; allowed are {failure_budget.named(values)}")
            )
    if problems:
        raise Rejected(problems)


def _values(state: State, rule: BoundRule[FailureBudget]) -> set[str]:
    """What `groupBy` gives for the resources that the rule covers, and for those that have failed, as people see it."""
    scopes = {scope for rule_id, scope in state.breakers if rule_id == rule.id}
    scopes |= {
        breakers.scope_of(rule, target)
        for target in state.targets.values()
        if any(one.id == rule.id for one in target.rules.of(FailureBudget))
    }
    return {units.render_value(breakers.parts_of_scope(scope)[1] or "") for scope in scopes}


def _is_named(rule: AnyRule, scope: str, change: ResumeBudget) -> bool:
    if not units.is_a(rule, FailureBudget):
        return True
    environment, value = breakers.parts_of_scope(scope)
    return change.environment in (None, environment) and change.value in (
        None,
        units.render_value(value or ""),
    )
