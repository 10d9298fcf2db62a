"""When a cluster is quiet: the operator knows all there is and does nothing, and nobody else has anything to do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence

from headgate.kernel.objects import Object
from headgate.kubernetes import objects
from headgate.kubernetes.client import Client
from headgate.kubernetes.resources import ApiResource
from headgate.operator.running.loop import AnyLoop
from headgate.operator.running.process import Operator

PATIENCE_SECONDS = 120.0
_POLL_SECONDS = 0.02
_RESTING_LOOKS = 3
OF_EVERY_NAMESPACE = "kube-root-ca.crt"
"""A ConfigMap that somebody else puts into every namespace."""
Watched = Sequence[tuple[ApiResource, str]]
"""Kinds, each with the label selector by which they are watched."""


class NeverQuietError(AssertionError):
    pass


async def objects_when_quiet(
    client: Client, namespace: str, operator: Operator, watched: Watched
) -> list[Object]:
    """All objects of these kinds, as they are then."""
    end = time.monotonic() + PATIENCE_SECONDS
    reason = ""
    while time.monotonic() < end:
        loops = operator.loops
        for loop in loops:
            loop.hurry()
        if await _has_rested(operator):
            hurry(loops)
            listed = await _listed(client, namespace, watched)
            reason = _unrest(listed, watched, loops) or ""
            if not reason and loops == operator.loops and all(loop.is_resting for loop in loops):
                return [item for items in listed for item in items]
        await asyncio.sleep(_POLL_SECONDS)
    raise NeverQuietError(f"the cluster does not come to rest: {reason or 'the operator is busy'}")


async def _has_rested(operator: Operator) -> bool:
    """For a moment, and not between two pieces of news: to ask a server costs more than to wait."""
    for _ in range(_RESTING_LOOKS):
        if not operator.loops or not all(loop.is_resting for loop in operator.loops):
            return False
        await asyncio.sleep(_POLL_SECONDS)
    return True


def hurry(loops: Iterable[AnyLoop]) -> None:
    """A pass that comes back because a write was refused, and not because its plan says so, comes back at once: how
    long that takes is no part of a story."""
    for loop in loops:
        queue, plans = loop.runner.queue, loop.runner.plans
        for request, at in list(queue.requeues.items()):
            plan = plans.get(request)
            if plan is None or plan.requeue_at != at:
                del queue.requeues[request]
                loop.ask(request)


async def _listed(client: Client, namespace: str, watched: Watched) -> list[list[Object]]:
    pages = await asyncio.gather(
        *(
            client.list(resource, namespace if resource.is_namespaced else "", labels=labels)
            for resource, labels in watched
        )
    )
    return [
        [
            objects.read(document, resource)
            for document in page.items
            if document["metadata"]["name"] != OF_EVERY_NAMESPACE
        ]
        for (resource, _), page in zip(watched, pages, strict=True)
    ]


def _unrest(listed: list[list[Object]], watched: Watched, loops: Sequence[AnyLoop]) -> str | None:
    every = {item.uid for items in listed for item in items}
    for (resource, _), items in zip(watched, listed, strict=True):
        if not any(_knows(loop, resource, items) for loop in loops):
            return f"not all is heard of {resource.plural}"
        for item in items:
            is_orphan = item.owners and not any(owner.uid in every for owner in item.owners)
            if is_orphan and item.deleted_at is None:
                return f"{item.kind} {item.name} is nobody's and not collected yet"
            if item.kind == "Pod" and _waits_for_a_node(item):
                return f"pod {item.name} is not bound yet"
            if item.kind == "ResourceClaim" and _is_given_back(item, every):
                return f"the cluster has not noticed that nobody has claim {item.name} any more"
    return None


def _knows(loop: AnyLoop, resource: ApiResource, items: list[Object]) -> bool:
    known = {
        (item.uid, item.resource_version)
        for item in loop.runner.cache.of_kind(resource.group, resource.kind)
        if item.name != OF_EVERY_NAMESPACE
    }
    return known == {(item.uid, item.resource_version) for item in items}


def _is_given_back(claim: Object, uids: set[str]) -> bool:
    users = claim.status.get("reservedFor") or ()
    return any(user["uid"] not in uids for user in users) or bool(claim.finalizers and not users)


def _waits_for_a_node(item: Object) -> bool:
    return not (item.spec.get("nodeName") or item.spec.get("schedulingGates") or item.deleted_at is not None)
