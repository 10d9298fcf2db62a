"""How full each budget is, and resuming a line that failures have stopped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headgate.api import (
    bodies,
    finding,
    lists,
    pages,
    replies,
    rollout_views,
)
from headgate.api.calls import Answer, Request, Route
from headgate.api.schemas import Page as PageSchema
from headgate.fleet.gates import gates
from headgate.fleet.model import kinds
from headgate.fleet.model.changes import ResumeBudget
from headgate.fleet.model.records import Breaker
from headgate.fleet.rules import failure_budget
from headgate.fleet.state import grouping, references
from headgate.fleet.state.state import State
from headgate.fleet.state.units import BoundRule, Target
from headgate.kernel import documents, rendering
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import CommandContext, Reply

FAILURES, ROLLOUT = "failureBudget", "gradualRollout"


async def list_budgets(call: Request) -> Answer:
    async def rows() -> list[tuple[str, int, dict[str, Any]]]:
        found = await replies.ask(call, lambda view: list(_budgets(view.engine.state)))
        return [(_name(budget), 0, budget) for budget in found]

    return await lists.answer(call, lists.of_rows("budget", rows))


def _name(budget: dict[str, Any]) -> str:
    """A rule has a budget for each environment, value or version: what tells them apart is part of it."""
    where = (budget["environment"] or "", budget["ruleId"], budget["scope"] or "")
    return "/".join((budget["policy"], budget["rule"], *where))


def _budgets(state: State) -> Iterator[dict[str, Any]]:
    for table in state.slot_tables():
        rule = table.rule
        holders = [
            {"name": name, "since": rendering.shown_or_none(table.held_since(name))}
            for name in sorted(table.holders)
        ]
        yield _budget(rule, None, table.scope, table.limit, holders, None)
    for policy in state.policies.values():
        for rule in policy.rules:
            yield from _lines(state, rule)


def _lines(state: State, rule: BoundRule) -> Iterator[dict[str, Any]]:
    """What failures stop, until a person resumes it."""
    if rule.kind == FAILURES:
        yield from _failure_budgets(state, rule)
    elif rule.kind == ROLLOUT and rule.spec.stop_after_failures is not None:
        yield from _rollouts(state, rule)


def _rollouts(state: State, rule: BoundRule) -> Iterator[dict[str, Any]]:
    """One for each version that has failed somewhere and may still be rolled out."""
    for (rule_id, version_id), breaker in sorted(state.breakers.items()):
        version = state.version(version_id)
        if rule_id == rule.id and version is not None and version.is_ready and breaker.failed:
            scope = f"{version.object.deployment}/{version.tag}"
            limit = rule.spec.stop_after_failures - 1
            yield _budget(rule, None, scope, limit, _failed(breaker), breaker.stopped_at)


def _failed(breaker: Breaker | None) -> list[dict[str, Any]]:
    found = sorted(breaker.failed.items()) if breaker is not None else []
    return [{"name": name, "since": rendering.shown(since)} for name, since in found]


def _failure_budgets(state: State, rule: BoundRule) -> Iterator[dict[str, Any]]:
    """One for each scope in which the rule has targets."""
    scopes: dict[str, Target] = {}
    for target in state.targets.values():
        if any(one.id == rule.id for one in target.rules.of(FAILURES)):
            scopes.setdefault(gates.breaker_scope(rule, target), target)
    for scope, target in sorted(scopes.items()):
        breaker = state.breakers.get((rule.id, scope))
        limit = failure_budget.allowance(rule.spec, gates.budget_total(state, rule, target))
        stopped_at = breaker.stopped_at if breaker is not None else None
        environment, value = gates.parts_of_scope(scope)
        shown = grouping.shown(value) if value is not None else None
        yield _budget(rule, environment, shown, limit, _failed(breaker), stopped_at)


def _budget(
    rule: BoundRule,
    environment: str | None,
    scope: str | None,
    limit: int,
    holders: list[dict[str, Any]],
    stopped_at: int | None,
) -> dict[str, Any]:
    return rendering.built(
        rollout_views.BudgetView,
        rule,
        policy=rule.policy.name,
        rule=rule.label,
        rule_id=rule.id,
        environment=environment,
        scope=scope,
        limit=limit,
        used=len(holders),
        holders=holders,
        stopped_at=stopped_at,
    )


async def resume(call: Request) -> Answer:
    given = documents.read(bodies.ResumeInput, call.body)

    def command(context: CommandContext) -> Reply:
        state = context.engine.state
        policy = None if given.policy is None else finding.name_or_same(state, kinds.POLICY, given.policy)
        rule = references.rule(state, policy, given.rule)
        if rule.kind not in (FAILURES, ROLLOUT):
            message = f"is {rule.label}, a {rule.kind}; allowed are a {FAILURES} and a {ROLLOUT}"
            raise Rejected([Problem("rule", message)])
        environment, user = _environment(state, given), context.caller.user
        context.apply(ResumeBudget(rule.id, rule.policy.name, environment, user, given.value, rule.label))
        return replies.reply(200, {"budgets": list(_lines(state, rule))})

    return await replies.submit(call, command)


def _environment(state: State, given: bodies.ResumeInput) -> str | None:
    if given.environment is None:
        return None
    found = finding.find(state, kinds.ENVIRONMENT, given.environment)
    if found is None:
        raise Rejected([Problem("environment", f"there is no environment {given.environment[:300]!r}")])
    return found.name


ROUTES = (
    Route(
        "GET", "/v1/budgets", "listBudgets", "List concurrency and failure budgets",
        list_budgets, "read", "budgets", {200: PageSchema(rollout_views.BudgetView)},
        query=pages.parameters("budget", ("name", "-name")), problems=(422,),
    ),
    Route(
        "POST", "/v1/budgets/resume", "resumeBudget", "Resume a line that a failure budget has stopped",
        resume, "budget:resume", "budgets", {200: rollout_views.BudgetsView}, body=bodies.ResumeInput, mutates=True,
        description="Failures so far no longer count. `environment` and `value`, one of the rule's groupBy, name one of "
        "the lines that it has; a gradualRollout has one for each version.",
    ),
)  # fmt: skip
