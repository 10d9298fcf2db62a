"""Runs bound pods: waits for the cliques they start after, starts them, lets them crash, ends those that are deleted and
those that it cannot keep."""

import msgspec

from headgate.cluster.port import ObjectChange
from headgate.cluster.simulated.agenda import Agenda, Timer
from headgate.cluster.simulated.behaviors import Behaviors
from headgate.cluster.simulated.pods import Pods, PodSeen
from headgate.cluster.simulated.settings import Behavior
from headgate.cluster.simulated.store import ObjectStore
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.workload.plan.observed import ENDED

RESTARTS_THAT_TEACH = 3
"""After so many restarts a pod that crashes shows nothing new any more."""


class _Running(msgspec.Struct):
    behavior: Behavior
    timer: Timer | None = None
    restarts: int = 0
    waits_for: tuple[str, ...] = ()


class Kubelet:
    def __init__(
        self,
        store: ObjectStore,
        agenda: Agenda,
        pods: Pods,
        behaviors: Behaviors,
        start: int,
        terminate: int,
        *,
        orders_startup: bool = True,
    ) -> None:
        """`orders_startup`: pods wait on their nodes for what they start after, as gangs that are bound whole have to."""
        self._store = store
        self._agenda = agenda
        self._pods = pods
        self._behaviors = behaviors
        self._start = start
        self._terminate = terminate
        self._orders_startup = orders_startup
        self._running: dict[str, _Running] = {}
        self._ready_counts: dict[tuple[str, str], int] = {}
        self._endings: dict[tuple[str, str, int | None], int] = {}
        """How many pods were ended so far, by namespace, clique and index."""
        self._held_back: dict[tuple[str, str], dict[str, PodSeen]] = {}
        """Pods that wait for a clique, by namespace and name of that clique."""
        store.listen(self._changed)

    def behavior_of(self, pod: PodSeen) -> Behavior:
        running = self._running.get(pod.uid)
        return running.behavior if running is not None else self._behaviors.of_pod(pod)

    def _changed(self, change: ObjectChange) -> None:
        item = change.object
        if item.kind != "Pod":
            return
        if change.kind == "deleted":
            self._stop(item.uid)
            return
        pod = self._pods[item.uid]
        self._count(pod, _is_ready(item) - _is_ready(change.old), change.at)
        if item.deleted_at is not None:
            if change.old is not None and change.old.deleted_at is None:
                self._terminate_pod(pod, change.at)
        elif item.status.get("phase") in ENDED:
            self._stop(item.uid)
        elif item.spec.get("nodeName") and item.uid not in self._running:
            self._begin(pod, change.at)

    def _begin(self, pod: PodSeen, now: Instant) -> None:
        running = self._running[pod.uid] = _Running(self._behaviors.of_pod(pod))
        clique = self._store.get(_clique_key(pod.key.namespace, pod.clique_object))
        if self._orders_startup and clique is not None:
            running.waits_for = tuple(clique.spec.get("startsAfter") or ())
        for name in running.waits_for:
            self._held_back.setdefault((pod.key.namespace, name), {})[pod.uid] = pod
        if not self._is_to_end(pod, running, "bound", now):
            self._start_if_allowed(pod, running, now)

    def _is_to_end(self, pod: PodSeen, running: _Running, since: str, now: Instant) -> bool:
        """Only so many pods of one place come to this end, so that a run has one."""
        ends = running.behavior.ends
        place = (pod.key.namespace, pod.clique_object, pod.index)
        if ends is None or ends.since != since or self._endings.get(place, 0) >= ends.times:
            return False
        self._endings[place] = self._endings.get(place, 0) + 1
        phase, reason = ends.phase, ends.reason
        self._agenda.cancel(running.timer)
        running.timer = self._agenda.add(
            now + ends.after.microseconds, lambda moment: self.end(pod, phase, reason, moment)
        )
        return True

    def end(self, pod: PodSeen, phase: str, reason: str, now: Instant) -> None:
        """Nothing of it runs any more; the object stays until somebody deletes it."""
        self._write(pod, {"phase": phase, "reason": reason, "ready": False}, now)

    def _start_if_allowed(self, pod: PodSeen, running: _Running, now: Instant) -> None:
        if any(not self._is_up(pod.key.namespace, name) for name in running.waits_for):
            return
        for name in running.waits_for:
            self._held_back[pod.key.namespace, name].pop(pod.uid, None)
        running.waits_for = ()
        self._start_timer(pod, running, now)

    def _is_up(self, namespace: str, clique: str) -> bool:
        item = self._store.get(_clique_key(namespace, clique))
        if item is None or item.deleted_at is not None:
            return False
        return self._ready_counts.get((namespace, clique), 0) >= int(item.spec.get("minAvailable", 1))

    def _start_timer(self, pod: PodSeen, running: _Running, now: Instant) -> None:
        if running.behavior.never == "ready":
            return
        takes = self._start if running.behavior.start is None else running.behavior.start.microseconds
        running.timer = self._agenda.add(
            now + takes,
            lambda moment: self._become_ready(pod, running, moment),
            is_repeating=running.restarts >= RESTARTS_THAT_TEACH,
        )

    def _become_ready(self, pod: PodSeen, running: _Running, now: Instant) -> None:
        self._write(pod, {"phase": "Running", "ready": True, "readyAt": instants.show(now)}, now)
        if self._is_to_end(pod, running, "ready", now):
            return
        if running.behavior.crash_after is not None:
            running.timer = self._agenda.add(
                now + running.behavior.crash_after.microseconds,
                lambda moment: self._crash(pod, running, moment),
                is_repeating=running.restarts >= RESTARTS_THAT_TEACH,
            )

    def _crash(self, pod: PodSeen, running: _Running, now: Instant) -> None:
        running.restarts += 1
        self._write(pod, {"phase": "Running", "ready": False, "restarts": running.restarts}, now)
        self._start_timer(pod, running, now)

    def _write(self, pod: PodSeen, changed: dict[str, object], now: Instant) -> None:
        item = self._store.get(pod.key)
        if item is not None and item.uid == pod.uid:
            status = {**item.status, **changed}
            if not changed["ready"]:
                status.pop("readyAt", None)
            self._store.update_status(pod.key, pod.uid, status, now, "kubelet")

    def _count(self, pod: PodSeen, difference: int, now: Instant) -> None:
        if not difference:
            return
        place = (pod.key.namespace, pod.clique_object)
        self._ready_counts[place] = self._ready_counts.get(place, 0) + difference
        if difference > 0:
            for other in list(self._held_back.get(place, {}).values()):
                self._start_if_allowed(other, self._running[other.uid], now)

    def _terminate_pod(self, pod: PodSeen, now: Instant) -> None:
        is_stranded = self.behavior_of(pod).never == "gone"
        self._stop(pod.uid)
        if not is_stranded:
            self._agenda.add(now + self._terminate, lambda moment: self._remove(pod, moment))

    def _remove(self, pod: PodSeen, now: Instant) -> None:
        item = self._store.get(pod.key)
        if item is not None and item.uid == pod.uid:
            self._store.remove(pod.key, pod.uid, now, "kubelet")

    def _stop(self, uid: str) -> None:
        running = self._running.pop(uid, None)
        if running is None:
            return
        self._agenda.cancel(running.timer)
        for held in self._held_back.values() if running.waits_for else ():
            held.pop(uid, None)


def _is_ready(item: Object | None) -> bool:
    return (
        item is not None
        and item.deleted_at is None
        and item.status.get("ready") is True
        and item.status.get("phase") not in ENDED
    )


def _clique_key(namespace: str, name: str) -> Key:
    return Key("grove.io", "PodClique", namespace, name)
