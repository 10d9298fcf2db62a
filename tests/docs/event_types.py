"""Every type of event there is, with what it says, as the page on the API lists them."""

from __future__ import annotations

from typing import get_args

from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model

TOLD: dict[str, str] = {
    "verification.passed": "all metrics of a job passed; with the last measurement of each",
    "verification.failed": "a metric of a job failed; with the last measurement of each",
    "target.failed": "a release failed for good on a target; with the cause",
    "rollback.started": "a job begins to put the version before back; with the cause",
    "rollback.completed": "the version before is back; with the cause",
    "budget.stopped": "a failure budget, or a rollout with `stopAfterFailures`, stopped the line",
    "budget.resumed": "a person resumed the line",
    "approval.requested": "a version waits for approval in an environment",
    "approval.ended": "the content of a version was changed: approvals of what it was have ended",
    "skip.ended": "the content of a version was changed: skips for what it was have ended",
    "group.stuck": "a failed group has waited longer than `stuckTimeoutSeconds`",
    "agent.lost": "whoever had claimed a job is not heard of any more",
    "freeze.begun": "a freeze begins, or is changed",
    "freeze.ended": "a freeze was ended, or its time was over",
    "warning.raised": "something was accepted that is probably not meant so",
}
"""What someone has to be told: each exactly once, whatever processes and restarts there are."""

_OBJECTS = (
    "resource", "environment", "deployment", "version", "policy", "job-agent", "variable-set", "freeze", "signal",
)  # fmt: skip


def accepted() -> dict[str, str]:
    """What people and agents did, as far as it was accepted."""
    found = {f"{kind}.applied": f"a {kind} was created or changed" for kind in _OBJECTS if kind != "version"}
    found |= {f"{kind}.deleted": f"a {kind} was deleted" for kind in (*_OBJECTS, "skip")}
    found["version.published"] = "a version was published"
    found |= {
        f"version.{status}": f"a version was set to {status}" for status in get_args(model.VersionStatus)
    }
    votes = changes.Vote.__annotations__["status"]
    found |= {f"approval.{status}": f"a vote on a version: {status}" for status in get_args(votes)}
    found |= {
        "skip.created": "a rule is skipped for something",
        "resource.variable-set": "a variable of a resource was set",
        "deployment.variable-set": "a variable of a deployment was set",
        "rule.resumed": "the line of a failure budget was resumed",
    }
    found |= {f"group.{action}": f"ordered for a group: {action}" for action in _actions(changes.GroupAction)}
    found |= {
        f"release-target.{action}": f"ordered for a target, or for many: {action}"
        for action in _actions(changes.TargetAction)
    }
    return found


def _actions(change: type) -> tuple[str, ...]:
    return get_args(change.__annotations__["action"])


def followed() -> dict[str, str]:
    """What jobs and groups go through."""
    jobs = {f"job.{status}": f"a job is {status}" for status in get_args(model.JobStatus)}
    groups = {f"group.{status}": f"a group is {status}" for status in get_args(records.GroupStatus)}
    return {"job.created": "a job was created", **jobs, **groups}


def all_types() -> dict[str, str]:
    return {**TOLD, **accepted(), **followed()}
