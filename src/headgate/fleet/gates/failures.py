"""Failure budgets: who has failed, and whether that stops the line until a person resumes it."""

from __future__ import annotations

from headgate.fleet.gates import breakers, rejecting
from headgate.fleet.model import objects as model
from headgate.fleet.model.records import Breaker, Job
from headgate.fleet.rules import failure_budget, rollback
from headgate.fleet.rules.failure_budget import FailureBudget
from headgate.fleet.rules.gradual_rollout import GradualRollout
from headgate.fleet.rules.rollback import Rollback
from headgate.fleet.state import units, wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import AnyRule, BoundRule, Target, VersionNode
from headgate.kernel.instants import Instant


def counted(state: State, target: Target, job: Job, now: Instant) -> None:
    """A release has failed for good. That a rollback failed says nothing about the version it went back to, and that other
    values failed nothing about the version that was good without them."""
    _spend_budgets(state, target, now)
    version = state.version(job.version)
    if job.kind == "rollback" or is_of_values(target, job) or version is None:
        return
    # A hook is never put back, and mostly fails for reasons of its resource: without it none comes back.
    for rule in target.rules.of(Rollback) if job.kind != "hook" else ():
        fires = rollback.fires(rule.spec, job.status, job.verification == "failed")
        if fires and rule.spec.reject_after is not None:
            breaker = _counted_for_version(state, rule, target, version, now)
            if len(breaker.failed) >= rule.spec.reject_after and version.object.status != "rejected":
                _reject(state, rule, version, breaker, now)

    for rollout in target.rules.of(GradualRollout):
        if rollout.spec.stop_after_failures is not None:
            breaker = _counted_for_version(state, rollout, target, version, now)
            if len(breaker.failed) >= rollout.spec.stop_after_failures and breaker.stopped_at is None:
                _stop(state, rollout, version.id, breaker, now)


def is_of_values(target: Target, job: Job) -> bool:
    """Whether other values failed of a version that was known to be good there before. One that was still being verified is
    not: it may be what is bad."""
    record = target.record
    if job.kind != "variable":
        return False
    return record.was_proven if job.status == "successful" else record.is_good


def _counted_for_version(
    state: State, rule: AnyRule, target: Target, version: VersionNode, now: Instant
) -> Breaker:
    breaker = state.breakers.setdefault((rule.id, version.id), Breaker())
    breaker.failed.setdefault(target.name, now)
    state.journal.changed("breaker", rule.id, version.id)
    return breaker


def _reject(state: State, rule: AnyRule, version: VersionNode, breaker: Breaker, now: Instant) -> None:
    names = failure_budget.named(list(breaker.failed))
    reason = f"failed on {len(breaker.failed)} targets: {names}"
    rejecting.reject(state, version, model.Rejection(reason, f"{rule.policy.name}: {rule.label}", now), now)


def _spend_budgets(state: State, target: Target, now: Instant) -> None:
    for rule in target.rules.of(FailureBudget):
        scope = breakers.scope_of(rule, target)
        breaker = state.breakers.setdefault((rule.id, scope), Breaker())
        breaker.failed.setdefault(target.name, now)
        if breaker.stopped_at is None and failure_budget.exceeded(
            rule.spec, len(breakers.failed_in(state, rule, scope)), breakers.total(state, rule, scope)
        ):
            _stop(state, rule, scope, breaker, now)
        state.journal.changed("breaker", rule.id, scope)


def _stop(state: State, rule: AnyRule, scope: str, breaker: Breaker, now: Instant) -> None:
    breaker.stopped_at = now
    state.journal.changed("breaker", rule.id, scope)
    tell(state, rule, scope, "stopped", sorted(breaker.failed))
    state.waiting.happened(wakes.breaker(rule.id, scope))


