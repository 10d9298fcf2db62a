"""What is left when a story is over, without what only one world has: uids, versions, and what a server fills in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from headgate.kernel.objects import Object
from headgate.workload import defaults
from headgate.workload.plan import observed

from . import settled
from .history import History
from .stories import LEFT_ALONE

_FILLED_IN = ("Pod", "Service", "CustomResourceDefinition", "HorizontalPodAutoscaler", "ResourceClaim")
"""Kinds in which a server writes more than it was given: of these only what we wrote is compared."""

_OTHERS_STATUS = (
    "Service",
    "PodGang",
    "CustomResourceDefinition",
    "HorizontalPodAutoscaler",
    "ResourceClaim",
)
"""Kinds whose status is not the operator's: that of a gang is of a scheduler that knows gangs."""

_UID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_DERIVED = re.compile(r'applyset-[0-9A-Za-z_-]{43}-v1|(?<=headgate.dev/content":")[0-9a-f]{20}')
_DIGEST = re.compile('(?<=")(?:[0-9a-f]{16}|[0-9a-f]{20})(?=")')
"""Hashes of things in which uids and namespaces are."""


def differences(simulated: History, live: History) -> Iterator[str]:
    simulated, live = (settled.conditions_of(history) for history in (simulated, live))
    for about in sorted({*simulated.objects, *live.objects}):
        expected, found = simulated.objects.get(about), live.objects.get(about)
        if expected is None or found is None:
            world = "live" if expected is None else "simulated"
            yield f"{' '.join(about)} is left in the {world} world only"
            continue
        is_filled_in = about[0] in _FILLED_IN
        one, other = _rendered(expected, uids_of(simulated)), _rendered(found, uids_of(live))
        yield from _between(one, other, " ".join(about), is_filled_in)


def uids_of(history: History) -> dict[str, str]:
    """What each uid stands for."""
    return {write.object.uid: f"uid of {' '.join(write.about)}" for write in history.writes}


def _rendered(item: Object, uids: dict[str, str]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "labels": item.labels,
        "annotations": {key: value for key, value in item.annotations.items() if key not in LEFT_ALONE},
        "owners": sorted(f"{owner.kind} {owner.name}" for owner in item.owners),
        "finalizers": sorted(item.finalizers),
        "isGoing": item.deleted_at is not None,
        "spec": item.spec,
        **item.other,
    }
    if item.kind == "Pod":
        ready = item.status.get("ready")
        shown["isReady"] = bool(ready) if ready is not None else observed.is_ready(item.status)
        shown["spec"] = {key: value for key, value in item.spec.items() if key != "nodeName"}
    elif item.kind not in _OTHERS_STATUS:
        shown["status"] = item.status
    text = msgspec.json.encode(shown).decode()
    if item.namespace:
        text = text.replace(item.namespace, defaults.NAMESPACE)
    text = _DERIVED.sub("derived", text)
    if item.kind == "ResourceGraphRevision":
        text = _DIGEST.sub("derived", text)
    text = _UID.sub(lambda match: uids.get(match[0], match[0]), text)
    found: dict[str, Any] = msgspec.json.decode(text)
    return found


def _between(expected: Any, found: Any, path: str, is_filled_in: bool) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted({*expected, *found}):
            if is_filled_in and key not in expected:
                continue
            yield from _between(expected.get(key), found.get(key), f"{path}.{key}", is_filled_in)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _between(one, other, f"{path}[{number}]", is_filled_in)
    elif (expected or None) != (found or None):
        yield f"{path}: simulated {expected!r}, live {found!r}"
