"""How full each budget of the fleet is: slots of concurrency rules, and failures that stop a line until a person resumes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from headgate.fleet.gates import breakers
from headgate.fleet.rules import failure_budget
from headgate.fleet.rules.failure_budget import FailureBudget
from headgate.fleet.rules.gradual_rollout import GradualRollout
from headgate.fleet.state import units
from headgate.fleet.state.slots import SlotTable
from headgate.fleet.state.state import State
from headgate.fleet.state.units import AnyRule, BoundRule
from headgate.kernel.budgets import BudgetHolder, BudgetKind, BudgetUse
from headgate.kernel.instants import Instant

FAILURES: Final = "failureBudget"
ROLLOUT: Final = "gradualRollout"


def of_all(state: State) -> Iterator[BudgetUse]:
    for table in state.slot_tables():
        yield _of_slots(table)
    for policy in state.policies.values():
        for rule in policy.rules:
            yield from of_failures(state, rule)


def of_failures(state: State, rule: AnyRule) -> Iterator[BudgetUse]:
    """The lines that failures stop under this rule; none where it is another kind of rule."""
    if units.is_a(rule, FailureBudget):
        yield from _failure_budgets(state, rule)
    elif units.is_a(rule, GradualRollout) and rule.spec.stop_after_failures is not None:
        yield from _rollouts(state, rule, rule.spec.stop_after_failures - 1)


def _of_slots(table: SlotTable) -> BudgetUse:
    holders = tuple(BudgetHolder(name, table.held_since(name)) for name in sorted(table.holders))
    return _use("resourceConcurrency", table.rule, None, table.scope, table.limit, holders, None)


def _failure_budgets(state: State, rule: BoundRule[FailureBudget]) -> Iterator[BudgetUse]:
    """One for each scope in which the rule has targets."""
    scopes = {
        breakers.scope_of(rule, target)
        for target in state.targets.values()
        if any(one.id == rule.id for one in target.rules.of(FailureBudget))
    }
    for scope in sorted(scopes):
        breaker = state.breakers.get((rule.id, scope))
        limit = failure_budget.allowance(rule.spec, breakers.total(state, rule, scope))
        stopped_at = breaker.stopped_at if breaker is not None else None
        environment, value = breakers.parts_of_scope(scope)
        text = units.render_value(value) if value is not None else None
        yield _use(
            FAILURES,
            rule,
            environment,
            text,
            limit,
            _holders(breakers.failed_in(state, rule, scope)),
            stopped_at,
        )


def _rollouts(state: State, rule: AnyRule, limit: int) -> Iterator[BudgetUse]:
    """One for each version that has failed somewhere and may still be rolled out."""
    for (rule_id, version_id), breaker in sorted(state.breakers.items()):
        version = state.version(version_id)
        if rule_id == rule.id and version is not None and version.is_ready and breaker.failed:
            scope = f"{version.object.deployment}/{version.tag}"
            yield _use(ROLLOUT, rule, None, scope, limit, _holders(breaker.failed), breaker.stopped_at)


def _holders(failed: Mapping[str, Instant]) -> tuple[BudgetHolder, ...]:
    return tuple(BudgetHolder(name, since) for name, since in sorted(failed.items()))


def _use(
    kind: BudgetKind,
    rule: AnyRule,
    environment: str | None,
    scope: str | None,
    limit: int,
    holders: tuple[BudgetHolder, ...],
    stopped_at: Instant | None,
) -> BudgetUse:
    return BudgetUse(
        kind=kind,
        policy=rule.policy.name,
        rule=rule.label,
        rule_id=rule.id,
        environment=environment,
        scope=scope,
        limit=limit,
        holders=holders,
        stopped_at=stopped_at,
    )
