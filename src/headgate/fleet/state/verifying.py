"""Verification of jobs: when measurements are due, and what their results mean for the target."""

from __future__ import annotations

import heapq
from typing import Literal

import msgspec

from headgate.fleet.model.changes import Measured
from headgate.fleet.model.records import Job, MetricProgress
from headgate.fleet.rules import verification
from headgate.fleet.rules.verification import Verification
from headgate.fleet.state import evidence
from headgate.fleet.state.state import MeasurementDue, State
from headgate.fleet.state.units import Target
from headgate.kernel.instants import Instant

Trigger = Literal["jobCreated", "jobStarted", "jobSuccess", "jobFailure"]
ON_THE_WAY: tuple[Trigger, ...] = ("jobCreated", "jobStarted", "jobSuccess")


def begin(state: State, target: Target, job: Job, trigger: Trigger, now: Instant) -> None:
    """A rollback is not verified: it goes to what has been, and there is nowhere to go from there. What has failed its
    verification already has failed it, whatever else would be measured."""
    if job.kind == "rollback" or job.verification == "failed":
        return
    for rule in target.rules.of(Verification):
        if rule.spec.trigger_on != trigger or any(progress.rule == rule.id for progress in job.metrics):
            continue
        for metric in rule.spec.metrics:
            _add(state, job, rule.id, metric, now)
    if any(progress.status == "running" for progress in job.metrics):
        job.verification = "running"
        state.measuring.add(job.id)
        state.journal.changed("job", job.id)


def _add(state: State, job: Job, rule_id: str, metric: verification.Metric, now: Instant) -> None:
    fresh = verification.MetricState()
    progress = MetricProgress(
        rule_id,
        metric.name,
        msgspec.to_builtins(fresh),
        due_at=verification.next_measurement_at(metric, fresh, now),
    )
    job.metrics.append(progress)
    _schedule(state, job, progress)


def succeeded(state: State, target: Target, job: Job, now: Instant) -> None:
    """The job did: what is measured from now on, and what was measured since it was created, decides the rest. What has ended
    has been created and started too, whether or not anybody said so or the rule was there then."""
    for trigger in ON_THE_WAY:
        begin(state, target, job, trigger, now)
    if job.verification == "none":
        forget(state, target, job.version)
        return
    target.record.verification = job.verification
    passed = state.verified.setdefault(job.version, {})
    if job.verification == "failed":
        passed[target.name] = None
    elif passed.setdefault(target.name, None) is None and job.verification == "passed":
        passed[target.name] = now
    state.journal.changed("progress", job.version, target.name)


def forget(state: State, target: Target, version_id: str) -> None:
    """Nothing is measured of it there any more: its success is one as it is."""
    passed = state.verified.get(version_id, {})
    if target.name in passed:
        del passed[target.name]
        if not passed:
            del state.verified[version_id]
        state.journal.changed("progress", version_id, target.name)
        state.stages_moved(version_id)


def schedule(state: State, job: Job) -> None:
    for progress in job.metrics:
        _schedule(state, job, progress)


def _schedule(state: State, job: Job, progress: MetricProgress) -> None:
    if progress.status == "running" and progress.due_at is not None:
        heapq.heappush(state.measurements, (progress.due_at, job.id, progress.rule, progress.metric))


def ask(state: State, now: Instant) -> None:
    """Puts the measurements that are due on the list of things to do."""
    while state.measurements and state.measurements[0][0] <= now:
        due_at, job_id, rule, name = heapq.heappop(state.measurements)
        job = state.jobs.get(job_id)
        target = None if job is None else state.target_named(job.target)
        if job is None or target is None:
            continue
        progress, metric = _progress(job, rule, name), metric_of(target, rule, name)
        if (
            progress is not None
            and metric is not None
            and (progress.status, progress.due_at) == ("running", due_at)
        ):
            state.journal.measurements.append(MeasurementDue(job, rule, metric))


def metric_of(target: Target, rule_id: str, name: str) -> verification.Metric | None:
    for rule in target.rules.of(Verification):
        if rule.id == rule_id:
            return next((metric for metric in rule.spec.metrics if metric.name == name), None)
    return None


