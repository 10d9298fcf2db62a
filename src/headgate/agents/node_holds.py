"""Who has cordoned a node, written on the node itself: what one cycle cordoned, no other one uncordons.

A node has a hold for each cycle that needs it cordoned, and is schedulable again when the last one is given back. A
node that was cordoned without a hold was cordoned by somebody else, and stays so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from headgate.agents.port import Assignment, TryLaterError
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ConflictError, NotFoundError
from headgate.kubernetes.resources import ApiResource, Document

NODES = ApiResource("", "v1", "Node", "nodes", is_namespaced=False)
ANNOTATION = "headgate.dev/cordoned-by"
MANAGER = "headgate-node-agent"
_MOST_TRIES = 8


class Hold(msgspec.Struct, frozen=True, omit_defaults=True):
    """By a release target, within a group of a bracket or outside of any."""

    workspace: str
    environment: str
    deployment: str
    group: str = ""

    @classmethod
    def of(cls, assignment: Assignment) -> Hold:
        job = assignment.job
        return cls(assignment.workspace, job.environment, job.deployment, job.group or "")

    def is_of_the_same_target(self, other: Hold) -> bool:
        return msgspec.structs.replace(self, group="") == msgspec.structs.replace(other, group="")

    def is_of_the_same_cycle(self, other: Hold) -> bool:
        """Of the same group; outside of groups, of the same environment."""
        if self.workspace != other.workspace or self.group != other.group:
            return False
        return bool(self.group) or self.environment == other.environment

    def __str__(self) -> str:
        return f"{self.deployment} in {self.environment}" + (f" (group {self.group})" if self.group else "")


_HOLDS = msgspec.json.Decoder(tuple[Hold, ...])


def of_node(node: Document) -> tuple[Hold, ...]:
    """What cannot be read was not written here."""
    text = (node["metadata"].get("annotations") or {}).get(ANNOTATION, "")
    try:
        return _HOLDS.decode(text) if text else ()
    except msgspec.DecodeError:
        return ()


def is_cordoned(node: Document) -> bool:
    return bool((node.get("spec") or {}).get("unschedulable"))


async def take(client: Client, node: Document, hold: Hold) -> bool:
    """Cordons it. False if somebody else had done so, without a hold: then nothing is written, and nothing is ours.

    A target that takes its hold again has ended the cycle that it took it in before. Raises NotFoundError.
    """

    def change(current: Document) -> Document | None:
        before = of_node(current) if is_cordoned(current) else ()
        if is_cordoned(current) and not before:
            return None
        holds = (*(one for one in before if not one.is_of_the_same_target(hold)), hold)
        return None if holds == before else _document(holds)

    return hold in of_node(await _changed(client, node, change))


Freed = Literal["uncordoned", "held", "schedulable", "foreign", "gone"]


async def give_back(
    client: Client, name: str, is_ours: Callable[[Hold], bool]
) -> tuple[Freed, tuple[Hold, ...]]:
    """What became of the node, and who still holds it."""
    freed: Freed = "foreign"
    others: tuple[Hold, ...] = ()

    def change(current: Document) -> Document | None:
        nonlocal freed, others
        holds = of_node(current)
        others = tuple(one for one in holds if not is_ours(one))
        if not is_cordoned(current):
            freed, others = "schedulable", ()
        elif holds == others:
            freed = "foreign"
        else:
            freed = "held" if others else "uncordoned"
        return None if holds == others else _document(others)

    try:
        await _changed(client, await client.get(NODES, name), change)
    except NotFoundError:
        return "gone", ()
    return freed, others


def _document(holds: Iterable[Hold]) -> Document:
    kept = tuple(holds)
    text = msgspec.json.encode(kept).decode() if kept else None
    return {
        "metadata": {"annotations": {ANNOTATION: text}},
        "spec": {"unschedulable": True if kept else None},
    }


async def _changed(client: Client, node: Document, change: Callable[[Document], Document | None]) -> Document:
    """Cordon and holds in one write, which fails if the node has moved since it was read."""
    name = str(node["metadata"]["name"])
    for _ in range(_MOST_TRIES):
        patch = change(node)
        if patch is None:
            return node
        patch["metadata"]["resourceVersion"] = node["metadata"]["resourceVersion"]
        try:
            return await client.patch(NODES, name, "", patch, manager=MANAGER)
        except ConflictError:
            node = await client.get(NODES, name)
    raise TryLaterError(f"the node {name} is being changed by others again and again")
