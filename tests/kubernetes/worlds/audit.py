"""What was written on a real cluster, by its audit log."""

from __future__ import annotations

import asyncio
import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import msgspec

from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.kubernetes import objects
from headgate.kubernetes.resources import ApiResource, Document
from kube import ControlPlane

from . import clock
from .history import CLUSTER, CONTROLLER, PEOPLE, Write
from .quiet import OF_EVERY_NAMESPACE

_LOOKS = 60
_NOT_STATUS = ("spec", "other", "labels", "annotations", "owners", "finalizers", "deleted_at")
_WRITES = ("create", "update", "patch", "delete", "deletecollection")
IGNORED = ("leases", "events", "endpoints", "endpointslices", "serviceaccounts")


def writes(plane: ControlPlane, namespace: str, mark: str, start: Instant) -> list[Write]:
    """In the order in which they took effect. What others than the operator and the story do, such as binding a pod,
    was done when one of these wrote last."""
    known: dict[str, Object] = {}
    found: list[tuple[int, Write]] = []
    now = start
    for latest, event in _in_order(_events(plane, namespace, mark)):
        signed = clock.author(event.get("userAgent", ""))
        if signed is not None:
            now = max(now, signed[1])
            by = CONTROLLER if signed[0] == clock.OPERATOR else PEOPLE
        else:
            by = CLUSTER
        at = signed[1] if signed is not None else now
        found += [
            (version or latest, Write(at, by, verb, item)) for version, verb, item in _effects(event, known)
        ]
    found.sort(key=lambda each: each[0])
    return [write for _, write in found]


def _in_order(events: Iterable[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """By the version that the cluster had then: on a busy machine entries may come later than those of later writes.

    A write takes effect between its request and its answer, so its version is none that was answered before it was asked
    for. Of two who delete an object together, one is answered with the version that it had before either.
    """
    found = list(events)
    answers = sorted((event["stageTimestamp"], _version(event)) for event in found)
    moments = [moment for moment, _ in answers]
    newest = list(accumulate((version for _, version in answers), max, initial=0))
    latest, placed = 0, list[tuple[int, dict[str, Any]]]()
    for event in found:
        own = _version(event)
        latest = max(latest, own)
        answered_before = newest[bisect_left(moments, event["requestReceivedTimestamp"])]
        placed.append((max(own, answered_before) if own else latest, event))
    return sorted(placed, key=lambda each: each[0])


def _version(event: dict[str, Any]) -> int:
    return int(((event.get("responseObject") or {}).get("metadata") or {}).get("resourceVersion") or 0)


def _events(plane: ControlPlane, namespace: str, mark: str) -> Iterator[dict[str, Any]]:
    """Of the namespace, and of what is everybody's with the mark in its name."""
    for event in _lines(plane, (namespace.encode(), mark.encode())):
        reference = event.get("objectRef") or {}
        is_several = event["verb"] == "deletecollection"
        is_ours = is_several or reference.get("namespace") == namespace or mark in reference.get("name", "")
        if not is_ours:
            continue
        if event.get("stage") != "ResponseComplete" or event["responseStatus"].get("code", 500) >= 300:
            continue
        is_ignored = reference["resource"] in IGNORED or reference.get("name") == OF_EVERY_NAMESPACE
        if event["verb"] in _WRITES and not is_ignored:
            yield event


def _lines(plane: ControlPlane, names: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    """Only those with one of the names are read: many stories write into one log."""
    for line in plane.audit_lines():
        if any(name in line for name in names):
            yield json.loads(line)


async def until_logged(plane: ControlPlane, items: Sequence[Object]) -> None:
    """What was answered a moment ago may not be in the log yet."""
    newest = max(items, key=lambda item: item.resource_version, default=None)
    if newest is None:
        return
    version = f'"resourceVersion":"{newest.resource_version}"'.encode()

    def is_logged() -> bool:
        return any(version in line for line in plane.audit_lines())

    for _ in range(_LOOKS):
        if await asyncio.to_thread(is_logged):
            return
        await asyncio.sleep(0.5)


def _effects(event: dict[str, Any], known: dict[str, Object]) -> Iterator[tuple[int, str, Object]]:
    """With the version that the cluster had then; what is gone at once has none of its own."""
    reference = event["objectRef"]
    if reference.get("subresource") == "binding":
        return
    document = event.get("responseObject") or {}
    is_status = reference.get("subresource") == "status"
    if event["verb"] == "delete":
        yield from _deletion(document, reference, known)
        return
    if event["verb"] == "deletecollection":
        # Several at once are answered as a list of what they were.
        kind = document.get("kind", "").removesuffix("List")
        for each in document.get("items") or ():
            yield from _deletion({**each, "kind": kind}, reference, known)
        return
    item = _read(document, reference)
    before = known.get(item.uid)
    known[item.uid] = item
    if before is not None and before.resource_version >= item.resource_version:
        return
    if before is None and not is_status:
        yield item.resource_version, "create", item
    elif is_status or (before is not None and _is_only_status(before, item)):
        yield item.resource_version, "status", item
    else:
        yield item.resource_version, "update", item


def _is_only_status(before: Object, item: Object) -> bool:
    """Of kinds whose status is a field like others, it is written with all of them."""
    return all(getattr(before, name) == getattr(item, name) for name in _NOT_STATUS)


def _deletion(
    document: Document, reference: dict[str, Any], known: dict[str, Object]
) -> Iterator[tuple[int, str, Object]]:
    """An answer with a deletionTimestamp is of one that stays for a while, unless it had no time left."""
    if document.get("kind") == "Status":
        uid = (document.get("details") or {}).get("uid", "")
        item = known.get(uid)
        if item is not None:
            yield 0, "delete", item
            yield 0, "gone", item
        return
    item = _read(document, reference)
    before = known.get(item.uid)
    known[item.uid] = item
    is_over = document["metadata"].get("deletionGracePeriodSeconds") == 0 and not item.finalizers
    is_new = before is None or before.resource_version < item.resource_version
    version = item.resource_version if is_new and not is_over else 0
    if before is None or before.deleted_at is None:
        yield version, "delete", item
    if is_over:
        yield version, "gone", item


def _read(document: Document, reference: dict[str, Any]) -> Object:
    group, version = reference.get("apiGroup", ""), reference.get("apiVersion", "v1")
    resource = ApiResource(group, version, document["kind"], reference["resource"])
    return msgspec.structs.replace(objects.read(document, resource))
