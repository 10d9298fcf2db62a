"""Stands beside each level while it runs and tells the promises of that level what they may see.

They are told what happened, never what an engine or a planner has counted: with the same books they would share the
mistakes that they are there to find.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import msgspec

from headgate.cluster.port import ClusterPort, ObjectChange
from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model
from headgate.graph.compile import definition
from headgate.graph.reconcile import labels
from headgate.graph.reconcile.cluster_view import ClusterView
from headgate.graph.reconcile.instances import InstancePass
from headgate.graph.reconcile.rollouts import DefinitionRollout
from headgate.kernel.documents import Moment
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.promises import FLEET, GRAPH, WORKLOAD
from headgate.promises.base import (
    FleetPromise,
    GraphPromise,
    Promise,
    RunEnding,
    Unfinished,
    WorkloadPromise,
)
from headgate.promises.books.graph_writes import GraphWrites
from headgate.promises.books.mirror import Mirror
from headgate.promises.books.tally import PodTally
from headgate.promises.books.unavailability import BudgetStep
from headgate.workload.model import PodCliqueSet

MOST_VIOLATIONS = 100


class Violation(msgspec.Struct, frozen=True):
    promise: str
    at: Moment
    message: str


class Watch:
    """What the watch of every level has: its violations."""

    def __init__(self) -> None:
        self.violations: list[Violation] = []

    def _record(self, promise: str, at: Instant, message: str) -> None:
        if len(self.violations) < MOST_VIOLATIONS:
            self.violations.append(Violation(promise, at, message))


def _listeners(
    promises: Sequence[Promise], base: type[Promise], hook: str
) -> tuple[Callable[..., None], ...]:
    """Only promises that look at it are called: this runs for every job and every write."""
    return tuple(
        getattr(promise, hook)
        for promise in promises
        if getattr(type(promise), hook) is not getattr(base, hook)
    )


class FleetWatch(Watch):
    """The engine's observer. The run tells it the time, because the engine's hooks do not carry it.

    Promises keep books from the first change on: `checked` is empty where that was before the watch began.
    """

    def __init__(self, mirror: Mirror, now: Instant, checked: Sequence[type[FleetPromise]] = FLEET) -> None:
        super().__init__()
        self.now = now
        self.mirror = mirror
        self.jobs = mirror.jobs
        self.groups = mirror.groups
        self.job_changes_count = 0
        self._promises = tuple(promise(mirror, self._record) for promise in checked)
        self._change_listeners = self._listeners("changed")
        self._report_listeners = self._listeners("reported")
        self._created_listeners = self._listeners("job_created")
        self._job_listeners = self._listeners("job_changed")
        self._group_listeners = self._listeners("group_changed")
        self._decision_listeners = self._listeners("decided")

    def _listeners(self, hook: str) -> tuple[Callable[..., None], ...]:
        return _listeners(self._promises, FleetPromise, hook)

    @property
    def is_checking(self) -> bool:
        return bool(self._promises)

    def accepted(self, change: changes.Change) -> None:
        if isinstance(change, changes.JobReported):
            for listen in self._report_listeners:
                listen(change, self.now)
            return
        self.mirror.apply(change)
        for listen in self._change_listeners:
            listen(change, self.now)

    def decided(self) -> None:
        for listen in self._decision_listeners:
            listen(self.now)

    def repeated(self, job: records.Job, was_changed: bool) -> None:
        for promise in self._promises:
            promise.repeated(job, was_changed, self.now)

    def reloaded(self, before: bytes, after: bytes) -> None:
        for promise in self._promises:
            promise.reloaded(before, after, self.now)

    def compared(self, survivor: bytes, reloaded: bytes) -> None:
        for promise in self._promises:
            promise.compared(survivor, reloaded, self.now)

    def reconciled_afresh(self, differences: Sequence[str]) -> None:
        for promise in self._promises:
            promise.reconciled_afresh(differences, self.now)

    def wakes_driven(self, unanswered: Sequence[str]) -> None:
        for promise in self._promises:
            promise.wakes_driven(unanswered, self.now)

    def ended(self, ending: RunEnding) -> None:
        for promise in self._promises:
            promise.ended(ending)

    def on_job_created(self, job: records.Job, verdicts: Sequence[Any]) -> None:
        self.jobs[job.id] = job
        for listen in self._created_listeners:
            listen(job, verdicts, self.now)

    def on_job_changed(self, job: records.Job, old_status: str) -> None:
        self.job_changes_count += 1
        self.jobs[job.id] = job
        for listen in self._job_listeners:
            listen(job, old_status, self.now)

    def on_group_changed(self, group: records.Group) -> None:
        self.groups[group.id] = group
        for listen in self._group_listeners:
            listen(group, self.now)

    def on_slot_taken(self, rule: str, resource: str, holder: str) -> None: ...

    def on_slot_freed(self, rule: str, resource: str) -> None: ...

    def on_version_rejected(self, version: model.Version) -> None:
        self.mirror.rejected(version)


class GraphWatch(Watch):
    """Judged beside the planner of graphs, at every plan and every write.

    `seen` is what the planner was told; a pause is acknowledged when it knows.
    """

    def __init__(
        self, cluster: ClusterPort, signals: Callable[[Instant], Any], seen: Callable[[], ClusterView]
    ) -> None:
        super().__init__()
        self._seen = seen
        self._writes = GraphWrites()
        self._promises = tuple(
            promise(cluster, self._record, signals, self._is_paused, self._known) for promise in GRAPH
        )
        self._write_listeners = _listeners(self._promises, GraphPromise, "written")
        self._plan_listeners = _listeners(self._promises, GraphPromise, "planned")
        cluster.listen(self._changed)

    def _changed(self, change: ObjectChange) -> None:
        for write in self._writes.read(change):
            for listen in self._write_listeners:
                listen(write)

    def _known(self, key: Key) -> Object | None:
        return self._seen().get(key)

    def _is_paused(self, item: Object) -> bool:
        item_labels, view = item.labels, self._seen()
        top = view.get(Key("kro.run", definition.KIND, "", item_labels.get(labels.DEFINITION_NAME, "")))
        if top is None:
            return False
        group = top.spec["schema"].get("group") or definition.DEFAULT_GROUP
        place = (item_labels.get(labels.INSTANCE_NAMESPACE, ""), item_labels.get(labels.INSTANCE_NAME, ""))
        instance = view.get(Key(group, item_labels.get(labels.INSTANCE_KIND, ""), *place))
        return any(labels.is_paused(each.annotations) for each in (top, instance) if each is not None)

    def planned(self, instance_pass: InstancePass, now: Instant) -> None:
        for listen in self._plan_listeners:
            listen(instance_pass, now)

    def planned_rollout(self, rollout: DefinitionRollout, now: Instant) -> None:
        for promise in self._promises:
            promise.planned_rollout(rollout, now)

    def replayed(self, name: str, before: bytes, after: bytes, now: Instant) -> None:
        for promise in self._promises:
            promise.replayed(name, before, after, now)

    def wakes_driven(self, unanswered: Sequence[str], now: Instant) -> None:
        for promise in self._promises:
            promise.wakes_driven(unanswered, now)

    def ended(
        self,
        unfinished: Sequence[Unfinished],
        waiting: Sequence[InstancePass | DefinitionRollout],
        now: Instant,
        *,
        is_over: bool,
    ) -> None:
        for promise in self._promises:
            promise.ended(unfinished, now, is_over=is_over)
            for plan in waiting:
                if isinstance(plan, InstancePass):
                    promise.left_waiting(plan, now)
                else:
                    promise.left_waiting_rollout(plan, now)


class WorkloadWatch(Watch):
    """Looks at every decision about a set and at every object of it."""

    def __init__(self, cluster: ClusterPort) -> None:
        super().__init__()
        self._promises = tuple(promise(cluster, self._record) for promise in WORKLOAD)
        self._change_listeners = _listeners(self._promises, WorkloadPromise, "changed")
        cluster.listen(self._changed)

    def _changed(self, change: ObjectChange) -> None:
        for listen in self._change_listeners:
            listen(change)

    def decides_on(self, pcs: PodCliqueSet) -> None:
        for promise in self._promises:
            promise.decides_on(pcs)

    def acted(
        self, pcs: PodCliqueSet, steps: Sequence[BudgetStep], tally: PodTally, was_paused: bool, now: Instant
    ) -> None:
        for promise in self._promises:
            promise.acted(pcs, steps, tally, was_paused, now)

    def silent(self, name: str, now: Instant) -> None:
        for promise in self._promises:
            promise.silent(name, now)

    def wakes_driven(self, unanswered: Sequence[str], now: Instant) -> None:
        for promise in self._promises:
            promise.wakes_driven(unanswered, now)

    def ended(self, unfinished: Iterable[Unfinished], now: Instant, *, is_over: bool) -> None:
        for promise in self._promises:
            promise.ended(unfinished, now, is_over=is_over)

    def left_over(self, sets: Collection[PodCliqueSet], now: Instant) -> None:
        for promise in self._promises:
            promise.left_over(sets, now)
