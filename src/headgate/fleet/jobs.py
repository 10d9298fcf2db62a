"""Jobs from their creation to their end, and what their end means for the target."""

from __future__ import annotations

from headgate.fleet import expressions, failures, holds, model, verifying
from headgate.fleet.changes import JobReported
from headgate.fleet.records import Job, JobKind, Variables
from headgate.fleet.rules import retry, rollback
from headgate.fleet.state import Judged, State
from headgate.fleet.units import Target, VersionNode
from headgate.kernel.instants import Instant


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
    judged: tuple[Judged, ...] = (),
    reason: str = "",
) -> Job:
    """A target has at most one live job; everything else about starting was decided by the caller."""
    record = target.record
    assert record.job is None, f"{target.name} has a live job already"
    agent, flaw = _agent_for(state, target)
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
        _forget_attempts(state, target)
    state.jobs[job.id] = job
    record.job = job.id
    record.retry_at = None
    record.ordered = None
    record.failed_at = None
    record.failed_version = None
    state.journal.created.append(job)
    state.journal.changed("job", job.id)
    state.observer.on_job_created(job, judged)
    verifying.begin(state, target, job, "jobCreated", now)
    state.target_changed(target)
    state.waiting.happened(("resource", target.resource.name))
    if flaw is not None:
        job.message = flaw
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
    found = f"several job agents match ({', '.join(names)})" if names else "no job agent matches"
    return None, f"{found}: {deployment.job_agent_selector}"


def report(state: State, change: JobReported, now: Instant) -> None:
    """A terminal status never changes again, whatever arrives late."""
    job = state.jobs.get(change.job)
    if job is None or job.status in model.JOB_TERMINAL:
        return
    job.message = change.message if change.message is not None else job.message
    job.external_id = change.external_id or job.external_id
    job.links = {**job.links, **change.links}
    state.journal.changed("job", job.id)
    if change.status in model.JOB_TERMINAL:
        end(state, job, change.status, now)
    elif change.status != job.status:
        old = job.status
        job.status = change.status
        if job.started_at is None and change.status in ("inProgress", "actionRequired"):
            job.started_at = now
            target = state.targets.get(job.target)
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
    target = state.targets.get(job.target)
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
        if job.group is None:
            _ended_without_success(state, target, job, now)
    state.target_changed(target)
    state.touch(target)
    state.waiting.happened(("resource", target.resource.name))
    holds.settle_target(state, target, now)


def _succeeded(state: State, target: Target, job: Job, now: Instant) -> None:
    record = target.record
    if job.kind == "rollback":
        record.previous = None
        record.rollback_to = None
    elif record.deployed != job.version:
        record.previous = record.deployed
    record.deployed = job.version
    record.deployed_variables = job.variables
    record.deployed_at = now
    record.verification = "none"
    failures.cleared(state, target, job)
    _note_progress(state, target, job, now)
    if job.kind != "rollback":
        verifying.begin(state, target, job, "jobSuccess", now)


def _note_progress(state: State, target: Target, job: Job, now: Instant) -> None:
    successes = state.progress.setdefault(job.version, {}).setdefault(job.environment, {})
    if successes.setdefault(target.name, now) == now:
        state.journal.changed("progress", job.version, target.name)
        state.stages_moved(job.version)


def _ended_without_success(state: State, target: Target, job: Job, now: Instant) -> None:
    record = target.record
    plan = retry_plan(state, target, record.attempts)
    if plan.retry and job.kind != "rollback":
        record.retry_at = plan.at
        return
    record.rollback_to = None
    given_up(state, target, job, now)
    if job.kind != "rollback" and fires_rollback(target, job.status, verification_failed=False):
        order_rollback(state, target, job.version, record.deployed)


def retry_plan(state: State, target: Target, attempts: list[str]) -> retry.RetryPlan:
    ended = [state.jobs[job_id] for job_id in attempts]
    return retry.judge(
        [rule.spec for rule in target.rules.of("retry")],
        [retry.Attempt(job.status, job.completed_at or job.created_at) for job in ended],
    )


def fires_rollback(target: Target, job_status: str, *, verification_failed: bool) -> bool:
    return any(
        rollback.fires(rule.spec, job_status, verification_failed) for rule in target.rules.of("rollback")
    )


def given_up(state: State, target: Target, job: Job, now: Instant) -> None:
    """The release has failed for good here."""
    record = target.record
    record.failed_at = now
    record.failed_version = job.version
    record.failures[job.version] = job.variables
    record.retry_at = None
    failures.counted(state, target, now)


def reconsider_retry(state: State, target: Target, now: Instant) -> None:
    """Retry rules may have changed while the next attempt was waited for."""
    record = target.record
    if record.retry_at is None or not record.attempts:
        return
    plan = retry_plan(state, target, record.attempts)
    if plan.retry:
        record.retry_at = plan.at
        return
    given_up(state, target, state.jobs[record.attempts[-1]], now)
    state.target_changed(target)


def order_rollback(state: State, target: Target, from_version: str, to_version: str | None) -> None:
    """Without a previous version the target is left as it is."""
    record = target.record
    record.spent[from_version] = "rolledBack"
    if to_version is not None and to_version != from_version and to_version in state.versions:
        record.rollback_to = to_version


def cancel(state: State, job: Job, now: Instant, why: str) -> None:
    job.message = why
    state.journal.cancelled.append(job)
    end(state, job, "cancelled", now)


def _forget_attempts(state: State, target: Target) -> None:
    """A new release counts its attempts from one; jobs of the last one are history, which a store keeps."""
    for job_id in target.record.attempts:
        job = state.jobs.get(job_id)
        if job is not None and (job.group is None or job.group not in state.groups):
            state.forget_job(job_id)
    target.record.attempts = []
