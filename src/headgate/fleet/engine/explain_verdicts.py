"""Every verdict that keeps a target where it is, candidate by candidate, in the words that people read."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from headgate.fleet.cycles import retries, targets
from headgate.fleet.engine import (
    explain_attempts,
    explain_brackets,
    explain_rollbacks,
    explain_slots,
    target_states,
)
from headgate.fleet.gates import dependencies, gates
from headgate.fleet.rules.deployment_dependency import DeploymentDependency
from headgate.fleet.state import holds, rollbacks, units, variables
from headgate.fleet.state.state import GateResult, JudgedVersion, State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel import decisions
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant


def of_target(state: State, target: Target, now: Instant) -> Iterator[JudgedVersion]:
    conflict = targets.denied_by_two_brackets(target)
    if conflict is not None:
        yield None, conflict
        return
    yield from explain_attempts.of_stranded(state, target)
    if target.site is not None:
        yield from explain_brackets.of_member(state, target, target.site, now)
        return
    for version, _ in zip(target_states.ahead_of(state, target), range(target_states.CANDIDATES_AT_MOST)):
        for result in targets.verdicts_of(state, target, version, now):
            yield version, result
        for table in holds.tables_for(state, (target,)):
            yield version, explain_slots.of_table(state, table, target)
        if target.record.retry_at is not None and retries.retried_version(state, target) == version.id:
            yield from (
                (version, one) for one in explain_attempts.of_retry(target, target.record.retry_at, now)
            )
        elif _has_failed(state, target, version) and rollbacks.failed(state, target) is None:
            yield (
                version,
                GateResult(
                    None,
                    "retry",
                    decisions.denied(
                        Reason.FAILED, explain_attempts.failed_sentence(state, target, version.id)
                    ),
                ),
            )
    yield from explain_attempts.of_paused(state, target)
    yield from _ordered_verdicts(state, target, now)
    yield from explain_rollbacks.verdicts_of(state, target)
    yield from _changed_values_verdicts(state, target, now)
    yield from explain_attempts.of_rolled_back(state, target)
    yield from explain_attempts.of_verification(state, target)


def _has_failed(state: State, target: Target, version: VersionNode) -> bool:
    """With the values that it would be given now: with others it is another release, which its gates may let start."""
    if version.id not in target.record.failures:
        return False
    return targets.has_failed(target, version, variables.resolve(state, target))


def _ordered_verdicts(state: State, target: Target, now: Instant) -> Iterator[JudgedVersion]:
    """What a rollback, a redeploy or the next attempt of one waits for: a freeze, a time, a slot."""
    record = target.record
    version = state.version(record.rollback_to or record.deployed)
    last = state.last_attempt(record.attempts)
    is_retried = record.retry_at is not None and last is not None and last.kind in ("redeploy", "rollback")
    if record.job is not None or version is None:
        return
    is_redeployed = record.ordered == "redeploy" or (
        is_retried and last is not None and last.kind == "redeploy"
    )
    if record.rollback_to is None and not is_redeployed:
        return
    yield version, gates.frozen(state, target, now)
    if is_retried and record.retry_at is not None:
        yield from ((version, one) for one in explain_attempts.of_retry(target, record.retry_at, now))
    for table in holds.tables_for(state, (target,)):
        yield version, explain_slots.of_table(state, table, target)


def _changed_values_verdicts(state: State, target: Target, now: Instant) -> Iterator[JudgedVersion]:
    """What a new release of the version that runs waits for; only if nothing newer comes before it."""
    record = target.record
    deployed = state.version(record.deployed)
    if deployed is None or any(True for _ in target_states.ahead_of(state, target)):
        return
    if record.job is not None or not target_states.has_changed_values(state, target):
        return
    for result in targets.verdicts_of_same_version(state, target, now):
        yield deployed, result
    if record.retry_at is not None:
        yield from ((deployed, one) for one in explain_attempts.of_retry(target, record.retry_at, now))
    for table in holds.tables_for(state, (target,)):
        yield deployed, explain_slots.of_table(state, table, target)


def with_cycle(target: Target, result: GateResult) -> GateResult:
    """A ring of dependencies that could not be seen when the policy came is said here."""
    if result.is_allowed or result.rule is None or not units.is_a(result.rule, DeploymentDependency):
        return result
    ring = dependencies.ring_through(target)
    if not ring or result.verdict.outcome == "denied":
        return result
    message = f"{result.verdict.message}; the {dependencies.ring_sentence(ring)}"
    return GateResult(
        result.rule, result.kind, msgspec.structs.replace(result.verdict, words=message), result.wakes
    )
