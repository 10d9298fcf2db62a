"""What an operator orders for one target: try again, go back, deploy again."""

from __future__ import annotations

from headgate.fleet import jobs, references
from headgate.fleet.brackets import shape
from headgate.fleet.changes import TargetAction
from headgate.fleet.state import State
from headgate.fleet.units import Target
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected


def act(state: State, change: TargetAction, now: Instant) -> None:
    target = references.target(state, change.target)
    record = target.record
    if record.job is not None:
        raise Rejected((Problem("target", f"{target.name} has a live job; wait for it to end"),))
    if target.place is not None and target.deployment.name in shape.of_place(target.place).hooks:
        raise Rejected(
            (Problem("target", f"{target.name} is a hook: it runs in every cycle, not by itself"),)
        )
    match change.action:
        case "retry":
            _retry_target(state, target)
        case "redeploy":
            if record.deployed is None:
                raise Rejected((Problem("target", f"{target.name} has nothing deployed to deploy again"),))
            record.ordered = "redeploy"
        case "rollback":
            if record.previous is None or record.previous not in state.versions:
                raise Rejected((Problem("target", f"{target.name} has no previous version to go back to"),))
            jobs.order_rollback(state, target, record.deployed or "", record.previous)
            record.failed_at = None
    state.target_changed(target)
    state.touch(target)


def _retry_target(state: State, target: Target) -> None:
    """Whatever failed or was put back here may be tried again."""
    record = target.record
    if record.failed_at is None and record.retry_at is None and not record.failures and not record.spent:
        raise Rejected((Problem("target", f"{target.name} has not failed; there is nothing to try again"),))
    record.failed_at = None
    record.failed_version = None
    record.failures.clear()
    record.spent.clear()
    record.retry_at = None
    record.attempts = record.attempts[-1:]
    if target.place is not None:
        target.place.record.floors.pop(target.deployment.name, None)
        target.place.record.backs.pop(target.deployment.name, None)
        state.journal.changed("place", *target.place.key)
