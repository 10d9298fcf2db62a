"""What failed on a target and is to be tried again: which release that is, when, and what may still keep it from it."""

from __future__ import annotations

from headgate.fleet.cycles import jobs
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import JobKind, Variables
from headgate.fleet.rules.gradual_rollout import GradualRollout
from headgate.fleet.state import variables, wakes
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel.instants import Instant


def give_up_retry(state: State, target: Target) -> None:
    """What the attempt kept from being tried may be tried now: the target is looked at again."""
    target.record.retry_at = None
    state.target_changed(target)
    state.touch(target)


def retried_release(state: State, target: Target) -> tuple[str, Variables] | None:
    """What waits for its next attempt here; if it is not wanted any more, the attempt is off."""
    record = target.record
    if record.retry_at is None or not record.attempts:
        return None
    last = state.jobs[record.attempts[-1]]
    return last.version, last.variables


def retried_version(state: State, target: Target) -> str | None:
    """The version whose next attempt is waited for."""
    retried = retried_release(state, target)
    return retried[0] if retried is not None else None


def paused_retry(state: State, target: Target) -> VersionNode | None:
    """The version whose next attempt is waited for, or was ordered, if somebody has paused it: it only waits, and nothing
    older is tried."""
    failed = jobs.unsettled(state, target) if target.record.ordered == "retry" else None
    version = state.version(failed.version if failed is not None else retried_version(state, target))
    if version is None or version.object.status != "paused" or version.id == target.record.deployed:
        return None
    return version


def watch_for_denials(
    target: Target, version: VersionNode, passed: list[GateResult], blockers: Blockers
) -> None:
    """Whatever allows the next attempt may come to deny it before it is made, and that ends the attempts at once."""
    for result in passed:
        blockers.add(result)
    for rule in target.rules.of(GradualRollout):
        blockers.watch(wakes.breaker(rule.id, version.id))


def next_attempt(
    state: State, target: Target, version: VersionNode, resolved: Variables, kind: JobKind
) -> tuple[int, Instant | None]:
    """The number of the next attempt of this release, and from when it may be made. To go back to a version is another
    thing than to deploy it."""
    record = target.record
    last = state.last_attempt(record.attempts)
    if last is None or last.version != version.id or not variables.are_same(last.variables, resolved):
        return 1, None
    if (last.kind == "rollback") != (kind == "rollback"):
        return 1, None
    return last.attempt + 1, record.retry_at