def settle(state: State, now: Instant) -> None:
    """Rules that allow fewer failures than there were stop their lines: because they say so now, or because there are
    fewer targets, of which the same failures are a larger share."""
    state.shares_of_budgets_moved = False
    for policy in state.policies.values() if state.breakers else ():
        for rule in policy.rules if policy.object.enabled else ():
            for (rule_id, scope), breaker in state.breakers.items():
                if (
                    rule_id == rule.id
                    and breaker.stopped_at is None
                    and _is_spent(state, rule, scope, breaker)
                ):
                    _stop(state, rule, scope, breaker, now)


def target_moved(state: State, target: Target) -> None:
    """Where a budget counts by value, a failure goes along with a target that has another one now."""
    for rule in target.rules.of(FailureBudget):
        scope = breakers.scope_of(rule, target)
        for other in _scopes(state, rule, target):
            breaker = state.breakers.get((rule.id, other))
            failed_at = breaker.failed.pop(target.name, None) if breaker and other != scope else None
            if failed_at is not None:
                state.breakers.setdefault((rule.id, scope), Breaker()).failed.setdefault(
                    target.name, failed_at
                )
                state.journal.changed("breaker", rule.id, other)
                state.journal.changed("breaker", rule.id, scope)


def target_gone(state: State, target: Target) -> None:
    """With its machine: another one of its name has not failed. That a version failed there is still known of the version."""
    for (rule_id, scope), breaker in state.breakers.items():
        failed_at = breaker.failed.pop(target.name, None)
        if failed_at is None:
            continue
        if scope in state.versions:
            breaker.failed[f"{target.name} (deleted)"] = failed_at
        state.journal.changed("breaker", rule_id, scope)


def _is_spent(state: State, rule: AnyRule, scope: str, breaker: Breaker) -> bool:
    if units.is_a(rule, GradualRollout):
        most = rule.spec.stop_after_failures
        return most is not None and sum(1 for name in breaker.failed if name in state.targets) >= most
    if not units.is_a(rule, FailureBudget):
        return False
    total = breakers.total(state, rule, scope)
    return total > 0 and failure_budget.exceeded(
        rule.spec, len(breakers.failed_in(state, rule, scope)), total
    )


def cleared(target: Target, job: Job) -> None:
    target.record.failed_at = None
    target.record.failed_version = None
    target.record.failures.pop(job.version, None)


def forgiven(state: State, target: Target) -> None:
    """A target that has succeeded again, and is verified, no longer counts; one that was put back still does."""
    for rule in target.rules.of(FailureBudget):
        for scope in _scopes(state, rule, target):
            breaker = state.breakers.get((rule.id, scope))
            if breaker is not None and breaker.failed.pop(target.name, None) is not None:
                state.journal.changed("breaker", rule.id, scope)


def _scopes(state: State, rule: BoundRule[FailureBudget], target: Target) -> list[str]:
    """Where it may be counted: with `groupBy` it may have failed while it had another value."""
    if rule.spec.group_by is None:
        return [breakers.scope_of(rule, target)]
    return [scope for rule_id, scope in state.breakers if rule_id == rule.id]


def tell(state: State, rule: AnyRule, scope: str, what: str, failed: list[str]) -> None:
    """That a line is stopped, or resumed, with the names by which people know it."""
    environment, value = breakers.parts_of_scope(scope) if rule.kind == "failureBudget" else (None, None)
    version = state.version(scope) if rule.kind != "failureBudget" else None
    name = f"{version.object.deployment}/{version.tag}" if version is not None else None
    where = "".join(
        f" {word} {part}"
        for word, part in (
            ("of", name),
            ("in", environment),
            ("for", units.render_value(value) if value is not None else None),
        )
        if part is not None
    )
    which = f"{len(failed)} failed: {failure_budget.named(failed)}" if failed else "none has failed any more"
    state.notify(
        f"budget.{what}",
        "Rule",
        f"{rule.policy.name}/{rule.label}",
        f"{rule.policy.name}, {rule.label}: the line is {what}{where} ({which})",
        policy=rule.policy.name,
        rule=rule.label,
        ruleId=rule.id,
        environment=environment,
        value=value,
        version=name,
        failed=failed,
    )
