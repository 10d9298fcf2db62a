"""Binds pods to nodes: gangs all or nothing up to the minimum of every group, best effort above it.

A gang of which nothing is bound goes in whole. Once it runs, each of its components (a clique, or a replica of a
scaling group with all its cliques) gets back what it lacks by itself, so that an update of one component never keeps
another one out. A scaled gang waits until its base gang had its minimum once; a later loss does not close that door.

One that knows no gangs, as a cluster's own, binds each pod for itself.

Whatever makes a pod fit (it is released, a node has room, its gang is complete), the scheduler takes its time to see it.
"""

from collections.abc import Iterator, Sequence

import msgspec

from headgate.cluster.port import ObjectChange
from headgate.cluster.simulated.agenda import Agenda
from headgate.cluster.simulated.behaviors import Behaviors
from headgate.cluster.simulated.nodes import Nodes
from headgate.cluster.simulated.pods import Pods, PodSeen
from headgate.cluster.simulated.store import ObjectStore
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.workload import labels
from headgate.workload.plan.observed import ENDED

_GANG_GROUP = "scheduler.grove.io"
_GANG_KIND = "PodGang"
_LOOSE = Key("", "", "", "")
"""Stands for the gang of pods that are in none."""


class _Group(msgspec.Struct):
    """The pods of one clique in a gang that could be bound now, least index first, and how many must be."""

    name: str
    component: tuple[str, ...]
    """What is replaced as one: the replica of a scaling group that the clique is in, or the clique itself."""
    minimum: int
    bound: int
    candidates: list[PodSeen]

    @property
    def lacking(self) -> int:
        return max(0, self.minimum - self.bound)

    @property
    def is_complete(self) -> bool:
        return len(self.candidates) >= self.lacking


