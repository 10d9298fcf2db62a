"""Counts, on its own, who is in progress or unavailable under each budget.

In the fleet those are the resources in progress under a concurrency rule, in a workload the units that are missing or
added by our doing.

A limit that shrinks takes nothing away, so being over the limit is no breach by itself: a resource that *becomes*
active while there is no room for it is.
"""

from collections.abc import Sequence
from typing import Any

from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model
from headgate.kernel.instants import Instant
from headgate.promises.base import STILL_TO_RUN, Broken, FleetPromise, Promise, WorkloadPromise
from headgate.promises.books.concurrency import Budget, Budgets
from headgate.promises.books.mirror import Mirror, TargetKey
from headgate.promises.books.skips import Skips
from headgate.promises.books.tally import PodTally
from headgate.promises.books.unavailability import BudgetStep
from headgate.workload.model import PodCliqueSet


class BudgetNeverExceeded(Promise):
    name = "BudgetNeverExceeded"
    sentence = "units in progress by our doing never exceed any budget that covers them"


class FleetBudgetNeverExceeded(BudgetNeverExceeded, FleetPromise):
    def __init__(self, mirror: Mirror, broken: Broken) -> None:
        super().__init__(mirror, broken)
        self._books = Budgets(mirror)
        self._skips = Skips(mirror)
        self._ended: set[str] = set()
        """Jobs that have ended and may still be verified."""
        self._newest: dict[TargetKey, str] = {}

    def changed(self, change: changes.Change, now: Instant) -> None:
        self._books.changed(change)
        self._skips.changed(change)

    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None:
        """A further attempt goes on with the slot that the resource has kept since the first."""
        self._free_verified()
        target = TargetKey.of_job(job)
        before = self.mirror.jobs.get(self._newest.get(target, ""))
        self._newest[target] = job.id
        taken = self._books.take(job.group or job.id, target)
        if before is not None and before.id in self._ended:
            self._ended.discard(before.id)
            self._books.free(before.id)
        if job.attempt > 1:
            return
        for budget in taken:
            if self._is_skipped(budget, job, now) or self._has_kept_its_slot(budget, job, before):
                continue
            if len(budget.holders) > budget.limit:
                self._free_released()
            if len(budget.holders) > budget.limit:
                active = ", ".join(sorted(budget.holders)[:10])
                self.broken(
                    now,
                    f"{job.target} started as number {len(budget.holders)} of {budget.limit} allowed by "
                    f"{budget.policy.name}, {budget.rule.label} (active: {active})",
                )

    def _is_skipped(self, budget: Budget, job: records.Job, now: Instant) -> bool:
        """A person let the resource work beyond the limit, with everything that is to run; it counts for everyone else."""
        if not self._skips:
            return False
        group = self.mirror.groups.get(job.group) if job.group is not None else None
        versions = {(job.deployment, job.tag)}
        for member in group.members if group is not None else ():
            if member.version is not None and member.state in STILL_TO_RUN:
                versions.add((member.deployment, self.mirror.tag_of(member.deployment, member.version)))
        return all(
            self._skips.let_pass(budget.rule, version, job.environment, job.resource, now)
            for version in versions
        )

    def _has_kept_its_slot(self, budget: Budget, job: records.Job, before: records.Job | None) -> bool:
        """A rollback that a rule fired goes on with the slot of what it undoes, but where that was let go before."""
        if job.kind != "rollback" or before is None or before.group != job.group:
            return False
        if before.status == "successful":
            return before.verification == "failed" and budget.holds_through_verification
        return True

    def job_changed(self, job: records.Job, old_status: str, now: Instant) -> None:
        if job.group is None and job.status not in model.JOB_LIVE:
            self._ended.add(job.id)

    def decided(self, now: Instant) -> None:
        self._free_verified()

    def _free_verified(self) -> None:
        for job_id in list(self._ended):
            if self.mirror.jobs[job_id].verification == "running":
                self._books.verifying(job_id)
            else:
                self._ended.discard(job_id)
                self._books.free(job_id)

    def group_changed(self, group: records.Group, now: Instant) -> None:
        if group.status in records.GROUP_ENDED:
            self._books.free(group.id)

    def _free_released(self) -> None:
        """A slot that an operator or a timeout released is no longer held, although the group goes on."""
        for group in self.mirror.groups.values():
            if group.slot_released:
                self._books.free(group.id)


class WorkloadBudgetNeverExceeded(BudgetNeverExceeded, WorkloadPromise):
    sentence = "units unavailable or added by our doing never exceed any budget that covers them"

    def acted(
        self, pcs: PodCliqueSet, steps: Sequence[BudgetStep], tally: PodTally, was_paused: bool, now: Instant
    ) -> None:
        for step in steps:
            limits, scope = step.limits, step.scope
            if step.took and step.unavailable > limits.max_unavailable:
                self.broken(
                    now,
                    f"{step.unavailable} of {limits.replicas} units of {scope.name} are unavailable after a"
                    f" deletion, allowed are {limits.max_unavailable}",
                )
            if step.added and step.surge > limits.max_surge:
                self.broken(
                    now,
                    f"{scope.name} has {step.after.units} units for {limits.replicas} replicas,"
                    f" allowed above them are {limits.max_surge}",
                )
