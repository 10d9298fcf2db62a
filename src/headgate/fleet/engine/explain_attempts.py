"""What has been tried on a target: what failed, is tried again, is measured, or was taken back."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.fleet.cycles import retries, targets
from headgate.fleet.engine import explain_rollbacks, target_states
from headgate.fleet.gates import rejecting
from headgate.fleet.rules import always_on
from headgate.fleet.rules.retry import Retry
from headgate.fleet.rules.rollback import Rollback
from headgate.fleet.rules.verification import Verification
from headgate.fleet.state import candidates, evidence, rollbacks, variables
from headgate.fleet.state.state import GateResult, JudgedVersion, State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant


def failed_sentence(state: State, target: Target, version_id: str | None) -> str:
    rollback = rollbacks.tried_last(state, target)
    if rollback is not None and rollback.version == version_id:
        return explain_rollbacks.failed_sentence(state, target, rollback)
    at, fault = target.record.failed_at, target.record.fault
    version = state.version(version_id)
    is_deleted = version is None and fault is not None and fault.version == version_id
    tag = fault.tag if is_deleted and fault is not None else state.tag(version_id)
    back = state.version(target.record.rollback_to)
    when = f" at {instants.show_to_the_second(at)}" if at is not None else ""
    cause = f" ({fault.cause})" if fault is not None and fault.tag == tag else ""
    if back is not None:
        return f"{tag} failed{when}{cause}; it goes back to {back.tag}"
    if is_deleted:
        return f"{tag} failed{when}{cause}; it was deleted and is not tried again: a rollback or a newer version moves this"
    if version is not None and version.object.status == "rejected":
        return f"{tag} failed{when}{cause}; it is rejected and not tried again: a rollback or a newer version moves this"
    return f"{tag} failed{when}{cause}; {_what_tries_again(state, target, version)}"


def _what_tries_again(state: State, target: Target, version: VersionNode | None) -> str:
    if version is not None and target.site is None and _is_to_come_with_others(state, target, version):
        return "its values have changed since, and it is tried with these when every gate allows it"
    group = target.site.executing if target.site is not None else None
    member = group.member(target.deployment.name) if group is not None else None
    if group is None or member is None or group.status != "failed" or member.state != "failed":
        return "it is tried again when an operator retries it or a newer version comes"
    return "nothing follows in its group, and nothing newer after it, until an operator retries it, skips it or aborts"


def _is_to_come_with_others(state: State, target: Target, version: VersionNode) -> bool:
    """It failed with other values than it would be given now, and is still ahead here."""
    if version.id not in target.record.failures or version.id == target.record.deployed:
        return False
    if targets.has_failed(target, version, variables.resolve(state, target)):
        return False
    return any(one is version for one in target_states.ahead_of(state, target))


def of_stranded(state: State, target: Target) -> Iterator[JudgedVersion]:
    deployed = candidates.deployed_version(state, target)
    if deployed is not None and target.record.job is None and target_states.is_stranded(state, target):
        failed = rollbacks.failed(state, target)
        why = (
            f"for the rollback to {failed.tag} failed: an operator's retry tries that again, or "
            if failed is not None
            else "for nothing that ran before it is left to go back to: "
        )
        message = f"{rejecting.sentence(deployed)}; it still runs here, {why}a newer version replaces it"
        yield None, GateResult(None, always_on.REJECTION, decisions.denied(Reason.REJECTED, message))


def of_paused(state: State, target: Target) -> Iterator[JudgedVersion]:
    """What failed, and is not tried again before somebody lets it go on."""
    version = retries.paused_retry(state, target)
    if version is None or target.record.job is not None:
        return
    last = evidence.of_job(state.jobs[target.record.attempts[-1]])
    message = f"{last}; it is paused, the next attempt is made when it is ready again"
    yield version, GateResult(None, "retry", decisions.pending(Reason.AWAITING_RETRY, message))


def of_retry(target: Target, retry_at: Instant, now: Instant) -> Iterator[GateResult]:
    for rule in target.rules.of(Retry):
        if now < retry_at:
            verdict = decisions.pending(
                Reason.AWAITING_RETRY,
                f"the next attempt is made at {instants.show_to_the_second(retry_at)}",
                requeue_at=retry_at,
            )
        else:
            verdict = decisions.allowed("the next attempt is due", satisfied_at=retry_at)
        yield GateResult(rule, rule.kind, verdict)


def of_rolled_back(state: State, target: Target) -> Iterator[JudgedVersion]:
    """What is barred because a rollback took it away, or should have and found nothing to go back to: that has failed."""
    version = target_states.rolled_back_version(state, target)
    is_back = not target_states.is_going_back(state, target) and rollbacks.tried_last(state, target) is None
    if version is None or not is_back:
        return
    if target.record.failed_version == version.id:
        reason, message = Reason.FAILED, failed_sentence(state, target, version.id)
    else:
        why = target.record.rolled_back[version.id]
        cause = f": {why}" if why != "rolledBack" else ""
        reason = Reason.ROLLED_BACK
        message = f"{version.tag} was rolled back here{cause}; it is not tried again by itself, an operator's retry does it"
    yield (
        version,
        GateResult(
            next(iter(target.rules.of(Rollback)), None),
            "rollback",
            decisions.denied(reason, message),
        ),
    )


def of_verification(state: State, target: Target) -> Iterator[JudgedVersion]:
    """What is measured of the version that runs, while it is not known to be good."""
    record = target.record
    job = state.last_attempt(record.attempts)
    if job is None or job.verification not in ("running", "failed"):
        return
    for rule in target.rules.of(Verification):
        left = [p for p in job.metrics if p.rule == rule.id and p.status == job.verification]
        if not left:
            continue
        names = ", ".join(progress.metric for progress in left)
        due = min((p.due_at for p in left if p.due_at is not None), default=None)
        if job.verification == "failed":
            verdict = decisions.denied(
                Reason.VERIFICATION_FAILED, f"verification of {job.tag} failed: {evidence.of_metrics(left)}"
            )
        else:
            verdict = decisions.pending(
                Reason.AWAITING_VERIFICATION, f"{job.tag} is being verified: {names}", requeue_at=due
            )
        yield state.version(job.version), GateResult(rule, rule.kind, verdict)
