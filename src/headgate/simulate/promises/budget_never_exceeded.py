"""Counts, on its own, the resources that are in progress under each concurrency rule.

A limit that shrinks takes nothing away, so being over the limit is no breach by itself: a resource that *becomes*
active while there is no room for it is.
"""

from collections.abc import Sequence
from typing import Any

from headgate.fleet import changes, expressions, model, records
from headgate.kernel.instants import Instant
from headgate.simulate.mirror import Mirror, matches
from headgate.simulate.promises.base import STILL_TO_RUN, Broken, Promise
from headgate.simulate.promises.skips import Skips

Place = tuple[str, str, str]


class Budget:
    """One group of a resourceConcurrency rule: who it covers, and who is active under it for which reasons."""

    def __init__(self, policy: model.Policy, rule: model.Rule, value: str | None) -> None:
        self.policy = policy
        self.rule = rule
        self.value = value
        """What `groupBy` gives for its resources; None without one."""
        self.members: set[str] = set()
        self.holders: dict[str, set[str]] = {}
        self._covered: dict[Place, bool] = {}

    @property
    def limit(self) -> int:
        spec = self.rule.spec
        if spec.limit_type == "count":
            return int(spec.limit_value)
        return -(-len(self.members) * int(spec.limit_value) // 100)

    @property
    def scope(self) -> str:
        if self.value is None:
            return str(self.rule.spec.group_selector)
        return self.value or "(no value)"

    @property
    def holds_through_verification(self) -> bool:
        return bool(self.rule.spec.hold_through_verification)

    def covers(self, mirror: Mirror, place: Place) -> bool:
        if place[2] not in self.members:
            return False
        covered = self._covered.get(place)
        if covered is None:
            covered = self._covered[place] = matches(self.policy.selector, mirror.bindings(*place))
        return covered


class Budgets:
    """The books: every rule, and every reason for which a resource is in progress (a job, or a started group)."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._budgets: list[Budget] = []
        self._by_resource: dict[tuple[str, str], Budget] = {}
        self._is_stale = True
        self._reasons: dict[str, set[Place]] = {}
        self._verified: set[str] = set()
        """Reasons that are kept only by budgets that hold through verification."""

    def changed(self, change: changes.Change) -> None:
        match change:
            case changes.Put(object=model.Policy() | model.Deployment() | model.Environment()):
                self._is_stale = True
            case changes.Put(object=model.Resource()) | changes.SetVariable():
                self._is_stale = True
            case changes.Delete(kind="Policy" | "Deployment" | "Environment" | "Resource"):
                self._is_stale = True
            case _:
                pass

    def current(self) -> list[Budget]:
        if self._is_stale:
            self._rebuild()
        return self._budgets

    def _rebuild(self) -> None:
        self._is_stale = False
        self._budgets = [
            budget
            for policy in self._mirror.policies.values()
            if policy.enabled
            for rule in policy.rules
            if rule.kind == "resourceConcurrency"
            for budget in self._groups_of(policy, rule)
        ]
        self._by_resource = {(b.rule.id, name): b for b in self._budgets for name in b.members}
        for budget in self._budgets:
            for reason, places in self._reasons.items():
                if reason in self._verified and not budget.holds_through_verification:
                    continue
                for place in places:
                    if budget.covers(self._mirror, place):
                        budget.holders.setdefault(place[2], set()).add(reason)

    def _groups_of(self, policy: model.Policy, rule: model.Rule) -> list[Budget]:
        group_by = rule.spec.group_by
        groups: dict[str | None, Budget] = {}
        if group_by is None:
            groups[None] = Budget(policy, rule, None)
        for name in self._mirror.resources:
            view = self._mirror.view("Resource", name)
            if view is None or not matches(rule.spec.group_selector, {"resource": view}):
                continue
            value = expressions.group_value(group_by, view) if group_by is not None else None
            groups.setdefault(value, Budget(policy, rule, value)).members.add(name)
        return [groups[value] for value in sorted(groups, key=str)]

    def of(self, rule: str, resource: str) -> Budget | None:
        """The group of the rule that the resource is in."""
        self.current()
        return self._by_resource.get((rule, resource))

    def take(self, reason: str, place: Place) -> list[Budget]:
        """The budgets in which this made the resource active."""
        budgets = self.current()
        self._reasons.setdefault(reason, set()).add(place)
        taken = []
        for budget in budgets:
            if budget.covers(self._mirror, place):
                reasons = budget.holders.setdefault(place[2], set())
                if not reasons:
                    taken.append(budget)
                reasons.add(reason)
        return taken

    def verifying(self, reason: str) -> None:
        """The work is done, what it did is being verified."""
        if reason in self._verified:
            return
        self._verified.add(reason)
        self._leave(reason, [b for b in self.current() if not b.holds_through_verification])

    def free(self, reason: str) -> None:
        self._verified.discard(reason)
        if not self._is_stale:
            self._leave(reason, self._budgets)
        self._reasons.pop(reason, None)

    def _leave(self, reason: str, budgets: list[Budget]) -> None:
        places = self._reasons.get(reason, set())
        for budget in budgets:
            for place in places:
                reasons = budget.holders.get(place[2])
                if reasons is not None:
                    reasons.discard(reason)
                    if not reasons:
                        del budget.holders[place[2]]


class BudgetNeverExceeded(Promise):
    name = "BudgetNeverExceeded"
    sentence = "units in progress by our doing never exceed any budget that covers them"

    def __init__(self, mirror: Mirror, broken: Broken) -> None:
        super().__init__(mirror, broken)
        self._books = Budgets(mirror)
        self._skips = Skips(mirror)
        self._ended: set[str] = set()
        """Jobs that have ended and may still be verified."""
        self._newest: dict[Place, str] = {}

    def changed(self, change: changes.Change, now: Instant) -> None:
        self._books.changed(change)
        self._skips.changed(change)

    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None:
        """A further attempt goes on with the slot that the resource has kept since the first."""
        self._free_verified()
        place = (job.deployment, job.environment, job.resource)
        before = self.mirror.jobs.get(self._newest.get(place, ""))
        self._newest[place] = job.id
        taken = self._books.take(job.group or job.id, place)
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
