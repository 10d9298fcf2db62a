"""Jobs from their creation to their end, and what their end means for the target."""

from __future__ import annotations

from headgate.fleet.gates import failures, rejecting
from headgate.fleet.model import expressions
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import JobReported
from headgate.fleet.model.records import Job, JobKind, Variables
from headgate.fleet.rules import retry, rollback
from headgate.fleet.rules.retry import Retry
from headgate.fleet.rules.rollback import Rollback
from headgate.fleet.rules.verification import Verification
from headgate.fleet.state import candidates, evidence, holds, repairs, successes, verifying, wakes
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel.instants import Instant

MOST_KEPT_AS_RAN = 20


def create(
    state: State,
    target: Target,
    version: VersionNode,
    now: Instant,
    *,
    kind: JobKind,
    attempt: int,
    variables: Variables,
    group: str | None = None,
    judged: tuple[GateResult, ...] = (),
    reason: str = "",
) -> Job:
    """A target has at most one live job; everything else about starting was decided by the caller."""
    record = target.record
    assert record.job is None, f"{target.name} has a live job already"
    agent, problem = _agent_for(state, target)
    job = Job(
        id=state.new_id("job", target.name, now),
        deployment=target.deployment.name,
        environment=target.environment.name,
        resource=target.resource.name,
        version=version.id,
        tag=version.tag,
        variables=variables,
        attempt=attempt,
        kind=kind,
        created_at=now,
        agent=agent,
        group=group,
        reason=reason,
    )
    if attempt == 1:
        forget_attempts(state, target)
    state.jobs[job.id] = job
    record.job = job.id
    record.retry_at = None
    record.ordered = None
    record.failed_at = None
    record.failed_version = None
    record.given_up_rollback = None
    state.journal.created.append(job)
    state.journal.changed("job", job.id)
    state.observer.on_job_created(job, judged)
    if kind == "rollback":
        _tell(state, job, "rollback.started", f"goes back: {reason}", reason)
    if target.rules.of(Verification):
        verifying.begin(state, target, job, "jobCreated", now)
    state.target_changed(target)
    if problem is not None:
        job.message = problem
        end(state, job, "invalidJobAgent", now)
    return job


def _agent_for(state: State, target: Target) -> tuple[str | None, str | None]:
    """The agent's name, or what is wrong. Where no agent is registered at all, whoever runs the engine serves all."""
    deployment = target.deployment.object
    if not state.job_agents:
        return deployment.job_agent, None
    if deployment.job_agent is not None:
        if deployment.job_agent in state.job_agents:
            return deployment.job_agent, None
        return deployment.job_agent, f"there is no job agent {deployment.job_agent}"
    if deployment.job_agent_selector is None:
        return None, None
    selector = expressions.JOB_AGENT.selector(deployment.job_agent_selector)
    bindings = target.bindings()
    names = [
        name
        for name, agent in sorted(state.job_agents.items())
        if selector.matches({**bindings, "jobAgent": agent.cel_view()})
    ]
    if len(names) == 1:
        return names[0], None
    problem = f"several job agents match ({', '.join(names)})" if names else "no job agent matches"
    return None, f"{problem}: {deployment.job_agent_selector}"


def report(state: State, change: JobReported, now: Instant) -> None:
    """A terminal status never changes again, whatever arrives late."""
    job = state.jobs.get(change.job)
    if job is None or job.status in model.JOB_TERMINAL:
        return
    job.message = change.message if change.message is not None else job.message
    job.external_id = change.external_id or job.external_id
    job.links = {**job.links, **change.links}
    job.offered = change.offered
    state.journal.changed("job", job.id)
    if change.status in model.JOB_TERMINAL:
        end(state, job, change.status, now)
    elif change.status != job.status:
        old = job.status
        job.status = change.status
        if job.started_at is None and change.status in ("inProgress", "actionRequired"):
            job.started_at = now
            target = state.target_named(job.target)
            if target is not None:
                verifying.begin(state, target, job, "jobStarted", now)
        state.observer.on_job_changed(job, old)


def end(state: State, job: Job, status: str, now: Instant) -> None:
    old = job.status
    job.status = status
    job.completed_at = now
    job.started_at = job.started_at if job.started_at is not None or status == "cancelled" else job.created_at
    state.journal.changed("job", job.id)
    state.observer.on_job_changed(job, old)
    target = state.target_named(job.target)
    if target is None or target.record.job != job.id:
        return
    record = target.record
    record.job = None
    record.finished_at = now
    record.attempts.append(job.id)
    if status == "successful":
        _succeeded(state, target, job, now)
    else:
        verifying.begin(state, target, job, "jobFailure", now)
        # That other values failed says nothing about the version, which had succeeded without them.
        if record.deployed == job.version and job.kind != "variable":
            successes.lost(state, target, job.version)
        if job.group is None:
            _ended_without_success(state, target, job, now)
    state.target_changed(target)
    state.touch(target)
    holds.settle_target(state, target)


