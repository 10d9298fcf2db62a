"""Conditions as Kubernetes writes them, on every level: a truth with its reason, and the moment of its last change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NewType

import msgspec

from headgate.kernel import instants
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant

Truth = Literal["True", "False", "Unknown"]
WrittenReason = NewType("WrittenReason", str)
"""As it stands in a condition that was read, or that the author of a graph writes in words of their own."""


class Condition(msgspec.Struct, frozen=True):
    type: str
    status: Truth
    reason: Reason | WrittenReason
    message: str = ""


def documents(
    found: Sequence[Condition], before: Mapping[str, Any], generation: int, now: Instant
) -> list[dict[str, Any]]:
    """As they are written beside the status `before`. The moment is that of the last change of truth, not of reason or
    words."""
    known = {
        str(item.get("type")): item for item in before.get("conditions") or () if isinstance(item, Mapping)
    }
    made: list[dict[str, Any]] = []
    for condition in found:
        old = known.get(condition.type, {})
        is_same = old.get("status") == condition.status and "lastTransitionTime" in old
        made.append(
            {
                "type": condition.type,
                "status": condition.status,
                "reason": str(condition.reason),
                "message": condition.message,
                "observedGeneration": generation,
                "lastTransitionTime": old["lastTransitionTime"] if is_same else instants.show(now),
            }
        )
    return made


def root(kind: str, parts: Sequence[Condition]) -> Condition:
    """True if all are; else as the first that is False, else as the first that is Unknown."""
    for status in ("False", "Unknown"):
        for part in parts:
            if part.status == status:
                return Condition(kind, part.status, part.reason, part.message)
    return Condition(kind, "True", Reason.READY)


def since(status: Mapping[str, Any], kind: str, truth: Truth) -> Instant | None:
    """When a written condition took the truth that it has now; None if it has another."""
    for condition in status.get("conditions") or ():
        if condition.get("type") == kind:
            if condition.get("status") != truth or "lastTransitionTime" not in condition:
                return None
            return instants.parse(condition["lastTransitionTime"])
    return None
