"""Conditions as Kubernetes writes them. The time is that of the last change of status, not of reason or words."""

from collections.abc import Mapping
from typing import Any, Literal

from headgate.kernel import instants
from headgate.kernel.instants import Instant

Truth = Literal["True", "False", "Unknown"]

BREACHED = "MinAvailableBreached"
SCHEDULED = "PodCliqueScheduled"
PROGRESSING = "Progressing"
AVAILABLE = "Available"


def find(status: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    for condition in status.get("conditions") or ():
        if condition.get("type") == kind:
            found: Mapping[str, Any] = condition
            return found
    return None


def since(status: Mapping[str, Any], kind: str, truth: Truth) -> Instant | None:
    condition = find(status, kind)
    if condition is None or condition.get("status") != truth or "lastTransitionTime" not in condition:
        return None
    return instants.parse(condition["lastTransitionTime"])


def stated(
    status: Mapping[str, Any], kind: str, truth: Truth, reason: str, message: str, now: Instant
) -> dict[str, Any]:
    before = find(status, kind)
    changed_at = (
        before["lastTransitionTime"]
        if before is not None and before.get("status") == truth and "lastTransitionTime" in before
        else instants.show(now)
    )
    return {
        "type": kind,
        "status": truth,
        "reason": reason,
        "message": message,
        "lastTransitionTime": changed_at,
    }
