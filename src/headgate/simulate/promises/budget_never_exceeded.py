"""Counts, on its own, the resources that are in progress under each concurrency rule.

A limit that shrinks takes nothing away, so being over the limit is no breach by itself: a resource that *becomes*
active while there is no room for it is.
"""

from collections.abc import Sequence
from typing import Any

from headgate.fleet import changes, model, records
from headgate.kernel.instants import Instant
from headgate.simulate.mirror import Mirror, matches
from headgate.simulate.promises.base import Broken, Promise

Place = tuple[str, str, str]


class Budget:
    """One resourceConcurrency rule: who it covers, and who is active under it for which reasons."""

    def __init__(self, policy: model.Policy, rule: model.Rule) -> None:
        self.policy = policy
        self.rule = rule
        self.members: set[str] = set()
        self.holders: dict[str, set[str]] = {}
        self._covered: dict[Place, bool] = {}

    @property
    def limit(self) -> int:
        spec = self.rule.spec
        if spec.limit_type == "count":
            return int(spec.limit_value)
        return -(-len(self.members) * int(spec.limit_value) // 100)

    def admits(self, mirror: Mirror, resource: str) -> bool:
        view = mirror.view("Resource", resource)
        return view is not None and matches(self.rule.spec.group_selector, {"resource": view})

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
        self._is_stale = True
        self._reasons: dict[str, set[Place]] = {}

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
            Budget(policy, rule)
            for policy in self._mirror.policies.values()
            if policy.enabled
            for rule in policy.rules
            if rule.kind == "resourceConcurrency"
        ]
        for budget in self._budgets:
            budget.members = {name for name in self._mirror.resources if budget.admits(self._mirror, name)}
            for reason, places in self._reasons.items():
                for place in places:
                    if budget.covers(self._mirror, place):
                        budget.holders.setdefault(place[2], set()).add(reason)

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

    def free(self, reason: str) -> None:
        places = self._reasons.pop(reason, None)
        if places is None or self._is_stale:
            return
        for budget in self._budgets:
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
        self._skips: list[changes.PutSkip] = []

    def changed(self, change: changes.Change, now: Instant) -> None:
        self._books.changed(change)
        if isinstance(change, changes.PutSkip):
            self._skips.append(change)

    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None:
        """A further attempt and a rollback go on with the slot that the resource has kept since the first."""
        place = (job.deployment, job.environment, job.resource)
        taken = self._books.take(job.group or job.id, place)
        if job.attempt > 1 or job.kind == "rollback":
            return
        for budget in taken:
            if self._is_skipped(budget, job, now):
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
        """A person let the resource work beyond the limit; it counts for everyone else."""
        rule = budget.rule
        return any(
            skip.rule in (rule.id, rule.name, rule.kind, str(rule.index))
            and skip.policy in (None, budget.policy.name, budget.policy.id)
            and skip.environment in (None, job.environment)
            and skip.resource in (None, job.resource)
            and (skip.expires_at is None or now < skip.expires_at)
            for skip in self._skips
        )

    def job_changed(self, job: records.Job, old_status: str, now: Instant) -> None:
        if job.group is None and job.status not in model.JOB_LIVE:
            self._books.free(job.id)

    def group_changed(self, group: records.Group, now: Instant) -> None:
        if group.status in records.GROUP_ENDED:
            self._books.free(group.id)

    def _free_released(self) -> None:
        """A slot that an operator or a timeout released is no longer held, although the group goes on."""
        for group in self.mirror.groups.values():
            if group.slot_released:
                self._books.free(group.id)