def measured(state: State, change: Measured, now: Instant) -> bool:
    """Whether the job's verification ended with this measurement."""
    job = state.jobs.get(change.job)
    target = None if job is None else state.target_named(job.target)
    if job is None or target is None:
        return False
    progress = _progress(job, change.rule, change.metric)
    metric = metric_of(target, change.rule, change.metric)
    if progress is None or progress.status != "running" or metric is None:
        return False
    before = msgspec.convert(progress.state, verification.MetricState)
    result = change.result if change.error is None else verification.ProviderError(change.error)
    outcome = verification.find(metric, result)
    after = verification.after(metric, before, outcome, now)
    evidence.keep(progress, outcome, change.result, change.error, now)
    progress.state = msgspec.to_builtins(after)
    progress.status = verification.status(metric, after)
    progress.due_at = (
        verification.next_measurement_at(metric, after, now) if progress.status == "running" else None
    )
    _schedule(state, job, progress)
    state.journal.changed("job", job.id)
    return _conclude(state, target, job, now)


def settle_rules(state: State, target: Target, now: Instant) -> Job | None:
    """Metrics whose rule is gone are not waited for, and those that a rule has got are; the newest job, if its verification
    ended with that. What failed before it may still be measured, too."""
    record = target.record
    tried = [*record.attempts, *([record.job] if record.job is not None else ())]
    ended: Job | None = None
    for job_id in tried:
        ended = _measured_as_ruled(state, target, job_id, now)
    return ended


def _measured_as_ruled(state: State, target: Target, job_id: str, now: Instant) -> Job | None:
    job = state.jobs.get(job_id)
    if job is None or job.id not in state.measuring:
        return None
    begun = {progress.rule for progress in job.metrics}
    kept = [p for p in job.metrics if metric_of(target, p.rule, p.metric) is not None]
    added = [
        (rule.id, metric)
        for rule in target.rules.of(Verification)
        for metric in (rule.spec.metrics if rule.id in begun else ())
        if not any((p.rule, p.metric) == (rule.id, metric.name) for p in kept)
    ]
    if len(kept) == len(job.metrics) and not added:
        return None
    job.metrics = kept
    for rule_id, metric in added:
        _add(state, job, rule_id, metric, now)
    state.journal.changed("job", job.id)
    return job if _conclude(state, target, job, now) else None


def _conclude(state: State, target: Target, job: Job, now: Instant) -> bool:
    statuses = {progress.status for progress in job.metrics}
    if "failed" in statuses:
        outcome: Literal["none", "passed", "failed"] = "failed"
    elif "running" in statuses:
        return False
    else:
        # With no rule left to measure by, nothing has passed: the success is one without a verification.
        outcome = "passed" if statuses else "none"
    job.verification = outcome
    job.verified_at = now if outcome != "none" else None
    if outcome != "none":
        _tell(state, job)
    state.journal.changed("job", job.id)
    state.measuring.discard(job.id)
    for progress in job.metrics:
        progress.due_at = None
    if target.record.deployed == job.version and job.status == "successful":
        target.record.verification = outcome
        target.record.finished_at = now
    if job.status == "successful" and outcome == "none":
        forget(state, target, job.version)
    elif job.status == "successful":
        passed = state.verified.setdefault(job.version, {})
        # Passed once is passed: the soak goes on when the same version is verified again, and passes.
        passed[target.name] = (passed.get(target.name) or now) if outcome == "passed" else None
        state.journal.changed("progress", job.version, target.name)
    state.stages_moved(job.version)
    state.target_changed(target)
    state.touch(target)
    return True


def _tell(state: State, job: Job) -> None:
    how = evidence.of_verification(job) if job.verification == "failed" else ""
    message = f"{job.target} {job.tag}: verification {job.verification}" + (f": {how}" if how else "")
    state.notify(
        f"verification.{job.verification}",
        "Job",
        job.id,
        message,
        target=job.target,
        deployment=job.deployment,
        environment=job.environment,
        resource=job.resource,
        version=job.tag,
        metrics=evidence.last_measurements(job),
    )


def _progress(job: Job, rule: str, metric: str) -> MetricProgress | None:
    return next((p for p in job.metrics if p.rule == rule and p.metric == metric), None)
