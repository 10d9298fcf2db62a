"""Every pod that ever was, with its place in its set and the moments of its life."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from headgate.cluster.port import ObjectChange
from headgate.cluster.simulated import claims
from headgate.cluster.simulated.store import ObjectStore
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.workload import labels

RevisionNumbers = Callable[[str, str, str], int | None]
"""Takes namespace, set and revision hash."""


class PodSeen(msgspec.Struct, eq=False):
    """One incarnation. `clique_object` and `group_object` are names of objects, `clique` and `pcsg` of the template."""

    key: Key
    uid: str
    name: str
    pcs: str | None
    pcs_replica: int | None
    pcsg: str | None
    pcsg_replica: int | None
    clique: str | None
    index: int | None
    revision: int | None
    gang: str | None
    base_gang: str | None
    clique_object: str
    group_object: str
    hostname: str
    template_hash: str
    created_at: Instant
    claims: tuple[str, ...] = ()
    """The ResourceClaims that it names."""
    scheduled_at: Instant | None = None
    ready_at: Instant | None = None
    """When it was ready for the first time."""
    deleted_at: Instant | None = None
    gone_at: Instant | None = None
    is_ready: bool = False
    is_surge: bool = False
    """Created above the replicas wanted at that moment, of its clique, its group or its set."""
    ready_spans: list[list[Instant]] = []
    """[from, to] of each time it was ready; the last one may be open and then has no `to`."""

    @property
    def is_available(self) -> bool:
        return self.is_ready and self.deleted_at is None

    def document(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "pcs": self.pcs,
            "pcsReplica": self.pcs_replica,
            "pcsg": self.pcsg,
            "pcsgReplica": self.pcsg_replica,
            "clique": self.clique,
            "index": self.index,
            "revision": self.revision,
            "gang": self.gang,
            "claims": list(self.claims),
            "createdAt": instants.show(self.created_at),
            "scheduledAt": _rendered(self.scheduled_at),
            "readyAt": _rendered(self.ready_at),
            "deletedAt": _rendered(self.deleted_at),
            "goneAt": _rendered(self.gone_at),
        }


class Pods:
    """Listens first, so that everybody who is told of a pod finds it here."""

    def __init__(self, store: ObjectStore, revision_number: RevisionNumbers) -> None:
        self._revision_number = revision_number
        self.every: list[PodSeen] = []
        self.live: dict[str, PodSeen] = {}
        """By uid; terminating ones included."""
        store.listen(self._changed)

    def __iter__(self) -> Iterator[PodSeen]:
        return iter(self.live.values())

    def __getitem__(self, uid: str) -> PodSeen:
        return self.live[uid]

    def _changed(self, change: ObjectChange) -> None:
        item = change.object
        if item.kind != "Pod":
            return
        if change.kind == "added":
            pod = read(item, self._revision_number)
            self.every.append(pod)
            self.live[item.uid] = pod
            return
        pod = self.live[item.uid]
        if change.kind == "deleted":
            pod.gone_at = change.at
            if pod.deleted_at is None:
                pod.deleted_at = change.at
            del self.live[item.uid]
        elif item.deleted_at is not None:
            pod.deleted_at = item.deleted_at
        else:
            self._note_status(pod, item.status, change.at)
        if pod.deleted_at is not None and pod.ready_spans and len(pod.ready_spans[-1]) == 1:
            pod.ready_spans[-1].append(pod.deleted_at)

    def _note_status(self, pod: PodSeen, status: dict[str, Any], now: Instant) -> None:
        if status.get("scheduled") and pod.scheduled_at is None:
            pod.scheduled_at = now
        is_ready = bool(status.get("ready"))
        if is_ready and not pod.is_ready:
            if pod.ready_at is None:
                pod.ready_at = now
            pod.ready_spans.append([now])
        elif pod.is_ready and not is_ready:
            pod.ready_spans[-1].append(now)
        pod.is_ready = is_ready


def read(item: Object, revision_number: RevisionNumbers) -> PodSeen:
    own = item.labels
    pcs = own.get(labels.PART_OF)
    pcs_replica = _number(own.get(labels.PCS_REPLICA_INDEX))
    group_object = own.get(labels.SCALING_GROUP, "")
    group_replica = _number(own.get(labels.SCALING_GROUP_REPLICA_INDEX))
    clique_object = own.get(labels.POD_CLIQUE, "")
    before_clique = f"{group_object}-{group_replica}-" if group_object else f"{pcs}-{pcs_replica}-"
    revision_hash = own.get(labels.REVISION)
    return PodSeen(
        key=item.key,
        uid=item.uid,
        name=item.name,
        pcs=pcs,
        pcs_replica=pcs_replica,
        pcsg=group_object.removeprefix(f"{pcs}-{pcs_replica}-") or None,
        pcsg_replica=group_replica,
        clique=clique_object.removeprefix(before_clique) or None,
        index=_number(own.get(labels.POD_INDEX)),
        revision=revision_number(item.namespace, pcs, revision_hash) if pcs and revision_hash else None,
        gang=own.get(labels.POD_GANG),
        base_gang=own.get(labels.BASE_POD_GANG),
        clique_object=clique_object,
        group_object=group_object,
        hostname=str(item.spec.get("hostname", "")),
        template_hash=own.get(labels.POD_TEMPLATE_HASH, ""),
        created_at=item.created_at,
        claims=tuple(claims.named_by(item.spec)),
        ready_spans=[],
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _rendered(instant: Instant | None) -> str | None:
    return None if instant is None else instants.show(instant)
