"""Nobody starts once a stop is acknowledged: a freeze or a paused version, a paused graph, a paused set."""

from collections.abc import Sequence
from typing import Any

from headgate.fleet.model import records
from headgate.graph.reconcile import labels
from headgate.graph.reconcile.rollouts import DefinitionRollout
from headgate.kernel.instants import Instant
from headgate.promises.base import FleetPromise, GraphPromise, Promise, WorkloadPromise
from headgate.promises.books.graph_writes import GraphWrite
from headgate.promises.books.tally import PodTally
from headgate.promises.books.unavailability import BudgetStep
from headgate.workload.model import PodCliqueSet


class StopIsAbsolute(Promise):
    name = "StopIsAbsolute"
    sentence = "after a freeze or pause is acknowledged, no new unit starts"


class FleetStopIsAbsolute(StopIsAbsolute, FleetPromise):
    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None:
        for freeze in self.mirror.freezes_over(job.deployment, job.environment, job.resource, now):
            self.broken(now, f"{job.target} {job.tag} started under the freeze {freeze.name}")
        version = self.mirror.version(job.deployment, job.tag)
        is_paused = version is not None and version.status == "paused"
        if is_paused and job.kind in ("deploy", "hook"):
            self.broken(now, f"{job.target} started the paused version {job.tag}")


class GraphStopIsAbsolute(StopIsAbsolute, GraphPromise):
    def written(self, write: GraphWrite) -> None:
        if write.starts and self.is_paused(write.object):
            item = write.object
            self.broken(write.at, f"{item.kind} {item.name} starts towards revision {write.revision}")

    def planned_rollout(self, rollout: DefinitionRollout, now: Instant) -> None:
        for member in rollout.members:
            annotations = member.instance.annotations
            is_moved = member.is_granted_now and member.number_before
            if is_moved and (rollout.is_paused or labels.is_paused(annotations)):
                self.broken(now, f"{member.instance.name} gets graph revision {rollout.number}")


class WorkloadStopIsAbsolute(StopIsAbsolute, WorkloadPromise):
    def acted(
        self, pcs: PodCliqueSet, steps: Sequence[BudgetStep], tally: PodTally, was_paused: bool, now: Instant
    ) -> None:
        for step in steps if was_paused else ():
            if step.took and step.after.available < step.limits.replicas:
                self.broken(now, f"{pcs.name} is paused and {step.scope.name} loses a unit")
