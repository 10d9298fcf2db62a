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

WRITES_ACCEPTED = "WritesAccepted"
"""Of an object for which a controller writes others. It is there, and False, as long as the server refuses one of them;
whoever writes puts it there and takes it away."""


class Condition(msgspec.Struct, frozen=True):
    type: str
    status: Truth
    reason: Reason | WrittenReason
    message: str = ""


def find(status: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    """The written condition of that type, whoever wrote the status."""
    written = status.get("conditions")
    for each in written if isinstance(written, list | tuple) else ():
        if isinstance(each, dict) and each.get("type") == kind:
            return each
    return None


def is_true(status: Mapping[str, Any], kind: str) -> bool:
    condition = find(status, kind)
    return condition is not None and condition.get("status") == "True"


def documents(
    conditions: Sequence[Condition], before: Mapping[str, Any], generation: int, now: Instant
) -> list[dict[str, Any]]:
    """As they are written beside the status `before`. The moment is that of the last change of truth, not of reason or
    words."""
    known = {
        str(item.get("type")): item for item in before.get("conditions") or () if isinstance(item, Mapping)
    }
    made: list[dict[str, Any]] = []
    for condition in conditions:
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
    refused = known.get(WRITES_ACCEPTED)
    return [*made, dict(refused)] if refused is not None else made


class RefusedWrite(msgspec.Struct, frozen=True):
    """What the server does not take, in its words, and since when it refuses anything."""

    message: str
    since: Instant


def refusal(status: Mapping[str, Any]) -> RefusedWrite | None:
    """What a status says of a write that was refused."""
    # Asked of every object in every pass, and nearly none has the condition.
    written = find(status, WRITES_ACCEPTED)
    moment = None if written is None else since(status, WRITES_ACCEPTED, "False")
    return (
        None if written is None or moment is None else RefusedWrite(str(written.get("message") or ""), moment)
    )


def with_refusal(status: Mapping[str, Any], message: str, generation: int, now: Instant) -> dict[str, Any]:
    """The status, and that a write is refused."""
    kept = without_refusal(status)
    written = documents(
        [Condition(WRITES_ACCEPTED, "False", Reason.WRITE_REFUSED, message)], status, generation, now
    )
    return {**kept, "conditions": [*kept.get("conditions", ()), written[0]]}


def without_refusal(status: Mapping[str, Any]) -> dict[str, Any]:
    others = [each for each in status.get("conditions") or () if each.get("type") != WRITES_ACCEPTED]
    return {**status, "conditions": others}


def root(kind: str, parts: Sequence[Condition]) -> Condition:
    """True if all are; else as the first that is False, else as the first that is Unknown."""
    for status in ("False", "Unknown"):
        for part in parts:
            if part.status == status:
                return Condition(kind, part.status, part.reason, part.message)
    return Condition(kind, "True", Reason.READY)


def since(status: Mapping[str, Any], kind: str, truth: Truth) -> Instant | None:
    """When a written condition took the truth that it has now; None if it has another."""
    condition = find(status, kind)
    if condition is None or condition.get("status") != truth or "lastTransitionTime" not in condition:
        return None
    return instants.parse(condition["lastTransitionTime"])
