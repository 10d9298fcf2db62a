"""Failure budgets: who has failed, and whether that stops the line until a person resumes it."""

from __future__ import annotations

from headgate.fleet import gates, model, rejecting, wakes
from headgate.fleet.records import Job, Latch
from headgate.fleet.rules import failure_budget, rollback
from headgate.fleet.state import State
from headgate.fleet.units import BoundRule, Target, VersionNode
from headgate.kernel.instants import Instant


def counted(state: State, target: Target, job: Job, now: Instant) -> None:
    """A release has failed for good. That a rollback failed says nothing about the version it went back to."""
    _spend_budgets(state, target, now)
    version = state.version(job.version)
    if job.kind == "rollback" or version is None:
        return
    for rule in target.rules.of("rollback"):
        fires = rollback.fires(rule.spec, job.status, job.verification == "failed")
        if fires and rule.spec.reject_after is not None:
            latch = _counted_for_version(state, rule, target, version, now)
            if len(latch.failed) >= rule.spec.reject_after and version.object.status != "rejected":
                _reject(state, rule, version, latch, now)

    for rule in target.rules.of("gradualRollout"):
        if rule.spec.stop_after_failures is not None:
            latch = _counted_for_version(state, rule, target, version, now)
            if len(latch.failed) >= rule.spec.stop_after_failures and latch.stopped_at is None:
                latch.stopped_at = now


def _counted_for_version(
    state: State, rule: BoundRule, target: Target, version: VersionNode, now: Instant
) -> Latch:
    latch = state.latches.setdefault((rule.id, version.id), Latch())
    latch.failed.setdefault(target.name, now)
    state.journal.changed("latch", rule.id, version.id)
    return latch


def _reject(state: State, rule: BoundRule, version: VersionNode, latch: Latch, now: Instant) -> None:
    names = failure_budget.named(list(latch.failed))
    reason = f"failed on {len(latch.failed)} targets: {names}"
    rejecting.reject(state, version, model.Rejection(reason, f"{rule.policy.name}: {rule.label}", now), now)


def _spend_budgets(state: State, target: Target, now: Instant) -> None:
    for rule in target.rules.of("failureBudget"):
        scope = gates.latch_scope(rule, target)
        latch = state.latches.setdefault((rule.id, scope), Latch())
        latch.failed.setdefault(target.name, now)
        if latch.stopped_at is None and failure_budget.exceeded(
            rule.spec, len(latch.failed), gates.budget_total(state, rule, target)
        ):
            latch.stopped_at = now
            _tell(state, rule.id, scope, "stopped", sorted(latch.failed))
        state.journal.changed("latch", rule.id, scope)


def cleared(target: Target, job: Job) -> None:
    target.record.failed_at = None
    target.record.failed_version = None
    target.record.failures.pop(job.version, None)


def forgiven(state: State, target: Target) -> None:
    """A target that has succeeded again, and is verified, no longer counts; one that was put back still does."""
    for rule in target.rules.of("failureBudget"):
        scope = gates.latch_scope(rule, target)
        latch = state.latches.get((rule.id, scope))
        if latch is not None and latch.failed.pop(target.name, None) is not None:
            state.journal.changed("latch", rule.id, scope)


def resume(state: State, rule_id: str, environment: str | None) -> None:
    for (rule, scope), latch in state.latches.items():
        if rule == rule_id and environment in (None, scope.partition("/")[0]):
            if latch.stopped_at is not None:
                _tell(state, rule, scope, "resumed", sorted(latch.failed))
            latch.failed.clear()
            latch.stopped_at = None
            state.journal.changed("latch", rule, scope)
            state.waiting.happened(wakes.breaker(rule, scope))


def _tell(state: State, rule_id: str, scope: str, what: str, failed: list[str]) -> None:
    policy, label = _names(state, rule_id)
    where = f" in {scope}" if scope else ""
    names = ", ".join(failed[: failure_budget.LONGEST_LIST])
    message = f"{policy}, {label}: the line is {what}{where} ({len(failed)} failed: {names})"
    state.notify(
        f"budget.{what}",
        "Rule",
        rule_id,
        message,
        policy=policy,
        rule=label,
        environment=scope or None,
        failed=failed,
    )


def _names(state: State, rule_id: str) -> tuple[str, str]:
    for policy in state.policies.values():
        for rule in policy.rules:
            if rule.id == rule_id:
                return policy.object.name, rule.label
    return "a policy that is gone", rule_id
