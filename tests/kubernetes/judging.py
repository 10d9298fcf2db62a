"""What became of the pods of a set, by what the API server wrote down, and whether that was allowed.

The server writes an entry when it has answered. So the entries of two writes may stand in another order than the writes,
and a server that is killed leaves some out. Versions of objects say the order; and of a pod whose beginning or end is
nowhere, it must have been around the moment of the kill, since all others were answered. One pod may be deleted twice
with success, by the operator and by its node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from kube import CRASH, ControlPlane

_WRITES = ("create", "update", "patch", "delete")
Moment = tuple[int, int]
"""Which life of the server, and the version of the object that was written."""


class Entry(NamedTuple):
    """A write that was taken, with the object that came of it."""

    at: Moment
    verb: str
    subresource: str
    document: dict[str, Any]
    url: str
    received: str
    """When the server was asked, by its clock."""

    @property
    def name(self) -> str:
        return str(self.document["metadata"]["name"])


def entries(plane: ControlPlane, namespace: str, resource: str) -> list[Entry]:
    """Of one kind, in the order in which they took effect."""
    return sorted(_entries(plane, namespace, resource), key=lambda entry: entry.at)


def _entries(plane: ControlPlane, namespace: str, resource: str) -> Iterator[Entry]:
    life = 0
    for event in plane.audit(namespace):
        if event is CRASH:
            life += 1
            continue
        reference = event.get("objectRef") or {}
        if event.get("stage") != "ResponseComplete" or event["responseStatus"]["code"] >= 300:
            continue
        document: dict[str, Any] = event.get("responseObject") or {}
        version = document.get("metadata", {}).get("resourceVersion")
        # Who deleted an object as the second of two is answered without a version; the first has it.
        if event["verb"] not in _WRITES or reference.get("resource") != resource or not version:
            continue
        yield Entry(
            (life, int(version)),
            event["verb"],
            reference.get("subresource", ""),
            document,
            event["requestURI"],
            event["requestReceivedTimestamp"],
        )


class Sight(NamedTuple):
    """A pod as a write left it."""

    at: Moment
    uid: str
    name: str
    host: str
    verb: str
    is_ready: bool
    is_going: bool
    is_gone: bool
    labels: dict[str, str]


class PodLife:
    """From the first that was heard of a pod to the last."""

    def __init__(self, sights: list[Sight]) -> None:
        first = sights[0]
        self.name, self.host, self.labels = first.name, first.host, first.labels
        self.sights = sights
        self.began: Moment = first.at if first.verb == "create" else (first.at[0], 0)
        self.ended: Moment | None = next((each.at for each in sights if each.is_gone), None)

    @property
    def last(self) -> Sight:
        return self.sights[-1]

    @property
    def going(self) -> Moment | None:
        """When it was deleted, though it may have stayed for a while."""
        return next((each.at for each in self.sights if each.is_going or each.is_gone), self.ended)

    def stood(self, at: Moment) -> Sight | None:
        """The last that was heard of it until then."""
        return next((each for each in reversed(self.sights) if each.at <= at), None)

    def is_available(self, at: Moment) -> bool:
        if at < self.began or (self.ended is not None and at >= self.ended):
            return False
        stood = self.stood(at)
        if stood is None or stood.at[0] < at[0]:
            # Whether it became ready while the server was killed is written nowhere.
            return stood is None or not stood.is_going
        return stood.is_ready and not stood.is_going


def lives(plane: ControlPlane, namespace: str) -> list[PodLife]:
    """In the order in which they began."""
    sights: dict[str, list[Sight]] = defaultdict(list)
    for sight in _sights(plane, namespace):
        sights[sight.uid].append(sight)
    found = sorted((PodLife(_credible(each)) for each in sights.values()), key=lambda life: life.began)
    holders: dict[str, PodLife] = {}
    for life in found:
        before = holders.get(life.host)
        if before is not None and before.ended is None and before.last.at[0] < life.began[0]:
            before.ended = (before.last.at[0] + 1, 0)
        holders[life.host] = life
    return found


def _credible(sights: list[Sight]) -> list[Sight]:
    """Of two who delete a pod together, one is answered with the pod as it goes and the version of before. Nothing that
    goes comes back, so that was later."""
    stood = max((each.at for each in sights if not each.is_going), default=(0, 0))
    return sorted(
        (each for each in sights if not each.is_going or each.at > stood), key=lambda sight: sight.at
    )


def shortages(plane: ControlPlane, namespace: str, available: int) -> list[str]:
    """Available pods that were deleted though no more than so many were."""
    found = lives(plane, namespace)
    said: list[str] = []
    for life in found:
        going = life.going
        if going is None:
            continue
        before = (going[0], going[1] - 1)
        if not life.is_available(before):
            continue
        others = [other.name for other in found if other is not life and other.is_available(before)]
        if len(others) < available:
            said.append(f"{life.name} was deleted at {going} when {len(others)} others were available")
    return said


def doubled(plane: ControlPlane, namespace: str) -> list[str]:
    """Hostnames that two pods had at once."""
    holders: dict[str, PodLife] = {}
    said: list[str] = []
    for life in lives(plane, namespace):
        before = holders.get(life.host)
        if before is not None and (before.ended is None or before.ended > life.began):
            said.append(f"{before.name} and {life.name} both had the hostname {life.host}")
        holders[life.host] = life
    return said


def mixtures(plane: ControlPlane, namespace: str, unit: str, content: str) -> list[str]:
    """Pods that were made in a unit, by one label, while it had pods of another content, by the other label."""
    found = lives(plane, namespace)
    said: list[str] = []
    for life in found:
        said += [
            f"{life.name} was made in {life.labels[unit]} beside {other.name}"
            for other in found
            if other.labels[unit] == life.labels[unit]
            and other.labels[content] != life.labels[content]
            and other.began < life.began
            and (other.ended is None or other.ended > life.began)
        ]
    return said


def is_ready(document: dict[str, Any]) -> bool:
    conditions = document.get("status", {}).get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _sights(plane: ControlPlane, namespace: str) -> Iterator[Sight]:
    for entry in entries(plane, namespace, "pods"):
        document, metadata = entry.document, entry.document["metadata"]
        if document["kind"] != "Pod":
            continue
        yield Sight(
            at=entry.at,
            uid=metadata["uid"],
            name=metadata["name"],
            host=document["spec"].get("hostname", ""),
            verb=entry.verb,
            is_ready=is_ready(document),
            is_going="deletionTimestamp" in metadata,
            is_gone=entry.verb == "delete" and not metadata.get("deletionGracePeriodSeconds"),
            labels=metadata.get("labels") or {},
        )
