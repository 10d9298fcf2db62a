"""How full each budget is, and resuming a line that failures have stopped."""

from __future__ import annotations

from typing import Any

from headgate.api import finding
from headgate.api.documents import bodies, rollout_views
from headgate.api.http import lists, pages, replies
from headgate.api.http.calls import Answer, Request, Route
from headgate.api.http.schemas import PageSchema
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import budget_lines, lookup
from headgate.fleet.model import kinds
from headgate.fleet.model.changes import ResumeBudget
from headgate.kernel import documents, rendering
from headgate.kernel.budgets import BudgetUse
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import CommandContext, Reply


async def list_budgets(call: Request) -> Answer:
    async def rows() -> list[tuple[str, int, dict[str, Any]]]:
        uses = await replies.ask(call, lambda view: list(view.engine.budgets()))
        return [(_name(use), 0, _view(use)) for use in uses]

    return await lists.answer(call, lists.of_rows("budget", rows))


def _name(use: BudgetUse) -> str:
    """A rule has a budget for each environment, value or version: what tells them apart is part of it."""
    return "/".join((use.policy, use.rule, use.environment or "", use.rule_id, use.scope or ""))


def _view(use: BudgetUse) -> dict[str, Any]:
    return rendering.built(rollout_views.BudgetView, use)


async def resume(call: Request) -> Answer:
    given = documents.read(bodies.ResumeInput, call.body)

    def command(context: CommandContext) -> Reply:
        engine = context.engine
        policy = None if given.policy is None else finding.name_or_same(engine, kinds.POLICY, given.policy)
        rule = budget_lines.rule(engine, policy, given.rule)
        environment, user = _environment(engine, given), context.caller.user
        context.apply(ResumeBudget(rule.id, rule.policy, environment, user, given.value, rule.label))
        return replies.reply(200, {"budgets": [_view(use) for use in budget_lines.of_rule(engine, rule)]})

    return await replies.submit(call, command)


def _environment(engine: Engine, given: bodies.ResumeInput) -> str | None:
    if given.environment is None:
        return None
    environment = lookup.find(engine, kinds.ENVIRONMENT, given.environment)
    if environment is None:
        raise Rejected([Problem("environment", f"there is no environment {given.environment[:300]!r}")])
    return environment.name


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