class Scheduler:
    def __init__(
        self,
        store: ObjectStore,
        agenda: Agenda,
        pods: Pods,
        nodes: Nodes,
        behaviors: Behaviors,
        delay: int,
        *,
        knows_gangs: bool = True,
    ) -> None:
        self._store = store
        self._agenda = agenda
        self._pods = pods
        self._nodes = nodes
        self._behaviors = behaviors
        self._delay = delay
        self._knows_gangs = knows_gangs
        self._waiting: dict[Key, dict[str, PodSeen]] = {}
        """Pods without gates that have waited their time, by gang and uid."""
        self._queued: set[str] = set()
        self._unschedulable: set[str] = set()
        self._bound: dict[tuple[Key, str], int] = {}
        self._bound_in_gang: dict[Key, int] = {}
        self._had_minimum: set[str] = set()
        """The uids of gangs whose every group had its minimum at some moment."""
        self._on_nodes: set[str] = set()
        """The uids of pods that take room."""
        self._passes: set[Instant] = set()
        self._lacking_room: dict[Key, None] = {}
        store.listen(self._changed)

    def lacking_room(self) -> set[tuple[str, str]]:
        """Namespace and name of each set that something of had no room in the last pass."""
        pods = (pod for key in self._lacking_room for pod in self._waiting.get(key, {}).values())
        return {(pod.key.namespace, pod.pcs or "") for pod in pods}

    def waiting(self) -> Iterator[PodSeen]:
        """What could be bound if there were room, or if its gang were complete."""
        for pods in self._waiting.values():
            yield from pods.values()

    def is_unschedulable(self, pod: PodSeen) -> bool:
        return pod.uid in self._unschedulable

    def requeue(self, now: Instant) -> None:
        """Something changed that may let in what waits."""
        at = now + self._delay
        if self._waiting and at not in self._passes:
            self._passes.add(at)
            self._agenda.add(at, self._pass)

    def _changed(self, change: ObjectChange) -> None:
        item = change.object
        if item.kind == "Pod":
            self._pod_changed(change)
        elif item.kind == _GANG_KIND and change.kind != "deleted":
            self.requeue(change.at)
            if change.kind == "added" and self._bound_in_gang.get(item.key):
                self._agenda.add(change.at + self._delay, lambda now: self._note_minimum(item.key, item, now))

    def _pod_changed(self, change: ObjectChange) -> None:
        item = change.object
        node = item.spec.get("nodeName")
        was_over = change.old is not None and _is_over(change.old)
        if node and (change.kind == "deleted" or _has_ended(item)) and item.uid in self._on_nodes:
            self._on_nodes.discard(item.uid)
            self._nodes.release(node)
            self.requeue(change.at)
        if change.kind == "deleted":
            if not was_over:
                self._left(item)
            self._unschedulable.discard(item.uid)
        elif _is_over(item):
            if change.old is not None and not was_over:
                self._left(item)
        elif not node and not item.spec.get("schedulingGates") and item.uid not in self._queued:
            self._queued.add(item.uid)
            self._agenda.add(change.at + self._delay, lambda now: self._enter(item, now))

    def _gang_of(self, item: Object) -> Key:
        name = item.labels.get(labels.POD_GANG) if self._knows_gangs else None
        return Key(_GANG_GROUP, _GANG_KIND, item.namespace, name) if name else _LOOSE

    def _left(self, item: Object) -> None:
        """A pod that terminates is bound no more in the eyes of its gang, though it takes its room until it has ended."""
        gang = self._gang_of(item)
        self._queued.discard(item.uid)
        waiting = self._waiting.get(gang)
        if waiting is not None and waiting.pop(item.uid, None) is not None and not waiting:
            del self._waiting[gang]
        if item.spec.get("nodeName"):
            self._bound[gang, item.labels.get(labels.POD_CLIQUE, "")] -= 1
            self._bound_in_gang[gang] -= 1

    def _enter(self, seen: Object, now: Instant) -> None:
        pod = self._pods.live.get(seen.uid)
        if pod is None or pod.deleted_at is not None or pod.scheduled_at is not None:
            return
        if self._behaviors.of_pod(pod).unschedulable:
            self._unschedulable.add(pod.uid)
        self._waiting.setdefault(self._gang_of(seen), {})[pod.uid] = pod
        if now not in self._passes:
            self._passes.add(now)
            self._agenda.add(now, self._pass)

    def _pass(self, now: Instant) -> None:
        """Over everything that waits: first the minimum of each gang, then what is above."""
        self._passes.discard(now)
        self._lacking_room = {}
        gangs = [(key, self._store.get(key)) for key in self._waiting]
        ordered = sorted(gangs, key=lambda item: self._order(*item))
        for key, gang in ordered:
            self._bind_minimum(key, gang, now)
        for key, gang in ordered:
            self._bind_best_effort(key, gang, now)

    def _order(self, key: Key, gang: Object | None) -> tuple[bool, Instant, int, str]:
        first = next(iter(self._waiting[key].values()))
        created = gang.created_at if gang is not None else first.created_at
        return first.base_gang is not None, created, first.pcs_replica or 0, key.name

    def _bind_minimum(self, key: Key, gang: Object | None, now: Instant) -> None:
        if gang is None or not self._may_enter(key):
            return
        groups = self._groups(key, gang)
        units = self._units(groups) if self._bound_in_gang.get(key) else [groups]
        was_any = False
        for unit in units:
            wanted = sum(group.lacking for group in unit)
            if not wanted or not all(group.is_complete for group in unit):
                continue
            if wanted > self._nodes.room:
                self._lacking_room[key] = None
            else:
                for group in unit:
                    for pod in group.candidates[: group.lacking]:
                        self._bind(key, pod, now)
                was_any = True
        if was_any:
            self._note_minimum(key, gang, now)

    def _bind_best_effort(self, key: Key, gang: Object | None, now: Instant) -> None:
        if key == _LOOSE:
            candidates = [
                pod for pod in self._waiting.get(key, {}).values() if not self.is_unschedulable(pod)
            ]
        elif gang is None or not self._bound_in_gang.get(key) or not self._may_enter(key):
            return
        else:
            groups = self._groups(key, gang)
            satisfied = [
                group
                for unit in self._units(groups)
                if not any(group.lacking for group in unit)
                for group in unit
            ]
            candidates = [pod for group in satisfied for pod in group.candidates]
        chosen = candidates[: self._nodes.room]
        if len(chosen) < len(candidates):
            self._lacking_room[key] = None
        for pod in chosen:
            self._bind(key, pod, now)

    def _may_enter(self, key: Key) -> bool:
        pods = self._waiting.get(key)
        if not pods:
            return False
        base = next(iter(pods.values())).base_gang
        if base is None:
            return True
        base_gang = self._store.get(Key(_GANG_GROUP, _GANG_KIND, key.namespace, base))
        return base_gang is not None and base_gang.uid in self._had_minimum

    def _groups(self, key: Key, gang: Object) -> list[_Group]:
        by_clique: dict[str, list[PodSeen]] = {}
        for pod in self._waiting.get(key, {}).values():
            if not self.is_unschedulable(pod):
                by_clique.setdefault(pod.clique_object, []).append(pod)
        return [
            _Group(
                name,
                self._component(key.namespace, name),
                int(group.get("minReplicas", 0)),
                self._bound.get((key, name), 0),
                sorted(by_clique.get(name, ()), key=lambda pod: (pod.index or 0, pod.created_at, pod.name)),
            )
            for group in gang.spec.get("podgroups") or ()
            for name in (str(group.get("name", "")),)
        ]

    def _component(self, namespace: str, clique: str) -> tuple[str, ...]:
        item = self._store.get(Key("grove.io", "PodClique", namespace, clique))
        group = item.labels.get(labels.SCALING_GROUP) if item is not None else None
        if item is None or group is None:
            return (clique,)
        return group, item.labels.get(labels.SCALING_GROUP_REPLICA_INDEX, "")

    def _units(self, groups: Sequence[_Group]) -> list[list[_Group]]:
        units: dict[tuple[str, ...], list[_Group]] = {}
        for group in groups:
            units.setdefault(group.component, []).append(group)
        return list(units.values())

    def _bind(self, key: Key, pod: PodSeen, now: Instant) -> None:
        waiting = self._waiting[key]
        del waiting[pod.uid]
        if not waiting:
            del self._waiting[key]
        self._bound[key, pod.clique_object] = self._bound.get((key, pod.clique_object), 0) + 1
        self._bound_in_gang[key] = self._bound_in_gang.get(key, 0) + 1
        self._on_nodes.add(pod.uid)
        status = {"phase": "Pending", "scheduled": True, "ready": False, "scheduledAt": instants.show(now)}
        self._store.bind(pod.key, pod.uid, self._nodes.take(), status, now)

    def _note_minimum(self, key: Key, gang: Object, now: Instant) -> None:
        if gang.uid in self._had_minimum:
            return
        if any(
            self._bound.get((key, str(group.get("name", ""))), 0) < int(group.get("minReplicas", 0))
            for group in gang.spec.get("podgroups") or ()
        ):
            return
        self._had_minimum.add(gang.uid)
        current = self._store.get(key)
        if current is not None and current.uid == gang.uid:
            others = [
                item for item in current.status.get("conditions", ()) if item.get("type") != "Scheduled"
            ]
            condition = {
                "type": "Scheduled",
                "status": "True",
                "reason": "MinimumBound",
                "message": "every group had its minimum bound",
                "lastTransitionTime": instants.show(now),
            }
            status = {**current.status, "conditions": [*others, condition]}
            self._store.update_status(key, gang.uid, status, now, "scheduler")
        self.requeue(now)


def _has_ended(item: Object) -> bool:
    return item.status.get("phase") in ENDED


def _is_over(item: Object) -> bool:
    return item.deleted_at is not None or _has_ended(item)