def _succeeded(state: State, target: Target, job: Job, now: Instant) -> None:
    record = target.record
    if job.kind == "rollback":
        _tell(state, job, "rollback.completed", f"is back: {job.reason}", job.reason)
        record.previous = None
    elif record.deployed != job.version and record.is_good:
        record.previous = record.deployed
    if job.kind == "rollback" or record.rollback_to == job.version:
        record.rollback_to = None
        record.rollback_cause = ""
    note_running(state, target, job.version, job.variables, now)
    failures.cleared(target, job)
    if job.kind != "rollback":
        record.fault = None
        verifying.succeeded(state, target, job, now)
        if record.is_proven:
            failures.forgiven(state, target)


def _forget_given_up(state: State, target: Target) -> None:
    """What was given up is missed only as long as nothing as new runs."""
    record = target.record
    runs = state.version(record.deployed)
    if record.given_up and runs is not None:
        record.given_up = {
            version_id: given_up
            for version_id, given_up in record.given_up.items()
            if (version := state.version(version_id)) is not None and version.sort_key > runs.sort_key
        }


def note_running(state: State, target: Target, version: str, variables: Variables, now: Instant) -> None:
    """The version runs there from now on, and counts as a success of its stage."""
    record = target.record
    record.was_proven = record.deployed == version and record.is_good
    record.deployed = version
    record.deployed_variables = variables
    record.deployed_at = now
    record.verification = "none"
    record.adopted_by = None
    record.given_up_values = record.given_up_rollback = None
    record.tried_again = ()
    record.ran = (*(one for one in record.ran if one != version), version)[-MOST_KEPT_AS_RAN:]
    _forget_given_up(state, target)
    successes.noted(state, target, version, now)


def _ended_without_success(state: State, target: Target, job: Job, now: Instant) -> None:
    plan = retry_plan(state, target, target.record.attempts)
    if plan.retry:
        target.record.retry_at = plan.at
        return
    _out_of_attempts(state, target, job, now)


def _out_of_attempts(state: State, target: Target, job: Job, now: Instant, why_no_more: str = "") -> None:
    """It has failed for good; where a rollback rule fires for that, or who rejected it asked so, what ran before is put
    back."""
    target.record.rollback_to = None
    given_up(state, target, job, now, why_no_more)
    if job.kind == "rollback":
        return
    if fires_rollback(target, job.status, verification_failed=False) or is_to_go_back(state, target, job):
        order_rollback(
            state, target, job.version, target.record.proven, cause_of_rollback(state, target, job)
        )


def retry_plan(state: State, target: Target, attempts: list[str]) -> retry.RetryPlan:
    ended = [state.jobs[job_id] for job_id in attempts]
    return retry.judge(
        [rule.spec for rule in target.rules.of(Retry)],
        [retry.Attempt(job.status, job.completed_at or job.created_at) for job in ended],
    )


def fires_rollback(target: Target, job_status: str, *, verification_failed: bool) -> bool:
    return any(
        rollback.fires(rule.spec, job_status, verification_failed) for rule in target.rules.of(Rollback)
    )


def is_to_go_back(state: State, target: Target, job: Job) -> bool:
    """Who rejected the version has asked for it: also where it failed, because what it has left is not what ran before."""
    version = state.version(job.version)
    return version is not None and version.goes_back and target.record.deployed != job.version


def cause_of_rollback(state: State, target: Target, job: Job) -> str:
    """What sends the version back: that somebody marked it, where the failure alone would not have, or not yet."""
    version = state.version(job.version)
    rejection = version.object.rejection if version is not None and version.goes_back else None
    if version is None or rejection is None:
        return evidence.cause_of_rollback(job)
    is_marked_since = job.completed_at is not None and rejection.at >= job.completed_at
    verification_failed = job.verification == "failed"
    if not is_marked_since and fires_rollback(target, job.status, verification_failed=verification_failed):
        return evidence.cause_of_rollback(job)
    return rejecting.sentence(version)


def given_up(state: State, target: Target, job: Job, now: Instant, why_no_more: str = "") -> None:
    """The release has failed for good here."""
    record = target.record
    record.failed_at = now
    record.failed_version = job.version
    record.failures[job.version] = job.variables
    record.fault = evidence.fault_of(job, now, why_no_more)
    _tell(state, job, "target.failed", f"failed: {record.fault.cause}", record.fault.cause)
    record.retry_at = None
    failures.counted(state, target, job, now)


def reconsider_retry(state: State, target: Target, now: Instant) -> None:
    """Retry rules may have changed while the next attempt was waited for, or the version was withdrawn: then the attempt
    that failed was the last. A rollback goes further back instead, if it can."""
    record = target.record
    if record.retry_at is None or not record.attempts:
        return
    last = state.jobs[record.attempts[-1]]
    plan = retry_plan(state, target, record.attempts)
    why_withdrawn = candidates.withdrawn(state, target, last.version, last.kind)
    if plan.retry and why_withdrawn is None:
        if plan.at != record.retry_at:
            record.retry_at = plan.at
            state.target_changed(target)
        return
    is_further_back = last.kind == "rollback" and candidates.last_good(state, target) is not None
    if why_withdrawn is not None and is_further_back:
        record.retry_at = None
    else:
        why = why_withdrawn if why_withdrawn is not None else "retry rules allow no other attempt"
        _out_of_attempts(state, target, last, now, why)
    state.target_changed(target)


