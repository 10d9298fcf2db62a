"""Measurements and failed jobs in answers; what other servers said is for operators, others see a beginning of it."""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.api import objects, permissions
from headgate.api.calls import Call
from headgate.fleet import evidence, explain, records

WHOLE_ANSWERS = "target:act"
"""The permission of those who see answers as far as they are kept."""
LONGEST_BEGINNING_BYTES = 200


def sees_answers(call: Call) -> bool:
    return call.principal.allows(WHOLE_ANSWERS, call.workspace)


def of_job(job: records.Job, *, whole: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = msgspec.to_builtins(explain.metric_lines(job.metrics))
    return shown(found, whole=whole)


def shown(metrics: list[dict[str, Any]], *, whole: bool) -> list[dict[str, Any]]:
    """With moments as people write them."""
    for metric in metrics:
        for measurement in metric["measurements"]:
            measurement["at"] = objects.shown(measurement["at"])
            if not whole:
                measurement["answer"] = evidence.cut(measurement["answer"], LONGEST_BEGINNING_BYTES)
    return metrics


def explained(explanation: explain.Explanation, *, whole: bool) -> dict[str, Any]:
    """An explanation as it is answered: moments in words, and with each action the roles that may take it."""
    found: dict[str, Any] = msgspec.to_builtins(explanation)
    for part in (found, *found["rules"]):
        for key in ("satisfiedAt", "nextEvaluationTime"):
            if key in part:
                part[key] = objects.shown_or_none(part[key])
    if found["job"] is not None:
        shown(found["job"]["metrics"], whole=whole)
    for action in found["actions"]:
        action["roles"] = roles_with(action["permission"])
    return found


def roles_with(permission: str) -> list[str]:
    return [role for role in permissions.ROLES if permission in permissions.BY_ROLE[role]]
