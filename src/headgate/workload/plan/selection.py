"""Which units of a clique or group the update has taken, and which of them are back.

It is what a person follows, and what tells a unit that the update took down from one that fell by itself: only the
second may lead to gang termination.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from headgate.kernel import instants
from headgate.kernel.instants import Instant

PODS = "readyPodsSelectedToUpdate"
GROUP_REPLICAS = "readyReplicaIndicesSelectedToUpdate"

Token = str | int
"""How a unit is written down: a pod by its name, a replica by its index."""


class Selection(msgspec.Struct):
    content: str
    """What the units are moved to."""
    started_at: Instant
    ended_at: Instant | None = None
    current: dict[int, Token] = {}
    """By index: taken, and what stands there now is not yet new and available."""
    completed: list[Token] = []


def read(status: Mapping[str, Any], field: str) -> Selection | None:
    progress = status.get("rollingUpdateProgress")
    if not isinstance(progress, Mapping) or "updateStartedAt" not in progress:
        return None
    selected = progress.get(field) or {}
    current = selected.get("current") or []
    indices = progress.get("currentIndices") or current
    ended = progress.get("updateEndedAt")
    return Selection(
        content=progress.get("content", ""),
        started_at=instants.parse(progress["updateStartedAt"]),
        ended_at=instants.parse(ended) if ended else None,
        current=dict(zip(indices, current, strict=False)),
        completed=list(selected.get("completed") or []),
    )


def write(selection: Selection, field: str) -> dict[str, Any]:
    document: dict[str, Any] = {
        "content": selection.content,
        "updateStartedAt": instants.show(selection.started_at),
    }
    if selection.ended_at is not None:
        document["updateEndedAt"] = instants.show(selection.ended_at)
    current = sorted(selection.current.items())
    if current and field == PODS:
        document["currentIndices"] = [index for index, _ in current]
    document[field] = {"current": [token for _, token in current], "completed": selection.completed}
    return document


class UnitView(msgspec.Struct, frozen=True):
    """What is known of the units in this pass."""

    content: str
    replicas: int
    is_finished: bool
    """Every regular unit is new and available, and nothing stands above them."""
    is_new_and_available: Callable[[int], bool]
    taken: Mapping[int, Token] = {}


def advanced(
    before: Selection | None, known_content: str | None, unit_view: UnitView, now: Instant
) -> Selection | None:
    """`known_content` is what the status said before; None for a clique or group that is new itself."""
    if before is None and known_content in (None, unit_view.content):
        return None
    after = before
    if after is None or after.content != unit_view.content:
        carried = {} if after is None else after.current
        after = Selection(unit_view.content, now, current=carried)
    current: dict[int, Token] = {}
    completed = list(after.completed)
    for index, token in after.current.items():
        if index >= unit_view.replicas:
            continue
        if unit_view.is_new_and_available(index):
            completed.append(token)
        else:
            current[index] = token
    current.update({index: token for index, token in unit_view.taken.items() if index < unit_view.replicas})
    ended_at = after.ended_at
    if unit_view.taken or current:
        ended_at = None
    elif unit_view.is_finished and ended_at is None:
        ended_at = now
    return Selection(
        unit_view.content, after.started_at, ended_at, current, completed[-max(unit_view.replicas, 1) :]
    )