def end_attempts(state: State, target: Target, now: Instant, why: str) -> None:
    """The attempt that failed was the last, although the next was waited for."""
    _out_of_attempts(state, target, state.jobs[target.record.attempts[-1]], now, why)
    state.target_changed(target)
    state.touch(target)


def reconsider_attempt(state: State, target: Target, now: Instant) -> None:
    """What failed was to be tried again by a cycle or an order, and was withdrawn before that: nothing of it is forgotten,
    it has failed with that attempt."""
    last = unsettled(state, target)
    why = (
        candidates.withdrawn(state, target, last.version, last.kind)
        if last is not None and last.kind in ("deploy", "variable")
        else None
    )
    if why is not None:
        end_attempts(state, target, now, why)


def unsettled(state: State, target: Target) -> Job | None:
    """What was tried last and has failed, if it is neither given up nor put back: it is to be tried again, after its
    backoff or because somebody ordered that."""
    record = target.record
    last = state.last_attempt(record.attempts)
    if last is None or last.status == "successful" or record.job is not None:
        return None
    if record.failed_at is not None or record.rollback_to is not None:
        return None
    return last if last.version not in (record.deployed, *record.rolled_back, *record.failures) else None


def reconsider_failure(state: State, target: Target) -> None:
    """What had failed for good when its version was marked goes back too, if who marked it asked for that."""
    record = target.record
    version = state.version(record.failed_version)
    if record.failed_at is None or version is None or not version.goes_back:
        return
    if version.id not in (record.deployed, *record.rolled_back):
        order_rollback(state, target, version.id, record.proven, rejecting.sentence(version))
        state.target_changed(target)


def reconsider_orders(state: State, target: Target) -> None:
    """A version that was deleted or rejected meanwhile starts nowhere, whatever was ordered: back goes further. Where there
    is nothing further, what the order was to make good has failed as before, and what was good before it stays."""
    record = target.record
    if record.rollback_to is not None and not _may_start(state, record.rollback_to):
        other = candidates.last_good(state, target)
        record.rollback_to = other.id if other is not None else None
        if other is None:
            repairs.call_off(state, target)
            repairs.stay(state, target)
        state.target_changed(target)
    if record.ordered == "redeploy" and not _may_start(state, record.deployed):
        record.ordered = None
        repairs.call_off(state, target)
        state.target_changed(target)


def go_further_back(state: State, target: Target, version_id: str | None) -> None:
    """A group was to put the version back there, and the version starts nowhere any more: its order is the target's again."""
    target.record.rollback_to = version_id
    reconsider_orders(state, target)


def _may_start(state: State, version_id: str | None) -> bool:
    version = state.version(version_id)
    return version is not None and version.object.status != "rejected"


def order_rollback(
    state: State, target: Target, from_version: str, to_version: str | None, cause: str
) -> None:
    """Without a previous version the target is left as it is, and so it is where only its values are new: they have failed,
    not the version that runs. Where the one before was rejected, back goes further. The cause stays with what was put back."""
    record = target.record
    if to_version == from_version:
        return
    record.rolled_back[from_version] = cause
    if to_version is None:
        return
    if not _may_start(state, to_version):
        other = candidates.last_good(state, target)
        to_version = other.id if other is not None else None
    if to_version is not None:
        record.rollback_to = to_version
        record.rollback_cause = cause
        record.given_up_rollback = None
        successes.lost(state, target, from_version)


def _tell(state: State, job: Job, type_: str, what: str, cause: str) -> None:
    state.notify(
        type_,
        "ReleaseTarget",
        job.target,
        f"{job.target} {job.tag} {what}",
        deployment=job.deployment,
        environment=job.environment,
        resource=job.resource,
        version=job.tag,
        job=job.id,
        group=job.group,
        cause=cause,
    )


def cancel(state: State, job: Job, now: Instant, why: str) -> None:
    job.message = why
    state.journal.cancelled.append(job)
    end(state, job, "cancelled", now)


def undo(state: State, job: Job, now: Instant, why: str) -> None:
    """Cancels a job that never began: it is no attempt, nothing has failed with it, and what was there before it is what
    is there."""
    target = state.target_named(job.target)
    if target is not None and target.record.job == job.id:
        target.record.job = None
        state.target_changed(target)
        state.touch(target)
        holds.settle_target(state, target)
    cancel(state, job, now, why)
    state.forget_job(job.id)
    state.waiting.happened(wakes.resource(job.resource))


def forget_attempts(state: State, target: Target) -> None:
    """A new release counts its attempts from one; jobs of the last one are history, which a store keeps."""
    for job_id in target.record.attempts:
        job = state.jobs.get(job_id)
        if job is not None and (job.group is None or job.group not in state.groups):
            state.forget_job(job_id)
    target.record.attempts = []
    if target.record.verification == "running":
        target.record.verification = "abandoned"
