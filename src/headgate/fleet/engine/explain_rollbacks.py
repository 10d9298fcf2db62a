"""What is said of a rollback that waits, and of one that failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headgate.fleet.gates import rejecting
from headgate.fleet.model.records import Job
from headgate.fleet.rules import always_on
from headgate.fleet.state import evidence, rollbacks
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason


def verdicts_of(state: State, target: Target) -> Iterator[tuple[VersionNode | None, GateResult]]:
    """That it goes back, and why, beside what that waits for; or that it could not."""
    back, failed = rollbacks.ahead(state, target), rollbacks.failed(state, target)
    if target.record.job is not None:
        return
    if back is not None:
        message = f"{_cause(state, target)}; it goes back to {back.tag}{_said_so_far(state, target, back)}"
        yield back, GateResult(None, "rollback", decisions.allowed(message))
    elif failed is not None:
        runs = state.version(target.record.deployed)
        undone = runs if runs is not None and runs.id != failed.version else None
        message = failed_sentence(state, target, failed)
        yield undone, GateResult(None, "rollback", decisions.denied(Reason.FAILED, message))
    else:
        yield from _given_up(state, target)


def _given_up(state: State, target: Target) -> Iterator[tuple[VersionNode | None, GateResult]]:
    """Nobody else says that it was to go back: what runs may well be the newest."""
    back, noted = rollbacks.given_up(state, target), target.record.given_up_rollback
    if back is None or noted is None:
        return
    message = (
        f"the rollback to {back.tag} has not run: group {noted.group} ended before its turn at "
        f"{instants.show_to_the_second(noted.at)} ({noted.reason}); it goes back because: "
        f"{target.record.rollback_cause}; it is tried again when an operator retries it, and a newer version replaces it"
    )
    yield back, GateResult(None, "rollback", decisions.denied(Reason.FAILED, message))


def waiting_sentence(
    state: State, target: Target, judged: Iterable[tuple[VersionNode | None, GateResult]]
) -> str | None:
    """Why it goes back, where to, and what that waits for."""
    back = rollbacks.ahead(state, target)
    if back is None or target.record.job is not None:
        return None
    waits = next(
        (
            f" waits: {one.verdict.message}"
            for version, one in judged
            if not one.is_allowed and (version is back or one.kind == always_on.FREEZE)
        ),
        " is next",
    )
    return f"{_cause(state, target)}; the rollback to {back.tag}{_said_so_far(state, target, back)}{waits}"


def _said_so_far(state: State, target: Target, back: VersionNode) -> str:
    """What has become of the attempt before the one that is waited for."""
    last = rollbacks.in_vain(state, target)
    return f" ({evidence.of_job(last)})" if last is not None and last.version == back.id else ""


def _cause(state: State, target: Target) -> str:
    deployed = state.version(target.record.deployed)
    if target.record.rollback_to is None and deployed is not None:
        return rejecting.sentence(deployed)
    return target.record.rollback_cause


def failed_sentence(state: State, target: Target, job: Job) -> str:
    """What failed, why it had been started, and what moves it now."""
    runs = state.version(target.record.deployed)
    whence = f"from {runs.tag} " if runs is not None and runs.id != job.version else ""
    when = instants.show_to_the_second(job.completed_at or job.created_at)
    fault = target.record.fault
    how = f" ({fault.cause})" if fault is not None and fault.job == job.id else ""
    return (
        f"the rollback {whence}to {job.tag} failed at {when}{how}; it goes back because: {job.reason}; "
        "it is tried again when an operator retries it, and a newer version replaces it"
    )
