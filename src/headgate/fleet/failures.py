"""Failure budgets: who has failed, and whether that stops the line until a person resumes it."""

from __future__ import annotations

from headgate.fleet import gates
from headgate.fleet.records import Job, Latch
from headgate.fleet.rules import failure_budget
from headgate.fleet.state import State
from headgate.fleet.units import Target
from headgate.kernel.instants import Instant


def counted(state: State, target: Target, now: Instant) -> None:
    for rule in target.rules.of("failureBudget"):
        scope = gates.latch_scope(rule, target)
        latch = state.latches.setdefault((rule.id, scope), Latch())
        latch.failed.setdefault(target.name, now)
        if latch.stopped_at is None and failure_budget.exceeded(
            rule.spec, len(latch.failed), gates.budget_total(state, rule, target)
        ):
            latch.stopped_at = now
        state.journal.changed("latch", rule.id, scope)


def cleared(state: State, target: Target, job: Job) -> None:
    """A target that has succeeded again no longer counts; one that was put back still does."""
    target.record.failed_at = None
    target.record.failed_version = None
    target.record.failures.pop(job.version, None)
    if job.kind == "rollback":
        return
    for rule in target.rules.of("failureBudget"):
        scope = gates.latch_scope(rule, target)
        latch = state.latches.get((rule.id, scope))
        if latch is not None and latch.failed.pop(target.name, None) is not None:
            state.journal.changed("latch", rule.id, scope)


def resume(state: State, rule_id: str, environment: str | None) -> None:
    for (rule, scope), latch in state.latches.items():
        if rule == rule_id and environment in (None, scope):
            latch.failed.clear()
            latch.stopped_at = None
            state.journal.changed("latch", rule, scope)
            state.waiting.happened(("latch", rule, scope))
